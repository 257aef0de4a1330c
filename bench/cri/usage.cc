#include "bench/cri/usage.h"

#include <sys/resource.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "base/check.h"

namespace {

thread_local uint64_t allocations = 0;

}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace denselet::bench {

namespace {

double SecondsOf(const rusage& usage) {
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace

double CpuSeconds() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  return SecondsOf(usage);
}

double ThreadCpuSeconds() {
  timespec time{};
  CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

long PeakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    long kibibytes = 0;
    status >> kibibytes;
    return kibibytes << 10;
  }
  CHECK(false);
  return 0;
}

uint64_t Allocations() { return allocations; }

}  // namespace denselet::bench
