#include "sync/journal/journal_line.h"

#include <utility>

#include "base/check.h"

namespace denselet::sync {

JournalLine::JournalLine(reactor::Loop& loop, const Logger& log, Duration retry)
    : loop_(loop), log_(log), retry_(retry) {}

JournalLine::~JournalLine() { loop_.Disarm(timer_); }

void JournalLine::Start(Journal& journal) {
  CHECK(journal_ == nullptr);
  journal_ = &journal;
  Flush();
}

void JournalLine::Append(uint16_t type, uint16_t version, std::string payload,
                         UniqueFunction<void()> durable) {
  waiting_.push_back({type, version, std::move(payload),
                      std::make_shared<UniqueFunction<void()>>(std::move(durable))});
  Flush();
}

bool JournalLine::Flush() {
  if (journal_ == nullptr) return waiting_.empty();
  for (; !waiting_.empty(); waiting_.pop_front()) {
    const Record& next = waiting_.front();
    const Status taken =
        journal_->Append(next.type, next.version, next.payload, [durable = next.durable] {
          if (*durable) (*durable)();
        });
    if (taken) continue;
    if (taken.error().code() == ErrorCode::kInvalid) {
      log_.Error(taken.error(), "Could not journal a record",
                 KV("type", static_cast<uint32_t>(next.type)));
      continue;
    }
    loop_.Disarm(timer_);
    timer_ = loop_.Arm(After(loop_.Now(), retry_), [this] { Flush(); });
    return false;
  }
  return true;
}

}  // namespace denselet::sync
