// Where a thread may run. A thread or process is born with its maker's CPUs; what a pinned shard
// starts must get back those of the process.
#pragma once

#include <sched.h>

#include <span>

namespace denselet::reactor {

class Cpus {
 public:
  // None: may run nowhere in particular, and applying it does nothing.
  Cpus() { CPU_ZERO(&set_); }
  static Cpus OfThisThread();
  static Cpus Of(std::span<const int> numbers);

  // A wish: CPUs come and go, and so does the permission to use them.
  void ApplyToThisThread() const;

  // Those of both.
  Cpus And(const Cpus& other) const;
  bool empty() const { return CPU_COUNT(&set_) == 0; }

  friend bool operator==(const Cpus& a, const Cpus& b) { return CPU_EQUAL(&a.set_, &b.set_); }

 private:
  cpu_set_t set_;
};

// The calling thread may run on others while this lives; afterwards where it could before.
class ScopedCpus {
 public:
  explicit ScopedCpus(const Cpus& cpus) : before_(Cpus::OfThisThread()), changed_(before_ != cpus) {
    if (changed_) cpus.ApplyToThisThread();
  }
  ~ScopedCpus() {
    if (changed_) before_.ApplyToThisThread();
  }
  ScopedCpus(const ScopedCpus&) = delete;
  ScopedCpus& operator=(const ScopedCpus&) = delete;

 private:
  const Cpus before_;
  const bool changed_;
};

}  // namespace denselet::reactor
