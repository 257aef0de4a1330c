// The core over real gRPC and real files against the simulated runtime, which notes what a client
// does wrong: static pods of several kinds, on both loops, led by events and by lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/cri_sim/host.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/status/seen_pod.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/core/core_on_cri.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::tests {
namespace {

using sync::ContainerState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

constexpr const char* kServer = R"({"containers":[{"name":"c","image":"app:1"}]})";
constexpr const char* kInit = R"({"initContainers":[
    {"name":"first","image":"app:1","command":["sleep 0; exit 0"]},
    {"name":"side","image":"app:1","restartPolicy":"Always"}],
  "containers":[{"name":"c","image":"app:1"},{"name":"d","image":"app:1"}]})";
constexpr const char* kHooked = R"({"containers":[{"name":"c","image":"app:1","lifecycle":{
    "postStart":{"exec":{"command":["true"]}},"preStop":{"sleep":{"seconds":0}}}}]})";
constexpr const char* kJob = R"({"restartPolicy":"OnFailure","containers":[
    {"name":"c","image":"app:1","command":["exit 0"]}]})";

class CoreCriSimTest : public reactor::ShardTest {
 protected:
  CoreCriSimTest() {
    std::string folder = "/tmp/denselet-core-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    cri_sim::HostOptions options;
    options.socket = folder_ + "/s";
    options.identity.image_folder = folder_;
    options.print_violations = false;
    options.settings.images_present = true;
    options.settings.random_order = true;
    auto started = cri_sim::Host::Start(std::move(options));
    EXPECT_TRUE(started) << started.error().message();
    host_ = *std::move(started);
    auto made = cri::Connection::Make({.runtime_endpoint = "unix://" + folder_ + "/s"}, clock_);
    EXPECT_TRUE(made) << made.error().message();
    connection_ = *std::move(made);
  }
  ~CoreCriSimTest() override {
    Kill();
    EXPECT_THAT(host_->Run(R"({"do":"violations"})"), HasSubstr("\"total\":0"));
    host_.reset();
    EXPECT_TRUE(RunUntil([&] {
      return connection_->runtime().calls_held() == 0 && connection_->images().calls_held() == 0;
    }));
    connection_.reset();
    bool files_stopped = false;
    files_.Stop([&] { files_stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return files_stopped; }));
    pool_.Stop();
    std::filesystem::remove_all(folder_);
  }

  void StartAgent(bool use_events = true) {
    CoreOnCri::Options options;
    options.folder = folder_;
    options.core.pleg.use_events = use_events;
    options.core.pleg.relist_period = Milliseconds(100);
    options.core.sources = {sync::SourceKind::kFile};
    agent_ = std::make_unique<CoreOnCri>(shard_, files_, *connection_, random_, Logger(output_),
                                         options);
  }
  // As if it died between two turns.
  void Kill() {
    if (agent_ == nullptr) return;
    agent_->Close();
    bool delivered = false;  // mail to one shard keeps its order
    ASSERT_TRUE(shard_.Send(0, {}, [&delivered](const QueuedContext&) { delivered = true; }));
    ASSERT_TRUE(RunUntil([&] { return delivered; }));
    agent_.reset();
  }

  static kube::PodRef Pod(const std::string& name, const std::string& spec) {
    kube::core::Pod pod;
    const std::string json =
        R"({"metadata":{"name":")" + name + R"(","namespace":"n","uid":"uid-)" + name +
        R"(","annotations":{"kubernetes.io/config.source":"file"}},"spec":)" + spec + "}";
    EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
    pod.mutable_spec()->set_enableservicelinks(true);  // as whoever defaults pods has it
    if (!pod.spec().has_terminationgraceperiodseconds()) {
      pod.mutable_spec()->set_terminationgraceperiodseconds(1);
    }
    for (auto& container : *pod.mutable_spec()->mutable_containers()) {
      container.set_imagepullpolicy("IfNotPresent");
    }
    return *kube::PodAtRest::FromPod(pod);
  }
  // Replaces all that the files say.
  void Wish(const std::vector<std::pair<std::string, std::string>>& pods) {
    std::vector<kube::PodRef> refs;
    for (const auto& [name, spec] : pods) refs.push_back(Pod(name, spec));
    agent_->sources().OnPods(sync::SourceKind::kFile, std::move(refs));
  }

  // How many containers of a pod the runtime runs, as the core has seen it.
  size_t Running(const std::string& name) {
    const sync::PodWorker* worker = agent_->pods().Find(PodUid("uid-" + name));
    if (worker == nullptr) return 0;
    const sync::ObservedPod seen = sync::SeenPod(worker->Observe(), worker->ledger().view());
    return static_cast<size_t>(std::ranges::count(seen.containers, ContainerState::kRunning,
                                                  &sync::ObservedContainer::state));
  }
  std::set<std::string> ContainerIds() {
    std::set<std::string> ids;
    const std::string pods = host_->Run(R"({"do":"pods"})");
    for (size_t at = pods.find("\"id\":\""); at != pods.npos; at = pods.find("\"id\":\"", at + 1)) {
      ids.insert(pods.substr(at + 6, pods.find('"', at + 6) - at - 6));
    }
    return ids;
  }
  // What each worker waits for, in words.
  std::string Waits() {
    std::string text;
    for (const sync::WorkerReport& report : agent_->pods().Reports()) {
      text += report.pod.ref.ToString() + " (" + std::string(sync::PhaseName(report.phase)) +
              "): " + report.waits_for + "\n";
      for (const sync::WorkerTransition& step : report.transitions)
        text += "    " + step.what + "\n";
    }
    return text;
  }

  std::string folder_;
  SeededRandom random_{5};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  reactor::BlockingPool pool_{clock_, {}};
  reactor::PoolFileSystem files_{shard_, pool_};
  std::unique_ptr<cri_sim::Host> host_;
  std::unique_ptr<cri::Connection> connection_;
  std::unique_ptr<CoreOnCri> agent_;
};
INSTANTIATE_LOOP_TEST(CoreCriSimTest);

