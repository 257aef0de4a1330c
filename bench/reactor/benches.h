// The parts of ./dev bench reactor. Each measures ours and its reference in turns within one run,
// several rounds, and reports the medians.
#pragma once

#include "bench/report.h"

namespace denselet::bench {

void BenchPost(Report& report);
void BenchTimers(Report& report);
void BenchCgroupReads(Report& report);
void BenchIdle(Report& report);

}  // namespace denselet::bench
