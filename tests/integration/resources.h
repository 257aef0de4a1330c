// What the process holds, for tests that must leave nothing behind.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace denselet::reactor {

inline size_t OpenDescriptors() {
  const std::filesystem::directory_iterator begin("/proc/self/fd"), end;
  return static_cast<size_t>(std::distance(begin, end));
}

// Of malloc, in all threads. Under a sanitizer this is 0; it looks for leaks itself.
inline size_t BytesInUse() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// What may be more in use after the second of two equal rounds: far below a word for each operation
// of a stress test, and above what queues and caches differ by.
inline constexpr size_t kKeptBytesMax = 64 << 10;

}  // namespace denselet::reactor
