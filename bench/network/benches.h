// The parts of ./dev bench network. Each measures ours and its reference in turns within one run,
// several rounds, and reports the medians. Two CPUs: what is measured has the first one that the
// process may use, its peer the last.
#pragma once

#include "bench/report.h"

namespace denselet::bench {

void BenchHttp1Server(Report& report);
void BenchClientLoop(Report& report);
void BenchHttp2Client(Report& report);
void BenchAccept(Report& report);
void BenchIdleConnections(Report& report);

// The other side of BenchIdleConnections, a process of its own: opens `count` connections to the
// HTTP server at `address`, asks once on each, says so by a line on its output, and keeps them
// until its input ends.
int HoldConnections(const std::string& address, int count);

// That of BenchAccept: opens them, says so, and keeps them until its input ends.
int OpenConnections(const std::string& address, int count);

}  // namespace denselet::bench
