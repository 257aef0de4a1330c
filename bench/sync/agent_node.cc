#include "bench/sync/agent_node.h"

#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "bench/cri_sim/ask.h"
#include "bench/cri_sim/json.h"

namespace denselet::bench {
namespace {

namespace fs = std::filesystem;
using cri_sim::Json;

constexpr Duration kPoll = Milliseconds(5);
constexpr Duration kStartMax = Seconds(30);
constexpr Duration kSettleMax = Seconds(60);

std::vector<std::string>& Folders() {
  static std::vector<std::string> folders;
  return folders;
}

std::string MakeFolder(const fs::path& parent) {
  std::string folder = parent / "denselet-bench-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  return Folders().emplace_back(folder);
}

// Ends with us, whatever happens to us, and writes to a file.
std::vector<std::string> Bound(const std::string& log, std::vector<std::string> command) {
  command.insert(command.begin(), {"setpriv", "--pdeathsig", "KILL", "sh", "-c",
                                   "exec \"$@\" >>'" + log + "' 2>&1", "sh"});
  return command;
}

std::string Manifest(const std::string& name) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", namespace: default, labels: {app: bench}}\nspec:\n  terminationGracePeriodSeconds: 1\n"
         "  containers:\n  - name: main\n    image: example.org/main:1\n"
         "    command: [sh, -c, sleep inf]\n    env: [{name: COLOUR, value: blue}]\n"
         "    resources: {limits: {memory: 64Mi}, requests: {memory: 1Mi}}\n";
}

// Calls that are not about a pod.
bool IsAboutTheNode(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods = {
      "Status",           "Version",     "RuntimeConfig",     "StreamPodSandboxes",
      "StreamContainers", "ImageFsInfo", "GetContainerEvents"};
  for (const std::string_view one : kMethods) {
    if (method == one) return true;
  }
  return false;
}

// In memory: what a file system takes to make seven directories for a pod differs by ten times,
// also from one minute to the next, and is not what is measured here.
fs::path InMemory() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

}  // namespace

AgentNode::AgentNode(const SyncPrograms& programs, AgentNodeOptions options)
    : programs_(programs),
      options_(std::move(options)),
      folder_(MakeFolder(InMemory())),
      disk_folder_(MakeFolder(fs::temp_directory_path())) {
  fs::create_directory(folder_ + "/manifests");
  fs::create_directory(folder_ + "/staged");
  WriteConfig();
  std::vector<std::string> command = {programs_.cri_sim,
                                      "--socket",
                                      folder_ + "/runtime.sock",
                                      "--control",
                                      folder_ + "/control.sock",
                                      "--image-folder",
                                      folder_,
                                      "--no-declared-ports"};
  command.insert(command.end(), options_.runtime_flags.begin(), options_.runtime_flags.end());
  runtime_ = std::make_unique<Child>(Bound(folder_ + "/cri_sim.log", std::move(command)));
  const std::string control = folder_ + "/control.sock";
  WaitFor("cri_sim", kStartMax, [&] { return bool(cri_sim::Ask(control, R"({"do":"state"})")); });
}

AgentNode::~AgentNode() {
  KillAgent();
  runtime_.reset();
}

void AgentNode::WriteConfig() const {
  std::ofstream config(folder_ + "/config");
  config << "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
         << "failCgroupV1: false\nfailSwapOn: false\nserializeImagePulls: false\n"
         << "maxPods: " << options_.pods_max << "\nstaticPodPath: " << folder_ << "/manifests\n"
         << "podLogsDir: " << folder_ << "/logs\n";
  if (!options_.kubeconfig.empty()) {
    std::ofstream(folder_ + "/kubeconfig") << options_.kubeconfig;
    return;
  }
  config << "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\n"
         << "authorization: {mode: AlwaysAllow}\n";
}

void AgentNode::StartAgent() {
  CHECK(agent_ == nullptr);
  std::vector<std::string> command = {programs_.denselet,
                                      "--hostname-override",
                                      options_.name,
                                      "--root-dir",
                                      folder_ + "/root",
                                      "--cert-dir",
                                      folder_ + "/pki",
                                      "--config",
                                      folder_ + "/config",
                                      "--container-runtime-endpoint",
                                      "unix://" + folder_ + "/runtime.sock",
                                      "--denselet-journal",
                                      disk_folder_ + "/journal",
                                      "--denselet-container-logs-dir",
                                      folder_ + "/links"};
  if (!options_.kubeconfig.empty()) {
    command.insert(command.end(), {"--kubeconfig", folder_ + "/kubeconfig"});
  }
  const uint64_t before = Calls()["StreamPodSandboxes"];
  agent_ = std::make_unique<Child>(Bound(folder_ + "/agent.log", std::move(command)));
  WaitFor("the agent's first list of the runtime", kStartMax,
          [&] { return Calls()["StreamPodSandboxes"] > before; });
}

void AgentNode::KillAgent() {
  if (agent_ == nullptr) return;
  agent_->Kill(SIGKILL);
  agent_.reset();
}

bool AgentNode::AgentRuns() const {
  std::ifstream stat("/proc/" + std::to_string(agent_->pid()) + "/stat");
  std::string pid, name, state;
  return bool(stat >> pid >> name >> state) && state != "Z";
}

