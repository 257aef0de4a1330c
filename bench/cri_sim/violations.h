// What clients did wrong: kept (the first ones), counted and printed. Lives on the simulator's
// shard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/unique_function.h"

namespace denselet::cri_sim {

struct Violation {
  WallTime at;
  std::string rule;  // a short constant name, for tests and tables
  std::string what;
};

class Violations {
 public:
  static constexpr size_t kKeptMax = 1000;  // further ones are counted and printed

  using Print = UniqueFunction<void(const Violation&)>;
  explicit Violations(Print print = nullptr) : print_(std::move(print)) {}

  void Add(WallTime at, std::string_view rule, std::string what) {
    Violation violation{at, std::string(rule), std::move(what)};
    ++total_;
    if (print_) print_(violation);
    if (kept_.size() < kKeptMax) kept_.push_back(std::move(violation));
  }
  void Clear() {
    kept_.clear();
    total_ = 0;
  }
  const std::vector<Violation>& kept() const { return kept_; }
  uint64_t total() const { return total_; }

 private:
  Print print_;
  std::vector<Violation> kept_;
  uint64_t total_ = 0;
};

}  // namespace denselet::cri_sim