TEST_P(CoreCriSimTest, StaticPodsOfEveryKindRunAndGo) {
  for (const bool use_events : {true, false}) {
    StartAgent(use_events);
    Wish({{"server", kServer}, {"init", kInit}, {"hooked", kHooked}, {"job", kJob}});
    ASSERT_TRUE(RunUntil(
        [&] { return Running("server") == 1 && Running("init") == 3 && Running("hooked") == 1; }));
    // The job ends, and with it what it ran in.
    ASSERT_TRUE(RunUntil([&] {
      const sync::PodWorker* job = agent_->pods().Find(PodUid("uid-job"));
      return job != nullptr && job->state().phase >= sync::Phase::kTerminated;
    }));
    EXPECT_EQ(Running("job"), 0u);
    Wish({});
    ASSERT_TRUE(RunUntil([&] { return agent_->pods().size() == 0; })) << Waits();
    EXPECT_THAT(agent_->faults(), IsEmpty());
    EXPECT_THAT(ContainerIds(), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/data/pods"));
    Kill();
  }
}

TEST_P(CoreCriSimTest, StatusesAndEventsTellOfAPodsLife) {
  constexpr const char* kTooLarge = R"({"containers":[{"name":"c","image":"app:1",
      "resources":{"requests":{"cpu":"100"}}}]})";
  StartAgent();
  Wish({{"server", kServer}, {"job", kJob}, {"large", kTooLarge}});
  const auto phase = [&](const char* uid) { return agent_->PhaseOf(PodUid(uid)); };
  ASSERT_TRUE(RunUntil([&] {
    return phase("uid-server") == "Running" && phase("uid-job") == "Succeeded" &&
           phase("uid-large") == "Failed";
  })) << phase("uid-server")
      << phase("uid-job") << phase("uid-large");
  EXPECT_THAT(agent_->rejections(),
              ElementsAre(HasSubstr("reclaim resources: [(res: cpu, q: 92000)")));
  EXPECT_EQ(agent_->pods().Find(PodUid("uid-large"))->timeline().runtime_calls, 0u);
  Wish({});
  ASSERT_TRUE(RunUntil([&] { return agent_->pods().size() == 0; })) << Waits();
  const std::string place = "server spec.containers{c} ";
  EXPECT_THAT(
      agent_->events(),
      IsSupersetOf({place + "Pulled: Container image \"app:1\" already present on machine "
                            "and can be accessed by the pod",
                    place + "Created: Container created", place + "Started: Container started",
                    place + "Killing: Stopping container c"}));
  // What was given out is free again.
  EXPECT_EQ(agent_->core().admission().size(), 0u);
}

