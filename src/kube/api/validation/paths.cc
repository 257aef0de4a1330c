#include "kube/api/validation/paths.h"

#include <algorithm>

#include "kube/api/validation/names.h"

namespace denselet::kube {

bool HasStepUp(const std::string& file) {
  return std::ranges::any_of(Split(file, '/'), [](auto part) { return part == ".."; });
}

void ValidateNoStepUp(const std::string& file, const FieldPath& path, FaultList& out) {
  if (HasStepUp(file)) out.Invalid(path, file, "must not contain '..'");
}

void ValidateDescendingPath(const std::string& file, const FieldPath& path, FaultList& out) {
  if (file.starts_with('/')) out.Invalid(path, file, "must be a relative path");
  ValidateNoStepUp(file, path, out);
}

void ValidateUnreservedPath(const std::string& file, const FieldPath& path, FaultList& out) {
  ValidateDescendingPath(file, path, out);
  if (file.starts_with("..") && !file.starts_with("../")) {
    out.Invalid(path, file, "must not start with '..'");
  }
}

void ValidateFileMode(int32_t mode, const FieldPath& path, FaultList& out) {
  if (mode >= 0 && mode <= 0777) return;
  out.Invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

}  // namespace denselet::kube
