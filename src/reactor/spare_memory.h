// Gives back what a burst of work has left: memory that the allocator keeps in case of the next
// one, and pages of the program that were needed for it. Where the allocator is not jemalloc
// (tests, sanitizers), the allocator's part does nothing.
#pragma once

#include "base/time.h"

namespace denselet::reactor {

// What the calling thread keeps for itself, to the common store.
void EmptyThreadCache();
// Any thread: free pages of the common store, to the kernel.
void ReturnFreePages();

// Any thread: takes the pages of the program and its libraries out of our page table. What is used
// comes back with the next access, from the page cache and 64 KiB at a time; what only the start or
// a burst needed does not, and is the kernel's to keep or to drop. What the loader has written
// stays; break points that a debugger or a uprobe has put into the program are lost.
void UnmapProgram();

// CPU time that this process has used.
Duration CpuTimeUsed();

}  // namespace denselet::reactor
