#include "reactor/cpus.h"

namespace denselet::reactor {

Cpus Cpus::OfThisThread() {
  Cpus cpus;
  // Fails on machines with more CPUs than a cpu_set_t has: then pinning is left as it is.
  if (::sched_getaffinity(0, sizeof cpus.set_, &cpus.set_) != 0) return {};
  return cpus;
}

Cpus Cpus::Of(std::span<const int> numbers) {
  Cpus cpus;
  for (const int number : numbers) {
    if (number >= 0 && number < CPU_SETSIZE) CPU_SET(static_cast<size_t>(number), &cpus.set_);
  }
  return cpus;
}

Cpus Cpus::And(const Cpus& other) const {
  Cpus both;
  CPU_AND(&both.set_, &set_, &other.set_);
  return both;
}

void Cpus::ApplyToThisThread() const {
  if (!empty()) (void)::sched_setaffinity(0, sizeof set_, &set_);
}

}  // namespace denselet::reactor
