// A decision about a pod in the journal: what was decided, and of what it took account, so that
// after a restart it is adopted and never made again.
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
#include "sync/admission/pod_needs.h"
#include "sync/ports/admission.h"

namespace denselet::sync {

inline constexpr uint16_t kAdmissionRecordVersion = 1;

struct AdmissionRecord {
  PodNeeds needs = {};
  std::optional<Rejection> rejected = {};  // none: admitted
  WallTime decided = {};

  friend bool operator==(const AdmissionRecord&, const AdmissionRecord&) = default;
};

std::string EncodeAdmission(const AdmissionRecord& record);
// kCorrupt: it is none.
Result<AdmissionRecord> DecodeAdmission(std::string_view payload);

// The pod is gone, and its decision with it.
std::string EncodeAdmissionGone(const PodUid& pod);
Result<PodUid> DecodeAdmissionGone(std::string_view payload);

}  // namespace denselet::sync
