// An HTTP/1 server on one shard under wrk's 64 connections, against nginx with one worker.
#include <cstdlib>
#include <string>

#include "bench/network/benches.h"
#include "bench/network/child.h"
#include "bench/network/hello_server.h"
#include "reactor/real_clock.h"

namespace denselet::bench {
namespace {

constexpr int kRounds = 5;

double RequestsPerSecond(uint16_t port) {
  Child wrk(PeerCpu(),
            {"wrk", "-t1", "-c64", "-d2s", "http://127.0.0.1:" + std::to_string(port) + "/"});
  const std::string said = wrk.ReadAll();
  constexpr char kMark[] = "Requests/sec:";
  const size_t at = said.find(kMark);
  CHECK(at != std::string::npos);
  CHECK(said.find("Non-2xx") == std::string::npos);
  return std::strtod(said.c_str() + at + sizeof kMark - 1, nullptr);
}

}  // namespace

void BenchHttp1Server(Report& report) {
  const Nginx nginx(MeasuredCpu());
  HelloServer uring({.backend = reactor::Backend::kUring});
  HelloServer plain({.backend = reactor::Backend::kUring, .loop = {.multishot_receive = false}});
  HelloServer epoll({.backend = reactor::Backend::kEpoll});
  std::vector<double> of_nginx, of_uring, of_plain, of_epoll;
  for (int round = 0; round < kRounds; ++round) {
    of_nginx.push_back(RequestsPerSecond(nginx.http1_port()));
    of_uring.push_back(RequestsPerSecond(uring.port()));
    of_plain.push_back(RequestsPerSecond(plain.port()));
    of_epoll.push_back(RequestsPerSecond(epoll.port()));
  }
  const double reference = Percentile(of_nginx, 0.5);
  report.Ratio("http1_server_vs_nginx", "HTTP/1 server, 64 connections, uring",
               Percentile(of_uring, 0.5), reference, "requests/s", 1.0);
  report.Ratio("http1_server_vs_nginx_no_multishot", "the same without multishot receive",
               Percentile(of_plain, 0.5), reference, "requests/s", 0);
  report.Ratio("http1_server_vs_nginx_epoll", "HTTP/1 server, 64 connections, epoll",
               Percentile(of_epoll, 0.5), reference, "requests/s", 1.0);
}

}  // namespace denselet::bench
