// Pods come and go by chance, plugins and preempted pods take their time, the disk fails and the
// agent is restarted: nothing is ever given out twice, and no decision is made twice.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/sim/seeds.h"
#include "tests/sync/admission/desk_fixture.h"

namespace denselet::sync {
namespace {

constexpr int64_t kCpu = 2000;
constexpr uint64_t kPods = 14;

class DeskRun : private DeskHouse {
 public:
  explicit DeskRun(uint64_t seed) : DeskHouse(seed) {
    disk.faults() = {.delay_max = Milliseconds(4), .error = 0.02, .garble = 0.3};
    options.compact_bytes_min = 2000;
    options.backoff_max = Milliseconds(300);
  }

  void Run() {
    for (int step = 0; step < 1500 && problem_.empty(); ++step) Step();
  }
  const std::string& problem() const { return problem_; }
  uint64_t admitted() const { return admitted_; }
  uint64_t rejected() const { return rejected_; }
  uint64_t adopted() const { return adopted_; }

 private:
  struct Told {
    std::string outcome;
    bool is_static = false;
    std::string name;
    int32_t port = 0;
    int64_t milli = 0;
  };

  void Fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  // The same pod every time it is asked about.
  static std::string PodText(uint64_t i, Told& told) {
    told.is_static = i % 4 == 0;
    told.name = told.is_static ? "static-" + std::to_string(i % 8) : "p" + std::to_string(i);
    told.milli = 200 + static_cast<int64_t>(i) * 90;
    told.port = i % 3 == 0 ? static_cast<int32_t>(8000 + i % 2) : 0;
    return "metadata: {name: " + told.name + ", namespace: ns, uid: u" + std::to_string(i) +
           ", annotations: {kubernetes.io/config.source: " + (told.is_static ? "file" : "api") +
           "}}\nspec: {containers: [{name: c, resources: {requests: {cpu: " +
           std::to_string(told.milli) + "m}}" +
           (told.port > 0
                ? ", ports: [{containerPort: 1, hostPort: " + std::to_string(told.port) + "}]"
                : "") +
           "}]}";
  }

  void AskAbout(uint64_t i) {
    Told told;
    const kube::PodRef pod = RefOf(PodText(i, told));
    const std::string uid = "u" + std::to_string(i);
    const auto answer = [this, uid, told,
                         life = life_](Result<AdmissionDecision> decision) mutable {
      if (life != life_) return Fail("a dead desk answered");
      if (!decision) return;
      told.outcome = decision->rejected ? decision->rejected->reason : "admitted";
      const auto before = told_.find(uid);
      if (before != told_.end() && before->second.outcome != told.outcome) {
        Fail("decided twice: " + before->second.outcome + ", then " + told.outcome);
      }
      ++(decision->adopted ? adopted_ : decision->rejected ? rejected_ : admitted_);
      told_[uid] = told;
      CheckTold();
    };
    (void)desk->Ask(pod, AdmissionQuestion::kDecide, answer);
  }

  // Among those who were told that they may run, and have not been dropped: what makes room for a
  // critical one still runs.
  void CheckTold() {
    NoteNotGoneInTime();
    int64_t milli = 0;
    std::set<int32_t> ports;
    std::set<std::string> names;
    for (const auto& [uid, told] : told_) {
      if (told.outcome != "admitted") continue;
      if (told.port > 0 && !ports.insert(told.port).second) Fail("a port was given out twice");
      if (told.is_static && !names.insert(told.name).second) Fail("a name was given out twice");
      if (!late_.contains(uid)) milli += told.milli;
    }
    if (milli > kCpu) Fail("more cpu was given out than there is");
  }

  // Those that were waited for long enough.
  void NoteNotGoneInTime() {
    std::istringstream words(std::exchange(preemptor.late, {}));
    for (std::string uid; words >> uid;) late_.insert(uid);
  }

  void Release(const std::string& uid) {
    NoteNotGoneInTime();
    told_.erase(uid);
    late_.erase(uid);
    preemptor.held.erase(PodUid(uid));
    desk->Release(PodUid(uid));
  }

  // Its source has dropped it; it runs on for a while.
  void Leave(const std::string& uid) {
    if (!told_.contains(uid)) return;
    late_.insert(uid);
    desk->Leave(PodUid(uid));
  }

  void RestartSomehow() {
    ++life_;
    plugin.held.clear();
    // What was preempted is still to go: the next agent hears it from the API server.
    for (auto& [uid, ended] : preemptor.held) late_.insert(uid.value());
    preemptor.held.clear();
    if (world.random().Below(2) == 0) {
      PowerCut();
    } else {
      journal.reset();
      desk.reset();
      Pass(Milliseconds(60));  // what the dead process had asked for
      Restart();
    }
    // That a pod was released may not have been durable: the gate sees that nothing of it is there.
    for (const PodIdentity& pod : desk->Unclaimed()) {
      if (!told_.contains(pod.uid.value())) desk->Release(pod.uid);
    }
  }

  void Step() {
    Random& random = world.random();
    plugin.holds = random.Below(4) == 0;
    const uint64_t i = random.Below(kPods);
    if (random.Below(3) == 0) AskAbout(i);
    if (random.Below(5) == 0) Release("u" + std::to_string(i));
    if (random.Below(12) == 0) Leave("u" + std::to_string(random.Below(kPods)));
    if (!plugin.held.empty() && random.Below(3) == 0) {
      auto held = plugin.held.extract(plugin.held.begin());
      held.mapped()(std::nullopt);
    }
    if (!preemptor.held.empty() && random.Below(4) == 0) {
      auto held = preemptor.held.extract(preemptor.held.begin());
      Release(held.key().value());
    }
    for (uint64_t turn = random.Below(6); turn > 0; --turn) world.Step();
    if (random.Below(120) == 0) RestartSomehow();
    // The books, too: never more than there is, but for what an agent before this one preempted.
    if (late_.empty() && desk->bookings().Used("cpu") > kCpu)
      Fail("more cpu is booked than there is");
  }

  std::map<std::string, Told> told_;
  std::set<std::string> late_;  // dropped, or preempted and not gone in time, or by a dead agent
  uint64_t life_ = 0, admitted_ = 0, rejected_ = 0, adopted_ = 0;
  std::string problem_;
};

TEST(AdmissionDeskSim, NothingIsGivenOutTwiceAndNothingIsDecidedTwice) {
  uint64_t admitted = 0, rejected = 0, adopted = 0;
  for (const uint64_t seed : sim::Seeds(60)) {
    SCOPED_TRACE("DENSELET_SIM_SEED=" + std::to_string(seed));
    DeskRun run(seed);
    run.Run();
    ASSERT_EQ(run.problem(), "");
    admitted += run.admitted();
    rejected += run.rejected();
    adopted += run.adopted();
  }
  if (std::getenv("DENSELET_SIM_SEED") != nullptr) return;
  EXPECT_GT(admitted, 300u);
  EXPECT_GT(rejected, 100u);
  EXPECT_GT(adopted, 20u);
}

}  // namespace
}  // namespace denselet::sync
