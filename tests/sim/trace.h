// What happened in a simulated run, as one number: equal runs have equal hashes, with every
// compiler and in every process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/time.h"

namespace denselet::sim {

class Trace {
 public:
  enum class Mode : uint8_t { kHash, kPrint };
  explicit Trace(Mode mode = Mode::kHash) : mode_(mode) {}

  void Add(TimePoint now, std::string_view what) {
    const std::string line =
        std::to_string(now.time_since_epoch().count()) + " " + std::string(what) + "\n";
    hash_ = Fnv1a64(line, hash_);
    ++lines_;
    if (mode_ == Mode::kPrint) std::fputs(line.c_str(), stdout);
  }

  uint64_t hash() const { return hash_; }
  uint64_t lines() const { return lines_; }

 private:
  const Mode mode_;
  uint64_t hash_ = Fnv1a64("");
  uint64_t lines_ = 0;
};

}  // namespace denselet::sim
