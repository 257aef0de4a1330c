// What `./dev bench cri` measures; each adds its rows to the report.
#pragma once

#include <string>

#include "bench/report.h"

namespace denselet::bench {

// The programs beside this one.
struct CriPeers {
  std::string own;      // this one, run again for a part of the work
  std::string cri_sim;  // a runtime to list
  std::string go;       // the list in Go; empty: there is no Go here
};

// A full list by bytes, and whole: against plain protobuf and against Go's gRPC.
void BenchList(const CriPeers& peers, size_t pods, Report& report);
void BenchEvents(const CriPeers& peers, Report& report);
void BenchUnary(const CriPeers& peers, Report& report);

// The parts that are processes of their own. Each prints what it took.
int ListMany(const std::string& socket, const std::string& form, size_t rounds, size_t pods);
int DrainEvents(const std::string& socket, size_t events);
int CallMany(const std::string& socket, size_t calls, size_t at_once);
int CallManyBare(const std::string& socket, size_t calls, size_t at_once);
int CallManyHop(const std::string& socket, size_t calls, size_t at_once);
// A server of events and of Version as fast as gRPC lets it be; until it is ended.
int ServeFast(const std::string& socket, size_t events);

}  // namespace denselet::bench