ProcessUsage AgentNode::AgentUsage() const {
  ProcessUsage usage;
  clockid_t clock;
  timespec time{};
  if (::clock_getcpuclockid(agent_->pid(), &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    GiveUp("the agent is gone");
  }
  usage.cpu_seconds = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  std::ifstream status("/proc/" + std::to_string(agent_->pid()) + "/status");
  for (std::string word; status >> word;) {
    double* const into = word == "VmRSS:"     ? &usage.rss_bytes
                         : word == "RssAnon:" ? &usage.private_bytes
                                              : nullptr;
    if (into != nullptr && status >> *into) *into *= 1024;
  }
  return usage;
}

void AgentNode::Stage(const std::string& name) {
  std::ofstream(folder_ + "/staged/" + name + ".yaml") << Manifest(name);
}
void AgentNode::Publish(const std::string& name) {
  fs::rename(folder_ + "/staged/" + name + ".yaml", folder_ + "/manifests/" + name + ".yaml");
}
void AgentNode::Withdraw(const std::string& name) {
  fs::remove(folder_ + "/manifests/" + name + ".yaml");
}

std::string AgentNode::Ask(const std::string& command) const {
  const Result<std::string> answer = cri_sim::Ask(folder_ + "/control.sock", command);
  if (!answer) GiveUp("cri_sim does not answer: " + answer.error().message());
  if (!answer->starts_with(R"({"ok":true)")) GiveUp("cri_sim says " + *answer);
  return *answer;
}

RuntimeState AgentNode::State() const {
  const Result<Json> answer = Json::Parse(Ask(R"({"do":"state"})"));
  CHECK(answer);
  const Json& state = *answer;
  return {.sandboxes = state["sandboxes"].Count(),
          .sandboxes_ready = state["sandboxesReady"].Count(),
          .containers = state["containers"].Count(),
          .running = state["containersRunning"].Count()};
}

std::map<std::string, uint64_t> AgentNode::Calls() const {
  const Result<Json> answer = Json::Parse(Ask(R"({"do":"counters"})"));
  CHECK(answer);
  std::map<std::string, uint64_t> calls;
  CHECK((*answer)["methods"].ForEachMember(
      [&](const std::string& name, const Json& method) -> Status {
        calls[name] = method["calls"].Count();
        return Ok();
      }));
  return calls;
}

std::set<std::string> AgentNode::RunningContainers() const {
  const Result<Json> answer = Json::Parse(Ask(R"({"do":"pods"})"));
  CHECK(answer);
  std::set<std::string> ids;
  CHECK((*answer)["pods"].ForEachItem([&](const Json& pod) -> Status {
    return pod["containers"].ForEachItem([&](const Json& container) -> Status {
      if (container["state"].Text() == "CONTAINER_RUNNING") ids.insert(container["id"].Text());
      return Ok();
    });
  }));
  return ids;
}

void AgentNode::WaitFor(const std::string& what, Duration limit,
                        const std::function<bool()>& done) const {
  const TimePoint end = After(clock_.Now(), limit);
  while (!done()) {
    if (agent_ != nullptr && !AgentRuns()) GiveUp("the agent ended before " + what + " was there");
    if (clock_.Now() > end) GiveUp(what + " did not come in time");
    Pass(kPoll);
  }
}

Duration AgentNode::Settle(TimePoint since, Duration quiet) const {
  const auto about_pods = [this] {
    std::map<std::string, uint64_t> calls = Calls();
    std::erase_if(calls, [](const auto& entry) { return IsAboutTheNode(entry.first); });
    return Sum(calls);
  };
  uint64_t last = about_pods();
  TimePoint changed = clock_.Now();
  WaitFor("rest", kSettleMax, [&] {
    Pass(Milliseconds(10));
    const uint64_t now = about_pods();
    if (std::exchange(last, now) != now) changed = clock_.Now();
    return clock_.Now() - changed >= quiet;
  });
  return changed - since;
}

void AgentNode::Pass(Duration time) const {
  ::poll(nullptr, 0, static_cast<int>(time / Milliseconds(1)));
}

void AgentNode::GiveUp(const std::string& why) const {
  std::fprintf(stderr, "bench sync: %s; the last lines of %s/agent.log:\n", why.c_str(),
               folder_.c_str());
  std::fflush(stderr);
  // NOLINTNEXTLINE(cert-env33-c): for people
  (void)std::system(("tail -n 20 '" + folder_ + "/agent.log' >&2").c_str());
  std::exit(1);  // the processes end with us
}

void RemoveFolders() {
  std::error_code error;
  for (const std::string& folder : Folders()) {
    // The agent mounts its root onto itself; where it did not, there is nothing to unmount.
    (void)::umount2((folder + "/root").c_str(), MNT_DETACH);
    fs::remove_all(folder, error);
  }
  Folders().clear();
}

uint64_t Sum(const std::map<std::string, uint64_t>& calls) {
  uint64_t sum = 0;
  for (const auto& [name, count] : calls) sum += count;
  return sum;
}

double ToSeconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace denselet::bench
