// Connections that wait in the kernel's queue are accepted and closed: how many a second by one
// shard? Ours on both loops beside a bare ring, with single accepts and with a multishot one.
#include <liburing.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <latch>
#include <memory>
#include <vector>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "reactor/net/listener.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

constexpr int kWaiting = 4000;  // fewer than net.core.somaxconn
constexpr int kRounds = 15;

// Has kWaiting connections opened by another process; all are established when it returns.
std::unique_ptr<Child> Open(uint16_t port) {
  auto peer = std::make_unique<Child>(
      PeerCpu(), std::vector<std::string>{std::filesystem::read_symlink("/proc/self/exe"),
                                          "--open-connections", "127.0.0.1:" + std::to_string(port),
                                          std::to_string(kWaiting)});
  CHECK(peer->ReadLine() == "held");
  return peer;
}

double RateSince(const Clock& clock, TimePoint begun) {
  return kWaiting / (static_cast<double>((clock.Now() - begun).count()) / 1e9);
}

// On the calling thread.
class BareAcceptor {
 public:
  enum class Accepts : uint8_t { kSingle, kMultishot };

  explicit BareAcceptor(Accepts accepts) : accepts_(accepts) {
    CHECK(io_uring_queue_init(256, &ring_,
                              IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto any = net::Address::Parse("127.0.0.1:0");
    CHECK(::bind(fd_, any->get(), any->size()) == 0 && ::listen(fd_, 4096) == 0);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    CHECK(::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
    port_ = net::Address::From(bound, size)->port();
  }
  ~BareAcceptor() {
    io_uring_queue_exit(&ring_);
    ::close(fd_);
  }
  BareAcceptor(const BareAcceptor&) = delete;
  BareAcceptor& operator=(const BareAcceptor&) = delete;

  uint16_t port() const { return port_; }

  void Run() {
    Arm();
    for (int accepted = 0; accepted < kWaiting;) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head, seen = 0;
      bool goes_on = true;
      io_uring_cqe* entry;
      io_uring_for_each_cqe(&ring_, head, entry) {
        ++seen;
        CHECK(entry->res >= 0);
        ::close(entry->res);
        goes_on &= (entry->flags & IORING_CQE_F_MORE) != 0;
      }
      io_uring_cq_advance(&ring_, seen);
      accepted += static_cast<int>(seen);
      if (!goes_on && accepted < kWaiting) Arm();
    }
  }

 private:
  void Arm() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (accepts_ == Accepts::kMultishot) {
      io_uring_prep_multishot_accept(entry, fd_, nullptr, nullptr, SOCK_CLOEXEC);
    } else {
      io_uring_prep_accept(entry, fd_, nullptr, nullptr, SOCK_CLOEXEC);
    }
  }

  const Accepts accepts_;
  io_uring ring_;
  int fd_ = -1;
  uint16_t port_ = 0;
};

double MeasureBare(reactor::Shards& shards, const Clock& clock, BareAcceptor::Accepts accepts) {
  double rate = 0;
  shards.RunAndWait(0, [&](reactor::Shard&) {
    BareAcceptor acceptor(accepts);
    const auto peer = Open(acceptor.port());
    const TimePoint begun = clock.Now();
    acceptor.Run();
    rate = RateSince(clock, begun);
  });
  return rate;
}

double MeasureOurs(reactor::Shards& shards, const Clock& clock) {
  std::latch over(1);
  int accepted = 0;
  std::unique_ptr<net::Listener> listener;
  TimePoint begun;
  std::unique_ptr<Child> peer;
  double rate = 0;
  shards.RunAndWait(0, [&](reactor::Shard& shard) {
    listener = *net::Listener::Open(shard.loop(), *net::Address::Parse("127.0.0.1:0"),
                                    [&](std::unique_ptr<net::Socket>) {
                                      if (++accepted < kWaiting) return;
                                      rate = RateSince(clock, begun);
                                      over.count_down();
                                    });
    // The shard's thread waits here, so all of them wait too.
    peer = Open(listener->address().port());
    begun = clock.Now();
  });
  over.wait();
  shards.RunAndWait(0, [&](reactor::Shard&) { listener.reset(); });
  return rate;
}

}  // namespace

int OpenConnections(const std::string& address, int count) {
  const auto target = net::Address::Parse(address);
  CHECK(target);
  for (int i = 0; i < count; ++i) {
    const int fd = ::socket(target->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && ::connect(fd, target->get(), target->size()) == 0);
  }
  std::puts("held");
  std::fflush(stdout);
  char end;
  return ::read(STDIN_FILENO, &end, 1) < 0 ? 1 : 0;
}

void BenchAccept(Report& report) {
  const reactor::RealClock clock;
  auto uring = reactor::Shards::Start({.count = 1, .backend = reactor::Backend::kUring}, clock);
  auto epoll = reactor::Shards::Start({.count = 1, .backend = reactor::Backend::kEpoll}, clock);
  CHECK(uring && epoll);
  std::vector<double> single, multishot, ours, ours_epoll;
  for (int round = 0; round < kRounds; ++round) {
    single.push_back(MeasureBare(**uring, clock, BareAcceptor::Accepts::kSingle));
    ours.push_back(MeasureOurs(**uring, clock));
    multishot.push_back(MeasureBare(**uring, clock, BareAcceptor::Accepts::kMultishot));
    ours_epoll.push_back(MeasureOurs(**epoll, clock));
  }
  const double reference = Percentile(single, 0.5);
  report.Ratio("accept_vs_bare", "accept, close, uring", Percentile(ours, 0.5), reference,
               "connections/s", 0);
  report.Ratio("accept_multishot_vs_bare", "a bare ring with multishot accept",
               Percentile(multishot, 0.5), reference, "connections/s", 0);
  report.Ratio("accept_vs_bare_epoll", "accept, close, epoll", Percentile(ours_epoll, 0.5),
               reference, "connections/s", 0);
}

}  // namespace denselet::bench
