#include "reactor/cpus.h"

namespace denselet::reactor {

Cpus Cpus::OfThisThread() {
  Cpus cpus;
  // Fails on machines with more CPUs than a cpu_set_t has: then pinning is left as it is.
  if (::sched_getaffinity(0, sizeof cpus.set_, &cpus.set_) != 0) return {};
  return cpus;
}

void Cpus::ApplyToThisThread() const {
  if (CPU_COUNT(&set_) != 0) (void)::sched_setaffinity(0, sizeof set_, &set_);
}

}  // namespace denselet::reactor
