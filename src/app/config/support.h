// What denselet does with each field. An operator is never left to believe that a setting works.
#pragma once

#include <string>
#include <vector>

#include "app/config/load.h"

namespace denselet::app {

// Paths of fields that differ from their default because somebody set them: the kubelet ignores the
// first (docs/compat/config.md, Lx = N), and so do we; the second we do not have yet.
struct FieldsWithoutEffect {
  std::vector<std::string> dead;
  std::vector<std::string> missing;
};
FieldsWithoutEffect FindFieldsWithoutEffect(const LoadedConfig& loaded);

// At most one line for each of them, and one for gates.
std::vector<std::string> SupportWarnings(const LoadedConfig& loaded);

// For tests: the names in the two lists.
std::vector<std::string> DeadFields();
std::vector<std::string> FieldsWeHave();

}  // namespace denselet::app