TEST_P(CoreCriSimTest, NothingStartsWeakerThanItWasAskedFor) {
  constexpr const char* kHandler = R"({"runtimeClassName":"vm",
      "containers":[{"name":"c","image":"app:1"}]})";
  constexpr const char* kUsers = R"({"hostUsers":false,
      "containers":[{"name":"c","image":"app:1"}]})";
  constexpr const char* kNonRoot = R"({"securityContext":{"runAsNonRoot":true},
      "containers":[{"name":"c","image":"app:1"}]})";
  StartAgent();
  Wish({{"handler", kHandler}, {"users", kUsers}, {"root", kNonRoot}});
  const auto told = [&](const std::string& event) {
    return std::ranges::find(agent_->events(), event) != agent_->events().end();
  };
  const std::string sandbox = "  FailedCreatePodSandBox: Failed to create pod sandbox: ";
  ASSERT_TRUE(RunUntil([&] {
    return told("handler" + sandbox + "runtimeClassName \"vm\" is not supported yet") &&
           told("users" + sandbox +
                "a user namespace of the pod's own (hostUsers: false) is not supported yet") &&
           told(
               "root spec.containers{c} Failed: Error: container has runAsNonRoot and image will "
               "run as root (pod: \"root_n(uid-root)\", container: c)");
  })) << Waits();
  EXPECT_EQ(agent_->PhaseOf(PodUid("uid-handler")), "Pending");
  ASSERT_TRUE(RunUntil([&] {
    const auto status = agent_->StatusOf(PodUid("uid-root"));
    return status.containerstatuses(0).state().waiting().reason() == "CreateContainerConfigError";
  }));
  EXPECT_EQ(Running("handler") + Running("users") + Running("root"), 0u);
  Wish({});
  ASSERT_TRUE(RunUntil([&] { return agent_->pods().size() == 0; })) << Waits();
}

TEST_P(CoreCriSimTest, PullSecretsThatNobodyFetchesAreTold) {
  StartAgent();
  Wish({{"server", R"({"imagePullSecrets":[{"name":"a"},{},{"name":"b"}],
      "containers":[{"name":"c","image":"app:1"}]})"}});
  ASSERT_TRUE(RunUntil([&] { return Running("server") == 1; })) << Waits();
  EXPECT_THAT(agent_->events(),
              IsSupersetOf({"server  FailedToRetrieveImagePullSecret: Unable to retrieve some "
                            "image pull secrets (a, b); attempting to pull the image may not "
                            "succeed."}));
}

TEST_P(CoreCriSimTest, LastWordsAreInTheStatus) {
  constexpr const char* kJobs = R"({"restartPolicy":"Never","containers":[
      {"name":"file","image":"app:1","command":["message farewell; exit 0"],
       "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"},
      {"name":"log","image":"app:1","command":["echo last words; exit 1"],
       "terminationMessagePath":"/dev/termination-log",
       "terminationMessagePolicy":"FallbackToLogsOnError"},
      {"name":"silent","image":"app:1","command":["echo nothing to tell; exit 0"],
       "terminationMessagePath":"/dev/termination-log",
       "terminationMessagePolicy":"FallbackToLogsOnError"}]})";
  StartAgent();
  Wish({{"jobs", kJobs}});
  const PodUid uid("uid-jobs");
  ASSERT_TRUE(RunUntil([&] { return agent_->PhaseOf(uid) == "Failed"; })) << Waits();
  const kube::core::PodStatus status = agent_->StatusOf(uid);
  const auto message = [&](int i) {
    return status.containerstatuses(i).state().terminated().message();
  };
  EXPECT_EQ(message(0), "farewell");
  EXPECT_EQ(message(1), "last words\n");
  EXPECT_EQ(message(2), "");
  Wish({});
  ASSERT_TRUE(RunUntil([&] { return agent_->pods().size() == 0; })) << Waits();
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/data/pods"));
}

