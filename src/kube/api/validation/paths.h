// Paths of files that a pod names: they must not lead out of where they begin.
#pragma once

#include <string>

#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

// No "..".
bool HasStepUp(const std::string& file);
void ValidateNoStepUp(const std::string& file, const FieldPath& path, FaultList& out);
// Relative, and no "..".
void ValidateDescendingPath(const std::string& file, const FieldPath& path, FaultList& out);
// And no name that begins with "..", which volumes use for themselves.
void ValidateUnreservedPath(const std::string& file, const FieldPath& path, FaultList& out);
// Permissions of a file: 0 to 0777.
void ValidateFileMode(int32_t mode, const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
