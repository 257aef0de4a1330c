// A node for benchmarks: the denselet program beside the cri_sim program, each a process of its
// own, and the folder of manifests that the agent follows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "bench/network/child.h"
#include "bench/sync/benches.h"
#include "reactor/real_clock.h"

namespace denselet::bench {

// What a process has used so far.
struct ProcessUsage {
  double cpu_seconds = 0;
  double rss_bytes = 0;
  double private_bytes = 0;  // of that: neither program text nor other files
};

// What the runtime has.
struct RuntimeState {
  uint64_t sandboxes = 0, sandboxes_ready = 0, containers = 0, running = 0;
};

struct AgentNodeOptions {
  std::string name = "bench-node";
  size_t pods_max = 2000;
  std::vector<std::string> runtime_flags = {};
  std::string kubeconfig = {};  // its text; empty: the node stands alone
};

// Both processes end with it, or with us; what they wrote is removed by RemoveFolders. Whatever
// does not come about in time ends the benchmark with a message and the last lines of the agent's
// log.
class AgentNode {
 public:
  AgentNode(const SyncPrograms& programs, AgentNodeOptions options);
  ~AgentNode();
  AgentNode(const AgentNode&) = delete;
  AgentNode& operator=(const AgentNode&) = delete;

  void StartAgent();
  // By SIGKILL.
  void KillAgent();
  ProcessUsage AgentUsage() const;
  const std::string& folder() const { return folder_; }

  // Manifests are written beside the folder that the agent follows, and moved.
  void Stage(const std::string& name);
  void Publish(const std::string& name);
  void Withdraw(const std::string& name);

  // Commands of cri_sim's control socket.
  std::string Ask(const std::string& command) const;
  RuntimeState State() const;
  // Calls that the runtime has answered, by method.
  std::map<std::string, uint64_t> Calls() const;
  std::set<std::string> RunningContainers() const;

  void WaitFor(const std::string& what, Duration limit, const std::function<bool()>& done) const;
  // Until the runtime was asked about no pod for `quiet`; how long the last such call was after
  // `since`. Lists of all and questions about the runtime itself do not count.
  Duration Settle(TimePoint since, Duration quiet = Milliseconds(1500)) const;
  void Pass(Duration time) const;
  const reactor::RealClock& clock() const { return clock_; }

  [[noreturn]] void GiveUp(const std::string& why) const;

 private:
  void WriteConfig() const;
  bool AgentRuns() const;

  const reactor::RealClock clock_;
  const SyncPrograms programs_;
  const AgentNodeOptions options_;
  const std::string folder_;
  const std::string disk_folder_;  // of the journal, whose syncs are to cost what they cost
  std::unique_ptr<Child> runtime_;
  std::unique_ptr<Child> agent_;
};

// What all nodes so far have left.
void RemoveFolders();

uint64_t Sum(const std::map<std::string, uint64_t>& calls);
double ToSeconds(Duration time);

}  // namespace denselet::bench