TEST_P(CoreCriSimTest, AContainerThatEndsIsStartedAgain) {
  StartAgent();
  Wish({{"server", kServer}});
  ASSERT_TRUE(RunUntil([&] { return Running("server") == 1; }));
  EXPECT_THAT(host_->Run(R"({"do":"exit","pod":"uid-server","container":"c","code":1})"),
              HasSubstr("\"ok\":true"));
  // The worker knows by its own calls: a look at the whole pod may never be due.
  ASSERT_TRUE(RunUntil([&] {
    const std::string state = host_->Run(R"({"do":"state"})");
    return state.find(R"("containersExited":1)") != std::string::npos && Running("server") == 1;
  })) << Waits();
}

TEST_P(CoreCriSimTest, ARestartOfTheAgentDisturbsNothing) {
  StartAgent();
  Wish({{"server", kServer}, {"init", kInit}, {"hooked", kHooked}});
  ASSERT_TRUE(RunUntil([&] {
    return Running("server") == 1 && Running("init") == 3 && Running("hooked") == 1 &&
           agent_->pods().idle();
  }));
  const std::set<std::string> before = ContainerIds();
  for (int i = 0; i < 3; ++i) {
    Kill();
    StartAgent();
    // The runtime is listed before the sources have told anything: nothing may be taken for an
    // orphan.
    ASSERT_TRUE(RunUntil([&] { return agent_->core().pleg().last_list() != TimePoint{}; }));
    Wish({{"server", kServer}, {"init", kInit}, {"hooked", kHooked}});
    ASSERT_TRUE(RunUntil([&] {
      return Running("server") == 1 && Running("init") == 3 && Running("hooked") == 1 &&
             agent_->pods().idle();
    }));
    EXPECT_EQ(ContainerIds(), before);
  }
}

TEST_P(CoreCriSimTest, ARestartOfTheRuntimeIsSurvived) {
  StartAgent();
  Wish({{"server", kServer}, {"init", kInit}});
  ASSERT_TRUE(RunUntil([&] { return Running("server") == 1 && Running("init") == 3; }));
  const std::set<std::string> before = ContainerIds();
  EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"50ms","keepState":true})"),
              HasSubstr("\"ok\":true"));
  ASSERT_TRUE(RunUntil([&] { return agent_->core().pleg().mode() == sync::PlegMode::kListsLead; }));
  ASSERT_TRUE(
      RunUntil([&] { return agent_->core().pleg().mode() == sync::PlegMode::kEventsLead; }));
  EXPECT_EQ(ContainerIds(), before);
  // All is lost: all is made again.
  EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"50ms","keepState":false})"),
              HasSubstr("\"ok\":true"));
  ASSERT_TRUE(RunUntil([&] {
    return Running("server") == 1 && Running("init") == 3 && agent_->pods().idle() &&
           !ContainerIds().empty() && ContainerIds() != before;
  }));
}

TEST_P(CoreCriSimTest, APodNeedsNoMoreThanSixCallsToStart) {
  StartAgent();
  ASSERT_TRUE(
      RunUntil([&] { return agent_->core().pleg().mode() == sync::PlegMode::kEventsLead; }));
  std::vector<std::pair<std::string, std::string>> wishes;
  for (int i = 0; i < 50; ++i) wishes.emplace_back("p" + std::to_string(i), kServer);
  host_->Run(R"({"do":"resetCounters"})");
  Wish(wishes);
  ASSERT_TRUE(RunUntil([&] {
    return std::ranges::all_of(wishes, [&](const auto& w) { return Running(w.first) == 1; }) &&
           agent_->pods().idle();
  })) << Waits();
  const std::string counters = host_->Run(R"({"do":"counters"})");
  uint64_t calls = 0;
  ASSERT_EQ(std::sscanf(counters.c_str(), R"({"ok":true,"calls":%lu,)", &calls), 1) << counters;
  EXPECT_LE(calls, wishes.size() * 6) << counters;
  uint32_t most = 0;
  for (const auto& [name, spec] : wishes) {
    most = std::max(most, agent_->pods().Find(PodUid("uid-" + name))->timeline().runtime_calls);
  }
  EXPECT_LE(most, 6u);
  EXPECT_GE(most, 4u) << "sandbox, create, start and a look: less cannot be";
}

}  // namespace
}  // namespace denselet::tests
