// Programs beside the benchmark: servers to measure against, load to be measured with.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace denselet::bench {

// The CPU of what is measured, and that of its peer: the first and the last that we may use.
int MeasuredCpu();
int PeerCpu();

// A child process, with pipes to its input and from its output. Killed and reaped at the end.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments);
  // Pinned to one CPU.
  Child(int cpu, std::vector<std::string> arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void Kill(int signal) const;
  // A line of its output; empty at its end.
  std::string ReadLine();
  // All that it says until it ends by itself.
  std::string ReadAll();

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
};

// A TCP port of the loopback address that nobody uses at the moment.
uint16_t FreePort();

// An nginx of one worker on `cpu`, which answers every request at once with kBody: HTTP/1 on one
// port, HTTP/2 without TLS on another.
class Nginx {
 public:
  static constexpr char kBody[] = "hello, world\n";

  explicit Nginx(int cpu);
  ~Nginx();
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  uint16_t http1_port() const { return http1_port_; }
  uint16_t http2_port() const { return http2_port_; }

 private:
  const std::string folder_;
  const uint16_t http1_port_, http2_port_;
  std::unique_ptr<Child> child_;
};

// Waits until somebody listens on the port; false when nobody does for a while.
bool WaitForListener(uint16_t port);

}  // namespace denselet::bench
