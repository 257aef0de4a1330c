#include "app/local_api/journal_json.h"

namespace denselet::app {
namespace {

std::string_view StageName(sync::JournalState::Stage stage) {
  using Stage = sync::JournalState::Stage;
  switch (stage) {
    case Stage::kClosed:
      return "closed";
    case Stage::kOpening:
      return "opening";
    case Stage::kIdle:
      return "idle";
    case Stage::kWriting:
      return "writing";
    case Stage::kPausing:
      return "pausing";
  }
  return "";
}

}  // namespace

void AppendJournal(const sync::JournalReport& opening, const sync::JournalState& state,
                   uint64_t not_understood, const Moment& moment, std::string& out) {
  JsonObject journal(out);
  journal.Text("state", StageName(state.stage));
  AddTime(journal, "since", state.since, moment);
  journal.Number("failures", state.failures);
  if (state.last_error) journal.Text("lastError", state.last_error->message());
  if (state.compaction_error) journal.Text("compactionError", state.compaction_error->message());
  journal.Number("pendingRecords", state.pending_records);
  journal.Number("pendingBytes", state.pending_bytes);
  journal.Number("files", state.files);
  journal.Number("bytes", state.bytes);
  journal.Number("recordsNotUnderstood", not_understood);
  journal.Number("foreignRecords", opening.foreign_records);
  journal.Number("foreignRecordsDropped", state.foreign_dropped);
  journal.Number("damages", opening.troubles.size() + opening.troubles_not_kept);
  JsonList list(journal.Key("damagedFiles"));
  for (const sync::JournalTrouble& trouble : opening.troubles) {
    JsonObject entry(list.Next());
    entry.Text("file", trouble.file);
    entry.Text("reason", trouble.reason.message());
  }
}

}  // namespace denselet::app
