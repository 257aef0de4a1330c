// Records whose order counts, on their way into the journal: what it cannot take yet waits here,
// and nothing that is put in line later overtakes it.
//
// Owned by who writes them, on the journal's shard; the journal ends first. Bounded by what its
// owner can have to tell at a time: a few records for each pod.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/loop.h"
#include "sync/journal/journal.h"

namespace denselet::sync {

class JournalLine {
 public:
  JournalLine(reactor::Loop& loop, const Logger& log, Duration retry);
  ~JournalLine();
  JournalLine(const JournalLine&) = delete;
  JournalLine& operator=(const JournalLine&) = delete;

  // The journal is open. Until then all waits.
  void Start(Journal& journal);
  // `durable`, if there is one, as Journal::Append has it. One that the journal will never take is
  // dropped, and that is told in the log.
  void Append(uint16_t type, uint16_t version, std::string payload,
              UniqueFunction<void()> durable = nullptr);
  // Tries to hand over what waits. True: nothing does any more.
  bool Flush();
  size_t size() const { return waiting_.size(); }

 private:
  struct Record {
    uint16_t type;
    uint16_t version;
    std::string payload;
    std::shared_ptr<UniqueFunction<void()>> durable;  // shared with tries that were refused
  };

  reactor::Loop& loop_;
  const Logger log_;
  const Duration retry_;
  Journal* journal_ = nullptr;
  std::deque<Record> waiting_;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::sync
