// Names of those who sign certificates, and of the bundles of trust that they publish.
#pragma once

#include <string>

#include "kube/api/validation/fault_list.h"
#include "kube/api/validation/names.h"

namespace denselet::kube {

// "example.com/signer"
void ValidateSignerName(const std::string& name, const FieldPath& path, FaultList& out);
bool IsKubernetesSigner(const std::string& name);

// "example.com:signer:bundle", or without a signer "bundle".
NameFaults CheckTrustBundleName(const std::string& name);

}  // namespace denselet::kube
