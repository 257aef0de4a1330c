// Who has which type of record. A number is given once and never again.
#pragma once

#include <cstdint>

namespace denselet::sync {

enum class JournalType : uint16_t {
  kAdmission = 1,      // sync/admission/admission_record.h
  kAdmissionGone = 2,  // of the same
  kPodEnd = 3,         // sync/admission/end_record.h
  kPodEndGone = 4,     // of the same
};

}  // namespace denselet::sync
