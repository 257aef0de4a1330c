// An HTTP/2 client with a hundred streams on one connection, against nghttp2's h2load and the same
// server.
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "reactor/net/connect.h"
#include "reactor/net/http2/connection.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

constexpr int kRequests = 100'000;
constexpr int kStreams = 100;
constexpr int kRounds = 5;

double OfH2load(uint16_t port) {
  Child h2load(MeasuredCpu(), {"h2load", "-t1", "-c1", "-m" + std::to_string(kStreams),
                               "-n" + std::to_string(kRequests),
                               "http://127.0.0.1:" + std::to_string(port) + "/"});
  const std::string said = h2load.ReadAll();
  // finished in 1.23s, 81300.81 req/s, 2.34MB/s
  const size_t at = said.find("finished in ");
  CHECK(at != std::string::npos);
  CHECK(said.find(std::to_string(kRequests) + " succeeded") != std::string::npos);
  const size_t comma = said.find(", ", at);
  return std::strtod(said.c_str() + comma + 2, nullptr);
}

// Keeps a hundred exchanges open until all have been made. Lives on the shard.
class Load {
 public:
  Load(reactor::Loop& loop, std::unique_ptr<net::Stream> stream, UniqueFunction<void()> over)
      : connection_(loop, std::move(stream), {}, nullptr), over_(std::move(over)) {
    request_.authority = "bench";
    for (int i = 0; i < kStreams; ++i) calls_.push_back(std::make_unique<Call>(*this));
    for (const auto& call : calls_) Begin(*call);
  }

 private:
  struct Call final : net::HttpClientCall {
    explicit Call(Load& load) : owner(load) {}
    void OnHead(net::HttpResponseHead head) override { CHECK(head.status == 200); }
    void OnBody(std::span<const std::byte> data) override { received += data.size(); }
    void OnEnd() override {
      CHECK(received == sizeof Nginx::kBody - 1);
      owner.Ended(*this);
    }
    void OnFailed(const Error&) override { CHECK(false); }

    Load& owner;
    std::unique_ptr<net::HttpExchange> exchange;
    size_t received = 0;
  };

  void Begin(Call& call) {
    if (begun_ == kRequests) return;
    ++begun_;
    call.received = 0;
    call.exchange = connection_.Start({}, request_, net::RequestBody::kNone, call);
  }

  void Ended(Call& call) {
    if (++ended_ == kRequests) return over_();
    Begin(call);
  }

  net::HttpRequest request_;
  net::Http2Connection connection_;
  UniqueFunction<void()> over_;
  std::vector<std::unique_ptr<Call>> calls_;
  int begun_ = 0, ended_ = 0;
};

double OfOurs(reactor::Backend backend, uint16_t port) {
  const reactor::RealClock clock;
  auto shards = reactor::Shards::Start({.count = 1, .backend = backend}, clock);
  CHECK(shards);
  std::latch over(1);
  std::unique_ptr<Load> load;
  TimePoint begun, ended;
  (*shards)->RunAndWait(0, [&](reactor::Shard& shard) {
    begun = clock.Now();
    net::Connect(shard.loop(), {}, *net::Address::Ip("127.0.0.1", port),
                 [&](Result<std::unique_ptr<net::Socket>> socket) {
                   CHECK(socket);
                   load = std::make_unique<Load>(shard.loop(), std::move(*socket), [&] {
                     ended = clock.Now();
                     over.count_down();
                   });
                 });
  });
  over.wait();
  (*shards)->RunAndWait(0, [&](reactor::Shard&) { load.reset(); });
  return kRequests / (static_cast<double>((ended - begun).count()) / 1e9);
}

}  // namespace

void BenchHttp2Client(Report& report) {
  const Nginx nginx(PeerCpu());
  std::vector<double> reference, uring, epoll;
  for (int round = 0; round < kRounds; ++round) {
    reference.push_back(OfH2load(nginx.http2_port()));
    uring.push_back(OfOurs(reactor::Backend::kUring, nginx.http2_port()));
    epoll.push_back(OfOurs(reactor::Backend::kEpoll, nginx.http2_port()));
  }
  const double theirs = Percentile(reference, 0.5);
  report.Ratio("http2_client_vs_h2load", "HTTP/2 client, 100 streams, uring",
               Percentile(uring, 0.5), theirs, "requests/s", 0.5);
  report.Ratio("http2_client_vs_h2load_epoll", "HTTP/2 client, 100 streams, epoll",
               Percentile(epoll, 0.5), theirs, "requests/s", 0.5);
}

}  // namespace denselet::bench
