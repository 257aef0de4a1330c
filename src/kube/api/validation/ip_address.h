// IP addresses in pods: of nameservers and of host aliases.
#pragma once

#include <string>

#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateIpAddress(const std::string& text, const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
