// A whole simulated runtime: a shard with the simulator, the responder and the control, and the
// gRPC server beside it. Tests have one in their process; cri_sim's main() is little more than one.
//
// Owned by main() or a test. Start() returns when calls are served; the destructor stops
// everything.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "bench/cri_sim/control.h"
#include "bench/cri_sim/grpc_server.h"
#include "bench/cri_sim/inbox.h"
#include "bench/cri_sim/responder.h"
#include "bench/cri_sim/settings_json.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::cri_sim {

struct HostOptions {
  std::string socket;          // of gRPC
  std::string control_socket;  // empty: none
  Identity identity;
  Settings settings;
  std::vector<TimedCommand> commands;
  std::vector<uint16_t> ports;       // served by the responder from the start
  bool serve_declared_ports = true;  // and those that pods declare
  uint64_t seed = 1;
  int message_bytes_max = 16 << 20;
  bool print_violations = true;  // to standard error
};

class Host final : private HostControl {
 public:
  static Result<std::unique_ptr<Host>> Start(HostOptions options);
  ~Host();

  // From a thread that is not the simulator's: a command of the control, and its answer.
  std::string Run(const std::string& command);
  // Likewise: `work` on the simulator's shard.
  void OnShard(UniqueFunction<void(Simulator&)> work);
  TimePoint Now() const { return clock_.Now(); }
  // Blocks until the command `quit`, or Quit() from a signal's thread.
  void WaitForQuit();
  void RequestQuit();

 private:
  explicit Host(HostOptions options);
  Status Begin();
  void RunKeeper();
  void Keep(reactor::Task task);

  void Crash(Duration downtime, KeepState keep, UniqueFunction<void(const Status&)> done) override;
  void Quit() override { RequestQuit(); }

  const HostOptions options_;
  const reactor::RealClock clock_;
  std::unique_ptr<reactor::Shards> shards_;
  std::unique_ptr<Inbox> inbox_;
  // On the shard:
  std::unique_ptr<Responder> responder_;
  class DeclaredPorts;
  std::unique_ptr<DeclaredPorts> declared_;
  std::unique_ptr<Simulator> simulator_;
  bool has_control_socket_ = false;  // it is ours to take away
  std::unique_ptr<Control> control_;
  std::unique_ptr<Later> later_;
  bool crashing_ = false;
  std::vector<UniqueFunction<void(const Status&)>> waiting_for_crash_;
  // On the keeper's thread, which may block:
  std::unique_ptr<GrpcServer> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<reactor::Task> tasks_;
  bool ending_ = false, quit_ = false;
  std::thread keeper_;
};

}  // namespace denselet::cri_sim
