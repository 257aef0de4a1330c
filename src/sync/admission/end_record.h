// In the journal: that a pod ends for good, because the node or its deadline says so. Nothing else
// outlives the agent that would tell the next one, until the API server knows.
//
// Of fields (journal/record_fields.h). The version is raised only when an older agent would misread
// the record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "sync/decide/pod_state.h"

namespace denselet::sync {

inline constexpr uint16_t kEndRecordVersion = 1;

struct EndRecord {
  PodIdentity pod = {};
  Ending ending = {};
  std::optional<int64_t> grace_seconds = {};  // that was asked for; none: the pod's own
  WallTime decided = {};
  bool from_journal = false;  // not a part of it: an agent before this one decided it

  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

std::string EncodeEnd(const EndRecord& record);
// kCorrupt: it is none.
Result<EndRecord> DecodeEnd(std::string_view payload);

// The pod is gone, and its end with it.
std::string EncodeEndGone(const PodUid& pod);
Result<PodUid> DecodeEndGone(std::string_view payload);

}  // namespace denselet::sync
