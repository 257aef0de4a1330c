// Gives back what a burst of work has left: memory that the allocator keeps in case of the next
// one. Where the allocator is not jemalloc (tests, sanitizers), it does nothing.
#pragma once

#include "base/time.h"

namespace denselet::reactor {

// What the calling thread keeps for itself, to the common store.
void EmptyThreadCache();
// Any thread: free pages of the common store, to the kernel.
void ReturnFreePages();

// CPU time that this process has used.
Duration CpuTimeUsed();

}  // namespace denselet::reactor
