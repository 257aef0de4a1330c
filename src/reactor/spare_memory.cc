#include "reactor/spare_memory.h"

#include <sys/resource.h>

#include <cstddef>
#include <string>

// jemalloc's, where it is linked.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value,
                       size_t new_size) __attribute__((weak));

namespace denselet::reactor {
namespace {

constexpr unsigned kAllArenas = 4096;  // MALLCTL_ARENAS_ALL

void Tell(const char* what) {
  if (mallctl != nullptr) mallctl(what, nullptr, nullptr, nullptr, 0);
}

}  // namespace

void EmptyThreadCache() { Tell("thread.tcache.flush"); }

void ReturnFreePages() {
  static const std::string kPurge = "arena." + std::to_string(kAllArenas) + ".purge";
  Tell(kPurge.c_str());
}

Duration CpuTimeUsed() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return Duration(Seconds(time.tv_sec)) + Duration(std::chrono::microseconds(time.tv_usec));
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace denselet::reactor
