// CPU time, memory and allocations of this process.
#pragma once

#include <cstdint>

namespace denselet::bench {

double CpuSeconds();        // all threads
double ThreadCpuSeconds();  // the calling one
long PeakBytes();           // the high-water mark of its own memory
// Calls of operator new so far, on the calling thread: whoever links usage.cc counts them.
uint64_t Allocations();

}  // namespace denselet::bench
