// Which pods end for good, as the journal has it: decided by the node or by their deadline, and to
// be kept to by every agent that comes after, until the pod is gone.
//
//   Record --> JournalLine --> durable: now the pod's containers may be stopped, and what it had
//   given away
//
// Owned by the admission desk, whose decisions are written behind these. Bounded by the number of
// pods: one record each.
#pragma once

#include <map>
#include <vector>

#include "base/log.h"
#include "base/unique_function.h"
#include "sync/admission/end_record.h"
#include "sync/journal/journal_line.h"

namespace denselet::sync {

class EndedPods {
 public:
  EndedPods(const Logger& log, JournalLine& line) : log_(log), line_(line) {}
  EndedPods(const EndedPods&) = delete;
  EndedPods& operator=(const EndedPods&) = delete;

  // `durable` is called when an end of the pod is, at once if it is already. The first one counts.
  void Record(const EndRecord& record, UniqueFunction<void()> durable = nullptr);
  // Null: it does not end, as far as is known here.
  const EndRecord* Find(const PodUid& pod) const;
  bool IsDurable(const PodUid& pod) const;
  std::vector<PodUid> Pods() const;
  // It is gone; what comes under its uid is another one.
  void Forget(const PodUid& pod);

  // Of the journal. False: not understood.
  bool OnEnd(std::string_view payload);
  bool OnEndGone(std::string_view payload);
  void WriteLive(JournalSnapshot& out) const;

  struct Faults {
    bool forget_records = false;  // what the journal tells of ends is not kept
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  struct Entry {
    EndRecord record = {};
    uint64_t generation = 0;  // a late word about a former pod of this uid finds nobody
    bool durable = false;
    std::vector<UniqueFunction<void()>> waiting = {};
  };

  void OnDurable(const PodUid& pod, uint64_t generation);

  const Logger log_;
  JournalLine& line_;
  std::map<PodUid, Entry> entries_;
  uint64_t next_generation_ = 1;
  Faults faults_;
};

}  // namespace denselet::sync
