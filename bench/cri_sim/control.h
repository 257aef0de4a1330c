// The control: one JSON object a line in, one a line out, over a unix socket or from a scenario.
// Commands are listed in bench/README.md.
//
// Owned by the host, on the simulator's shard.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_function.h"
#include "bench/cri_sim/simulator.h"
#include "reactor/net/listener.h"

namespace denselet::cri_sim {

// What only the host can do.
class HostControl {
 public:
  // `done` runs on the shard, when the runtime is back, or could not come back.
  virtual void Crash(Duration downtime, KeepState keep,
                     UniqueFunction<void(const Status&)> done) = 0;
  virtual void Quit() = 0;

 protected:
  ~HostControl() = default;
};

class Control {
 public:
  static constexpr size_t kLineBytesMax = 1 << 20;
  static constexpr size_t kConnectionsMax = 64;

  // The answer's line, without its end.
  using Done = UniqueFunction<void(std::string)>;

  Control(reactor::Loop& loop, Simulator& simulator, HostControl& host);
  ~Control();

  Status Listen(const std::string& path);
  void Run(std::string_view command, Done done);

 private:
  class Connection;

  void Drop(Connection& connection);

  reactor::Loop& loop_;
  Simulator& simulator_;
  HostControl& host_;
  std::unique_ptr<net::Listener> listener_;
  std::map<const Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace denselet::cri_sim
