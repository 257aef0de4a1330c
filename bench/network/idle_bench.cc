// Ten thousand connections that have asked once and are silent since: what do they cost the server?
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "bench/network/hello_server.h"
#include "reactor/net/address.h"

namespace denselet::bench {
namespace {

constexpr int kConnections = 10'000;
constexpr int kWatchedMillis = 3000;

double CpuSeconds() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double ResidentBytes() {
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
}

}  // namespace denselet::bench
