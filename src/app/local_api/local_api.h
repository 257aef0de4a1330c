// What the agent answers to people on its own machine, over a unix socket: HTTP/1.1, JSON.
//
//   /agent           version, uptime, CPU time, memory, PLEG mode, shards
//   /pods            every pod in one line
//   /pods/NS/NAME    all that is known of the pods of that name
//   /pleg            modes, lists, missed events
//   /metrics         the text for Prometheus; /metrics.json
//
// Only reads. Values of other shards come by mail and in parts, so no shard waits and none has a
// long turn for it. At most kConnectionsMax talk at once, further ones wait in the kernel.
// Questions of clients that vanish are under way until the shards have answered: with kAsksMax of
// them, further ones are answered 503. A client that reads nothing loses its own connection.
//
// Lives on the home shard, owned by Agent; destroyed before the core closes.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/local_api/json_out.h"
#include "app/local_api/pods_answer.h"
#include "base/log.h"
#include "base/metrics_snapshot.h"
#include "reactor/api/file_system.h"
#include "reactor/net/address.h"
#include "reactor/net/http1/server.h"
#include "reactor/shard.h"
#include "sync/core/pod_core.h"

namespace denselet::app {

// What only the composition root can reach.
class LocalApiSource {
 public:
  // On that shard, at any time; empty: there is nothing any more.
  virtual MetricsSnapshot MetricsOfShard(uint32_t shard) = 0;
  // On the home shard, while the LocalApi lives: what is there once.
  virtual MetricsSnapshot MetricsOfHome() = 0;

 protected:
  ~LocalApiSource() = default;
};

struct LocalApiSeams {
  reactor::Shard& shard;
  Logger log;
  sync::PodCore& core;
  reactor::FileSystem& files;
  LocalApiSource& source;
};

struct LocalApiOptions {
  std::string node = {};
  std::string runtime_endpoint = {};
  bool has_api_server = false;
};

class LocalApi final : private net::HttpService {
 public:
  static constexpr size_t kConnectionsMax = 64;
  static constexpr long kAsksMax = 2 * kConnectionsMax;

  LocalApi(const LocalApiSeams& seams, LocalApiOptions options);
  ~LocalApi() override;
  LocalApi(const LocalApi&) = delete;
  LocalApi& operator=(const LocalApi&) = delete;

  // A socket that listens; it is closed here.
  void Listen(int fd, const net::Address& address) { server_.ListenOn(fd, address); }

 private:
  // What the kernel says of this process.
  struct Process {
    uint64_t rss_bytes = 0;
    Duration cpu = {};
  };
  enum class MetricsForm : uint8_t { kText, kJson };
  struct ShardNumbers {
    uint64_t pods = 0, calls = 0, line = 0;
  };

  // net::HttpService
  void OnRequest(net::HttpRequest request, net::HttpServerExchange exchange) override;

  void AnswerAgent(net::HttpServerExchange exchange);
  void AnswerPods(net::HttpServerExchange exchange);
  void AnswerPod(std::string ns, std::string name, net::HttpServerExchange exchange);
  void AnswerMetrics(MetricsForm form, net::HttpServerExchange exchange);
  std::string PlegText() const;
  std::string AgentText(const Process& process, const std::vector<ShardNumbers>& shards) const;
  void WithProcess(UniqueFunction<void(const Process&)> then);
  Moment Now() const { return {seams_.shard.loop().Now(), seams_.shard.loop().WallNow()}; }

  const LocalApiSeams seams_;
  const LocalApiOptions options_;
  const TimePoint started_;
  // Copies of it are held by questions under way.
  const std::shared_ptr<void> ticket_;
  std::set<std::shared_ptr<PodsAnswer>> streams_;
  net::Http1Server server_;  // last: it goes before who answers its requests
};

}  // namespace denselet::app
