// Answers for all pods: one wildcard listener for each port, and the pod is known by the address
// that the client connected to. HTTP/1 and gRPC's health check on every port; for TCP probes it is
// enough that it accepts. What does not come from and go to 127.0.0.0/8 is closed at once.
//
// HTTP: any path is answered 200 or, from an unhealthy pod, 503; /status/N is answered N; /hang
// never. One request for each connection.
//
// Owned by the host, on the simulator's shard.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/unique_function.h"
#include "bench/cri_sim/addresses.h"
#include "bench/cri_sim/world.h"
#include "reactor/api/loop.h"
#include "reactor/net/listener.h"

namespace denselet::cri_sim {

enum class PodHealth : uint8_t { kNoPod, kHealthy, kUnhealthy };

class Responder final : public PortOpener {
 public:
  static constexpr size_t kPortsMax = 256;         // further ones are refused, and that is told
  static constexpr size_t kConnectionsMax = 4096;  // further ones are closed at once
  static constexpr size_t kRequestBytesMax = 64 * 1024;

  using HealthOf = UniqueFunction<PodHealth(Ipv4)>;
  using Warn = UniqueFunction<void(const std::string&)>;
  Responder(reactor::Loop& loop, HealthOf health_of, Warn warn);
  ~Responder();

  void OpenPort(uint16_t port) override;
  std::string StreamUrl(const std::string& kind) override;

  size_t ports() const { return listeners_.size(); }
  size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  void Accept(std::unique_ptr<net::Socket> socket);
  void Drop(Connection& connection);

  reactor::Loop& loop_;
  HealthOf health_of_;
  Warn warn_;
  std::map<uint16_t, std::unique_ptr<net::Listener>> listeners_;  // null: could not be opened
  std::unique_ptr<net::Listener> streams_;
  uint64_t tokens_ = 0;
  std::map<const Connection*, std::unique_ptr<Connection>> connections_;
};

}  // namespace denselet::cri_sim
