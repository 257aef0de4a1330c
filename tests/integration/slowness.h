// Time limits of tests that meet the real clock, as long as the build at hand needs.
#pragma once

#include "base/time.h"

// ThreadSanitizer's, where it is linked in. Its macro is not to be asked: what sees gRPC is
// compiled without it.
extern "C" [[gnu::weak]] void __tsan_init();

namespace denselet {

// For limits within which something ordinary has to happen, and for those of a call that hangs: one
// that is too short for both ends calls that do not hang.
inline Duration Patiently(Duration limit) { return __tsan_init != nullptr ? 10 * limit : limit; }

}  // namespace denselet
