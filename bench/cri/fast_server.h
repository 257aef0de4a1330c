// ServeFast (benches.h) in a process of its own, on the peer's CPU.
#pragma once

#include <filesystem>
#include <string>

#include "base/check.h"
#include "bench/network/child.h"

namespace denselet::bench {

class FastServer {
 public:
  FastServer(const std::string& program, size_t events)
      : child_(PeerCpu(), {program, "serve", socket_, std::to_string(events)}) {
    CHECK(child_.ReadLine() == "serving");
  }
  ~FastServer() { std::filesystem::remove_all(folder_); }

  const std::string& socket() const { return socket_; }

 private:
  static std::string NewFolder() {
    std::string folder = "/tmp/denselet-bench-XXXXXX";
    CHECK(::mkdtemp(folder.data()) != nullptr);
    return folder;
  }

  const std::string folder_ = NewFolder();
  const std::string socket_ = folder_ + "/s";
  Child child_;
};

}  // namespace denselet::bench
