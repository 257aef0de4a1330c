#include "sync/admission/end_record.h"

#include "sync/journal/record_fields.h"

namespace denselet::sync {
namespace {

// Given once, and never again.
enum class Tag : uint8_t {
  kUid = 1,
  kNamespace = 2,
  kName = 3,
  kReason = 4,   // u8
  kOutcome = 5,  // u8; none: what its containers say
  kStatusReason = 6,
  kStatusMessage = 7,
  kDisruption = 8,
  kGrace = 9,     // u64
  kDecided = 10,  // u64, nanoseconds since 1970
};

// As they stand in files, whatever the enumerations become.
constexpr uint8_t kKilled = 1, kDeadline = 2;
constexpr uint8_t kSucceeded = 1, kFailed = 2;

bool TakeReason(std::string_view value, EndReason& out) {
  uint8_t byte = 0;
  if (!TakeNumber(value, byte)) return false;
  out = byte == kDeadline ? EndReason::kDeadline : EndReason::kKilled;
  return byte == kKilled || byte == kDeadline;
}

bool TakeOutcome(std::string_view value, std::optional<PodOutcome>& out) {
  uint8_t byte = 0;
  if (!TakeNumber(value, byte)) return false;
  out = byte == kSucceeded ? PodOutcome::kSucceeded : PodOutcome::kFailed;
  return byte == kSucceeded || byte == kFailed;
}

bool Take(Tag tag, std::string_view value, EndRecord& record, bool& has_reason) {
  uint64_t number = 0;
  switch (tag) {
    case Tag::kUid:
      record.pod.uid = PodUid(std::string(value));
      return true;
    case Tag::kNamespace:
      record.pod.ref.ns = value;
      return true;
    case Tag::kName:
      record.pod.ref.name = value;
      return true;
    case Tag::kReason:
      has_reason = true;
      return TakeReason(value, record.ending.reason);
    case Tag::kOutcome:
      return TakeOutcome(value, record.ending.outcome);
    case Tag::kStatusReason:
      record.ending.status_reason = value;
      return true;
    case Tag::kStatusMessage:
      record.ending.status_message = value;
      return true;
    case Tag::kDisruption:
      record.ending.disruption = value;
      return true;
    case Tag::kGrace:
      if (!TakeNumber(value, number)) return false;
      record.grace_seconds = static_cast<int64_t>(number);
      return true;
    case Tag::kDecided:
      if (!TakeNumber(value, number)) return false;
      record.decided = WallTime(Duration(static_cast<int64_t>(number)));
      return true;
  }
  return true;  // of a later agent
}

}  // namespace

std::string EncodeEnd(const EndRecord& record) {
  const Ending& ending = record.ending;
  FieldWriter<Tag> out;
  out.Text(Tag::kUid, record.pod.uid.value());
  out.Text(Tag::kNamespace, record.pod.ref.ns);
  out.Text(Tag::kName, record.pod.ref.name);
  out.Number(Tag::kReason, ending.reason == EndReason::kDeadline ? kDeadline : kKilled);
  if (ending.outcome) {
    out.Number(Tag::kOutcome, *ending.outcome == PodOutcome::kSucceeded ? kSucceeded : kFailed);
  }
  if (!ending.status_reason.empty()) out.Text(Tag::kStatusReason, ending.status_reason);
  if (!ending.status_message.empty()) out.Text(Tag::kStatusMessage, ending.status_message);
  if (!ending.disruption.empty()) out.Text(Tag::kDisruption, ending.disruption);
  if (record.grace_seconds) out.Number(Tag::kGrace, static_cast<uint64_t>(*record.grace_seconds));
  out.Number(Tag::kDecided, static_cast<uint64_t>(record.decided.time_since_epoch().count()));
  return out.Take();
}

Result<EndRecord> DecodeEnd(std::string_view payload) {
  EndRecord record;
  bool has_reason = false;
  const bool whole = ReadFields<Tag>(payload, [&](Tag tag, std::string_view value) {
    return Take(tag, value, record, has_reason);
  });
  if (!whole || record.pod.uid.empty() || !has_reason) {
    return Error(ErrorCode::kCorrupt, "not the record of a pod that ends");
  }
  return record;
}

std::string EncodeEndGone(const PodUid& pod) {
  FieldWriter<Tag> out;
  out.Text(Tag::kUid, pod.value());
  return out.Take();
}

Result<PodUid> DecodeEndGone(std::string_view payload) {
  PodUid pod;
  const bool whole = ReadFields<Tag>(payload, [&pod](Tag tag, std::string_view value) {
    if (tag == Tag::kUid) pod = PodUid(std::string(value));
    return true;
  });
  if (!whole || pod.empty()) return Error(ErrorCode::kCorrupt, "not the record of a pod's end");
  return pod;
}

}  // namespace denselet::sync
