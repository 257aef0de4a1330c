// What denselet does with each field. An operator is never left to believe that a setting works.
#pragma once

#include <string>
#include <vector>

#include "app/config/load.h"
#include "app/flags/parsed_flags.h"

namespace denselet::app {

// Paths of fields that somebody set, be it to the default, which they then rely on: the kubelet
// ignores the first (docs/compat/config.md, Lx = N), and so do we; the second show in the node's
// status, and no more; the third we do not have yet.
struct FieldsWithoutEffect {
  std::vector<std::string> dead;
  std::vector<std::string> told;
  std::vector<std::string> missing;
};
FieldsWithoutEffect FindFieldsWithoutEffect(const LoadedConfig& loaded);

// The same of flags that somebody gave and that set no field. With their dashes.
struct FlagsWithoutEffect {
  std::vector<std::string> dead;
  std::vector<std::string> missing;
};
FlagsWithoutEffect FindFlagsWithoutEffect(const ParsedFlags& flags);

// At most one line for each list above, and two for gates.
std::vector<std::string> FieldWarnings(const LoadedConfig& loaded);
std::vector<std::string> FlagWarnings(const ParsedFlags& flags);
// What nobody has to ask for, and is not there.
std::string AbsentDefaults();

// For tests: the names in the lists.
std::vector<std::string> DeadFields();
std::vector<std::string> FieldsWeHave();
std::vector<std::string> FlagsWeHave();

}  // namespace denselet::app
