// Part of every program that has mimalloc (denselet_program). A list of all pods frees some
// megabytes that the next one takes again, a second later where the runtime has no events: giving
// them back to the kernel in between, after 25 ms unless told, was a quarter of the CPU of a list.
#include <mimalloc.h>

namespace {

constexpr long kKeepMilliseconds = 2000;

[[maybe_unused]] const bool set = [] {
#if MI_MALLOC_VERSION >= 211
  mi_option_set(mi_option_purge_delay, kKeepMilliseconds);
#else
  mi_option_set(mi_option_decommit_delay, kKeepMilliseconds);
#endif
  return true;
}();

}  // namespace
