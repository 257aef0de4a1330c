// Connect, GET, close, again and again, several at a time: what an HTTP probe does. Ours against a
// bare io_uring loop that makes the same system calls and looks at nothing.
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <latch>
#include <memory>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "reactor/net/http1/fetch.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

constexpr int kRequests = 20'000;
constexpr int kAtOnce = 16;
constexpr int kRounds = 5;

double ThreadCpuSeconds() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_THREAD, &usage) == 0);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// Times kRequests, from its making to Stop().
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock)
      : clock_(clock), begun_(clock.Now()), cpu_(ThreadCpuSeconds()) {}

  void Stop(std::vector<double>& rates, std::vector<double>& rates_by_cpu) const {
    const double seconds = static_cast<double>((clock_.Now() - begun_).count()) / 1e9;
    rates.push_back(kRequests / seconds);
    rates_by_cpu.push_back(kRequests / (ThreadCpuSeconds() - cpu_));
  }

 private:
  const Clock& clock_;
  const TimePoint begun_;
  const double cpu_;  // of this thread
};

// On the calling thread: socket, then connect, send, receive, close.
class BareClient {
 public:
  explicit BareClient(const net::Address& server) : server_(server) {
    CHECK(io_uring_queue_init(256, &ring_,
                              IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0);
  }
  ~BareClient() { io_uring_queue_exit(&ring_); }

  void Run() {
    begun_ = ended_ = 0;
    for (Connection& connection : connections_) Begin(connection);
    while (ended_ < kRequests) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head, seen = 0;
      io_uring_cqe* entry;
      io_uring_for_each_cqe(&ring_, head, entry) {
        ++seen;
        Step(*static_cast<Connection*>(io_uring_cqe_get_data(entry)), entry->res);
      }
      io_uring_cq_advance(&ring_, seen);
    }
  }

 private:
  struct Connection {
    enum class Stage : uint8_t { kConnect, kSend, kReceive };
    int fd = -1;
    Stage stage = Stage::kConnect;
    std::array<char, 4096> buffer;
  };

  void Begin(Connection& connection) {
    if (begun_ == kRequests) return;
    ++begun_;
    connection.fd = ::socket(server_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    connection.stage = Connection::Stage::kConnect;
    const int on = 1;
    ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    io_uring_prep_connect(entry, connection.fd, server_.get(), server_.size());
    io_uring_sqe_set_data(entry, &connection);
  }

  void Step(Connection& connection, int result) {
    CHECK(result >= 0);
    io_uring_sqe* entry = nullptr;
    switch (connection.stage) {
      case Connection::Stage::kConnect:
        connection.stage = Connection::Stage::kSend;
        entry = io_uring_get_sqe(&ring_);
        io_uring_prep_send(entry, connection.fd, kAsk, sizeof kAsk - 1, MSG_NOSIGNAL);
        break;
      case Connection::Stage::kSend:
        connection.stage = Connection::Stage::kReceive;
        entry = io_uring_get_sqe(&ring_);
        io_uring_prep_recv(entry, connection.fd, connection.buffer.data(), connection.buffer.size(),
                           0);
        break;
      case Connection::Stage::kReceive:
        // The whole answer; who knows its length does not wait for the server's end.
        CHECK(result > 0);
        ::close(connection.fd);
        ++ended_;
        return Begin(connection);
    }
    io_uring_sqe_set_data(entry, &connection);
  }

  static constexpr char kAsk[] = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
  const net::Address server_;
  io_uring ring_;
  int begun_ = 0, ended_ = 0;
  std::array<Connection, kAtOnce> connections_;
};

class OurClient {
 public:
  OurClient(reactor::Loop& loop, const net::Address& server) : loop_(loop), server_(server) {}

  void Run(UniqueFunction<void()> over) {
    over_ = std::move(over);
    begun_ = ended_ = 0;
    for (int i = 0; i < kAtOnce; ++i) Begin();
  }

 private:
  void Begin() {
    if (begun_ == kRequests) return;
    ++begun_;
    net::HttpRequest request;
    request.authority = "bench";
    net::Fetch(loop_, Context{}.WithTimeout(loop_.Now(), Seconds(10)), server_, std::move(request),
               "", {}, [this](Result<net::HttpResponse> response) {
                 CHECK(response && response->status == 200 && response->body == Nginx::kBody);
                 if (++ended_ == kRequests) return over_();
                 Begin();
               });
  }

  reactor::Loop& loop_;
  const net::Address server_;
  UniqueFunction<void()> over_;
  int begun_ = 0, ended_ = 0;
};

// Both on the shard's thread: the same CPU, the same neighbours.
void Compare(Report& report, const Nginx& nginx, reactor::Backend backend) {
  const reactor::RealClock clock;
  auto shards = reactor::Shards::Start({.count = 1, .backend = backend}, clock);
  CHECK(shards);
  const auto server = net::Address::Ip("127.0.0.1", nginx.http1_port());
  std::vector<double> ours, bare, ours_cpu, bare_cpu;
  for (int round = 0; round < kRounds; ++round) {
    (*shards)->RunAndWait(0, [&](reactor::Shard&) {
      BareClient client(*server);
      const Stopwatch watch(clock);
      client.Run();
      watch.Stop(bare, bare_cpu);
    });
    std::latch over(1);
    std::unique_ptr<OurClient> client;
    (*shards)->RunAndWait(0, [&](reactor::Shard& shard) {
      client = std::make_unique<OurClient>(shard.loop(), *server);
      client->Run([&, watch = Stopwatch(clock)] {
        watch.Stop(ours, ours_cpu);
        over.count_down();
      });
    });
    over.wait();
    (*shards)->RunAndWait(0, [&](reactor::Shard&) { client.reset(); });
  }
  const bool uring = backend == reactor::Backend::kUring;
  const std::string suffix = uring ? "" : "_epoll", name = uring ? ", uring" : ", epoll";
  report.Ratio("client_loop_vs_bare" + suffix, "connect, GET, close, 16 at once" + name,
               Percentile(ours, 0.5), Percentile(bare, 0.5), "requests/s", 0.8);
  report.Ratio("client_loop_cpu_vs_bare" + suffix, "the same by CPU time of the client" + name,
               Percentile(ours_cpu, 0.5), Percentile(bare_cpu, 0.5), "requests/CPU s", 0);
}

}  // namespace

void BenchClientLoop(Report& report) {
  const Nginx nginx(PeerCpu());
  Compare(report, nginx, reactor::Backend::kUring);
  Compare(report, nginx, reactor::Backend::kEpoll);
}

}  // namespace denselet::bench
