#include "kube/api/fault.h"

namespace denselet::kube {

std::string ToString(const Fault& fault) {
  std::string text;
  if (fault.line > 0) text.append("line ").append(std::to_string(fault.line)).append(": ");
  if (!fault.path.empty()) text.append(fault.path).append(": ");
  return text.append(fault.message);
}

Status ToStatus(std::span<const Fault> faults) {
  if (faults.empty()) return Ok();
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += "; ";
    text += ToString(fault);
  }
  return Error(ErrorCode::kInvalid, std::move(text));
}

}  // namespace denselet::kube
