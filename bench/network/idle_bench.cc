// Ten thousand connections that have asked once and are silent since: what do they cost the server?
// And what does one of HTTP/2 cost the client that keeps it?
#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <vector>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "bench/network/hello_server.h"
#include "reactor/net/address.h"
#include "reactor/net/connect.h"
#include "reactor/net/http2/connection.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

constexpr int kConnections = 10'000;
constexpr int kHttp2Connections = 1000;
constexpr int kWatchedMillis = 3000;

double CpuSeconds() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// What earlier parts have freed is given back first: it would pass for room that costs nothing.
double ResidentBytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::unique_ptr<Child> Hold(uint16_t port, int connections) {
  auto peer = std::make_unique<Child>(
      PeerCpu(), std::vector<std::string>{std::filesystem::read_symlink("/proc/self/exe"),
                                          "--hold-connections", "127.0.0.1:" + std::to_string(port),
                                          std::to_string(connections)});
  CHECK(peer->ReadLine() == "held");
  return peer;
}

void Measure(Report& report, reactor::Backend backend) {
  HelloServer server({.backend = backend});
  // What the first connections cost once (code pages, tables) is not theirs.
  Hold(server.port(), 100).reset();
  while (server.connections() != 0) ::poll(nullptr, 0, 10);
  const double before = ResidentBytes();
  const std::unique_ptr<Child> peer = Hold(server.port(), kConnections);
  CHECK(server.connections() == kConnections);
  const double each = (ResidentBytes() - before) / kConnections;
  const double cpu_before = CpuSeconds();
  ::poll(nullptr, 0, kWatchedMillis);
  const double percent = (CpuSeconds() - cpu_before) / kWatchedMillis * 1000 * 100;
  const bool uring = backend == reactor::Backend::kUring;
  const std::string suffix = uring ? "" : "_epoll", name = uring ? ", uring" : ", epoll";
  report.AtMost("idle_connection_bytes" + suffix, "memory of an idle connection of 10 000" + name,
                each, "bytes", 4096);
  report.AtMost("idle_10k_connections_cpu_percent" + suffix, "idle, 10 000 connections" + name,
                percent, "% of a core", 0.1);
}

// Connections of HTTP/2 on one shard, each of which asks once and stays.
class Http2Clients {
 public:
  Http2Clients(reactor::Shard& shard, const net::Address& server, int count,
               UniqueFunction<void()> over)
      : shard_(shard), server_(server), left_(count), over_(std::move(over)) {
    clients_.reserve(static_cast<size_t>(count));
    Next();
  }

 private:
  struct Client final : net::HttpClientCall {
    Client(Http2Clients& its_owner, std::unique_ptr<net::Stream> stream)
        : owner(its_owner), connection(owner.shard_.loop(), std::move(stream), {}, nullptr) {
      net::HttpRequest request;
      request.authority = "bench";
      exchange = connection.Start({}, request, net::RequestBody::kNone, *this);
    }
    void OnHead(net::HttpResponseHead head) override { CHECK(head.status == 200); }
    void OnBody(std::span<const std::byte>) override {}
    void OnEnd() override { owner.Next(); }
    void OnFailed(const Error&) override { CHECK(false); }

    Http2Clients& owner;
    net::Http2Connection connection;
    std::unique_ptr<net::HttpExchange> exchange;
  };

  void Next() {
    if (left_-- == 0) return over_();
    net::Connect(shard_.loop(), {}, server_, [this](Result<std::unique_ptr<net::Socket>> socket) {
      CHECK(socket);
      clients_.push_back(std::make_unique<Client>(*this, std::move(*socket)));
    });
  }

  reactor::Shard& shard_;
  const net::Address server_;
  int left_;
  UniqueFunction<void()> over_;
  std::vector<std::unique_ptr<Client>> clients_;
};

void MeasureHttp2(Report& report, const Nginx& nginx, reactor::Backend backend) {
  const reactor::RealClock clock;
  auto shards = reactor::Shards::Start({.count = 1, .backend = backend}, clock);
  CHECK(shards);
  const auto server = net::Address::Ip("127.0.0.1", nginx.http2_port());
  const auto open = [&](int count) {
    std::latch over(1);
    std::unique_ptr<Http2Clients> clients;
    (*shards)->RunAndWait(0, [&](reactor::Shard& shard) {
      clients = std::make_unique<Http2Clients>(shard, *server, count, [&] { over.count_down(); });
    });
    over.wait();
    return clients;
  };
  // The first ones stay: what they gave back would be used again by those that are counted.
  auto first = open(kHttp2Connections / 10);
  const double before = ResidentBytes();
  auto counted = open(kHttp2Connections);
  const double each = (ResidentBytes() - before) / kHttp2Connections;
  (*shards)->RunAndWait(0, [&](reactor::Shard&) {
    first.reset();
    counted.reset();
  });
  const bool uring = backend == reactor::Backend::kUring;
  report.Show(std::string("idle_http2_connection_bytes") + (uring ? "" : "_epoll"),
              std::string("memory of an idle HTTP/2 client") + (uring ? ", uring" : ", epoll"),
              each, "bytes");
}

}  // namespace

int HoldConnections(const std::string& address, int count) {
  const auto target = net::Address::Parse(address);
  CHECK(target);
  constexpr char kAsk[] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
  std::array<char, 4096> answer;
  for (int i = 0; i < count; ++i) {
    const int fd = ::socket(target->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && ::connect(fd, target->get(), target->size()) == 0);
    CHECK(::send(fd, kAsk, sizeof kAsk - 1, MSG_NOSIGNAL) == sizeof kAsk - 1);
    CHECK(::recv(fd, answer.data(), answer.size(), 0) > 0);
  }
  std::puts("held");
  std::fflush(stdout);
  char end;
  return ::read(STDIN_FILENO, &end, 1) < 0 ? 1 : 0;
}

void BenchIdleConnections(Report& report) {
  Measure(report, reactor::Backend::kUring);
  Measure(report, reactor::Backend::kEpoll);
  const Nginx nginx(PeerCpu());
  MeasureHttp2(report, nginx, reactor::Backend::kUring);
  MeasureHttp2(report, nginx, reactor::Backend::kEpoll);
}

}  // namespace denselet::bench
