// What the text behind a flag means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/flags/flag_table.h"
#include "base/result.h"
#include "base/time.h"

namespace denselet::app {

// In the order in which they were written.
struct TextPairs {
  std::vector<std::pair<std::string, std::string>> pairs;
};
struct SwitchPairs {
  std::vector<std::pair<std::string, bool>> pairs;
};

struct TaintText {
  std::string key;
  std::string value;
  std::string effect;
};

struct MemoryReservationText {
  int32_t numa_node = 0;
  std::map<std::string, std::string> limits;  // resource to quantity, in the form it is kept in
};

struct FileVerbosity {
  std::string pattern;
  uint32_t level = 0;
};

using FlagValue = std::variant<std::string, bool, int64_t, Duration, std::vector<std::string>,
                               TextPairs, SwitchPairs, std::vector<TaintText>,
                               std::vector<MemoryReservationText>, std::vector<FileVerbosity>>;

// Of denselet's own: more threads than that nobody has CPUs for.
inline constexpr uint32_t kShardsMax = 1024;

// Errors are what the kubelet's own parser says; of denselet's own flags, what is wanted instead.
Result<FlagValue> ParseFlagValue(FlagType type, std::string_view text);

// For flag_value.cc alone: the forms that are made of several parts.
Result<FlagValue> ParseTextPairs(std::string_view text, char separator);
Result<FlagValue> ParseOnePair(std::string_view text);
Result<FlagValue> ParseSwitches(std::string_view text);
FlagValue ParseLabels(std::string_view text);
Result<FlagValue> ParseTaints(std::string_view text);
Result<FlagValue> ParseReservedMemory(std::string_view text);
Result<FlagValue> ParseVmodule(std::string_view text);

}  // namespace denselet::app
