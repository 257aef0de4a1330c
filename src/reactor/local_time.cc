#include "reactor/local_time.h"

#include <chrono>
#include <ctime>

namespace denselet::reactor {

Seconds UtcOffset(WallTime at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
  const auto time = static_cast<time_t>(seconds);
  struct tm local {};
  if (::localtime_r(&time, &local) == nullptr) return Seconds(0);
  return Seconds(local.tm_gmtoff);
}

}  // namespace denselet::reactor
