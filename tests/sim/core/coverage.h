// What runs have reached: where a pod was when something hit it, what was decided, in which states
// the ledger's calls were. What must be reached is known (coverage_table.h), so that what never is
// shows: the simulator would prove nothing about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sync/pod_worker/pod_worker.h"
#include "tests/sim/core/coverage_table.h"

namespace denselet::sim {

// Rows that need not be reached, for one reason.
struct Exemption {
  std::string_view reason;
  size_t rows = 0;
  size_t reached = 0;  // of these, all the same
};

class Coverage {
 public:
  Coverage();

  void Hit(SimEvent event, sync::Phase phase, sync::WaitFor wait);
  void Hit(SimFault fault, sync::Phase phase, sync::WaitFor wait);
  void Decided(const sync::PodWorker& worker, const sync::Decision& decision);
  void Add(const Coverage& other);

  // What must be reached.
  size_t legal() const;
  std::vector<std::string> Missing() const;
  // Reached and said to be impossible: the table is wrong then, or the core is.
  std::vector<std::string> Unexpected() const;
  std::vector<std::string> Lines() const;
  // What need not be reached, though it may be; most first.
  std::vector<Exemption> Exemptions() const;

  // To another process and back.
  const std::vector<uint64_t>& counts() const { return counts_; }
  std::vector<uint64_t>& counts() { return counts_; }

 private:
  std::vector<uint64_t> counts_;
};

}  // namespace denselet::sim
