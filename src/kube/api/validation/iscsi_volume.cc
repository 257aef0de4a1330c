#include <algorithm>

#include "kube/api/validation/names.h"
#include "kube/api/validation/network_volumes.h"

namespace denselet::kube {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "iqn.2001-04.com.example:disk", also behind something else.
bool IsIqnAt(std::string_view text) {
  constexpr std::string_view kShape = "iqn.dddd-dd.";
  if (text.size() < kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    // The d of the shape are digits; its "iqn" has none.
    if (kShape[i] == 'd' ? !IsDigit(text[i]) : text[i] != kShape[i]) return false;
  }
  text.remove_prefix(kShape.size());
  const size_t colon = text.find(':');
  if (colon == text.npos || colon == 0) return false;
  const std::string_view name = text.substr(colon + 1);
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return IsAlphanumeric(c) || c == '-' || c == '.'; }) &&
         !name.empty() && name.find_first_of(",;*&$| \t\n\f\r") == name.npos;
}

bool IsIqn(std::string_view text) {
  for (size_t at = text.find("iqn."); at != text.npos; at = text.find("iqn.", at + 1)) {
    if (IsIqnAt(text.substr(at))) return true;
  }
  return false;
}

// A type, any character, and so many letters and digits.
bool IsHexName(std::string_view text, size_t digits) {
  constexpr size_t kPrefix = 4;
  return text.size() == kPrefix + digits && text[3] != '\n' &&
         std::ranges::all_of(text.substr(kPrefix), IsAlphanumeric);
}

void ValidateName(const std::string& name, const FieldPath& path, FaultList& out) {
  constexpr size_t kEuiDigits = 16;
  constexpr size_t kNaaDigits = 32;
  const bool iqn = name.starts_with("iqn");
  const bool eui = name.starts_with("eui");
  const bool naa = name.starts_with("naa");
  if (!iqn && !eui && !naa) {
    return out.Invalid(path, name, "must be valid format starting with iqn, eui, or naa");
  }
  const bool fits = (iqn && IsIqn(name)) || (eui && IsHexName(name, kEuiDigits)) ||
                    (naa && IsHexName(name, kNaaDigits));
  if (!fits) out.Invalid(path, name, "must be valid format");
}

}  // namespace

void ValidateIscsi(const core::ISCSIVolumeSource& source, const FieldPath& path, FaultList& out) {
  if (source.targetportal().empty()) out.Required(path / "targetPortal");
  if (source.iqn().empty()) {
    out.Required(path / "iqn");
  } else {
    ValidateName(source.iqn(), path / "iqn", out);
  }
  if (source.lun() < 0 || source.lun() > 255) {
    out.Invalid(path / "lun", source.lun(), OutOfRange(0, 255));
  }
  if ((source.chapauthdiscovery() || source.chapauthsession()) && !source.has_secretref()) {
    out.Required(path / "secretRef");
  }
  if (source.has_initiatorname()) {
    ValidateName(source.initiatorname(), path / "initiatorname", out);
  }
}

void ValidateIscsiName(const core::ISCSIVolumeSource& source, const std::string& volume,
                       const FieldPath& volume_path, FaultList& out) {
  constexpr size_t kInterfaceSizeMax = 64;
  if (!source.has_initiatorname()) return;
  if (volume.size() + 1 + source.targetportal().size() <= kInterfaceSizeMax) return;
  out.Invalid(volume_path / "name", volume,
              "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
              "iscsi.initiatorName is specified.");
}

}  // namespace denselet::kube
