// How long the work of a pod worker may take, and how long it waits after a failure. For the files
// of the worker.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/result.h"
#include "base/time.h"

namespace denselet::sync {

inline constexpr Duration kWorkLimit = Minutes(2);   // of prepare, mount, release
inline constexpr Duration kLogsLimit = Seconds(10);  // of one container's logs to go
// An eviction may be what makes room on a disk that is full: the journal is not waited for longer.
inline constexpr Duration kEndRecordLimit = Seconds(5);
inline constexpr Duration kWorkPauseMin = Seconds(1);
inline constexpr Duration kWorkPauseMax = Seconds(30);

inline Duration Pause(uint32_t failures) {
  return std::min(kWorkPauseMin * (1 << std::min<uint32_t>(failures, 10)), kWorkPauseMax);
}

template <class T>
Status ToStatus(const Result<T>& result) {
  if (result) return Ok();
  return result.error();
}

}  // namespace denselet::sync
