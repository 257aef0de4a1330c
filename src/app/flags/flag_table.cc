#include "app/flags/flag_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "app/flags/flag_table_text.h"
#include "app/flags/text.h"
#include "base/check.h"

namespace denselet::app {
namespace {

struct TypeRow {
  FlagType type;
  std::string_view word;  // in flag_table.txt
  std::string_view name;  // in --help
};

constexpr std::array kTypes = {
    TypeRow{FlagType::kString, "string", "string"},
    TypeRow{FlagType::kBool, "bool", ""},
    TypeRow{FlagType::kInt32, "int32", "int32"},
    TypeRow{FlagType::kInt64, "int64", "int"},
    TypeRow{FlagType::kLevel, "level", "Level"},
    TypeRow{FlagType::kDuration, "duration", "duration"},
    TypeRow{FlagType::kIp, "ip", "ip"},
    TypeRow{FlagType::kQuantity, "quantity", "quantity"},
    TypeRow{FlagType::kStrings, "strings", "strings"},
    TypeRow{FlagType::kPairs, "pairs", "mapStringString"},
    TypeRow{FlagType::kPair, "pair", "mapStringString"},
    TypeRow{FlagType::kSwitches, "switches", "mapStringBool"},
    TypeRow{FlagType::kThresholds, "thresholds", "mapStringString"},
    TypeRow{FlagType::kHeaders, "headers", "colonSeparatedMultimapStringString"},
    TypeRow{FlagType::kLabels, "labels", "mapStringString"},
    TypeRow{FlagType::kTaints, "taints", "[]v1.Taint"},
    TypeRow{FlagType::kReservedMemory, "reserved-memory", "reserved-memory"},
    TypeRow{FlagType::kVmodule, "vmodule", "pattern=N,..."},
    TypeRow{FlagType::kVersion, "version", "version"},
    TypeRow{FlagType::kGoBool, "go-bool", ""},
    TypeRow{FlagType::kGoInt, "go-int", "int"},
    TypeRow{FlagType::kGoDuration, "go-duration", "duration"},
    TypeRow{FlagType::kCount, "count", "int"},
    TypeRow{FlagType::kPeriod, "period", "duration"},
    TypeRow{FlagType::kReactor, "reactor", "string"},
    TypeRow{FlagType::kOutput, "output", "string"},
};

FlagType TypeOfWord(std::string_view word) {
  const auto at = std::ranges::find(kTypes, word, &TypeRow::word);
  CHECK(at != kTypes.end());
  return at->type;
}

std::string Deprecation(std::string_view cell, std::string_view field) {
  if (cell == "-") return {};
  if (cell == "field") {
    return "set " + std::string(field) + " in the file given by --config instead";
  }
  if (cell == "cadvisor") return "it came from cAdvisor by mistake and will be removed";
  return std::string(cell);
}

FlagSpec ReadFlag(std::string_view line, std::string_view group) {
  const auto cell = [&line] { return Trimmed(TakeUntil(line, '|')); };
  FlagSpec flag;
  flag.group = group;
  std::string_view letter = cell();
  flag.name = TakeUntil(letter, ',');
  flag.letter = letter.empty() ? '\0' : letter.front();
  flag.type = TypeOfWord(cell());
  flag.default_text = cell();
  flag.field = cell();
  flag.deprecation = Deprecation(cell(), flag.field);
  flag.meaning = Trimmed(line);
  CHECK(!flag.meaning.empty());
  return flag;
}

std::vector<FlagSpec> ReadFlags() {
  std::vector<FlagSpec> flags;
  std::string_view group;
  for (std::string_view text = kFlagTable; !text.empty();) {
    std::string_view line = TakeUntil(text, '\n');
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      group = line.substr(1, line.size() - 2);
    } else {
      flags.push_back(ReadFlag(line, group));
    }
  }
  return flags;
}

std::map<std::string_view, const FlagSpec*> ByName() {
  std::map<std::string_view, const FlagSpec*> flags;
  for (const FlagSpec& flag : AllFlags()) CHECK(flags.emplace(flag.name, &flag).second);
  return flags;
}

}  // namespace

std::string_view FlagSpec::WithoutValue() const {
  const bool may_stand_alone =
      type == FlagType::kBool || type == FlagType::kGoBool || type == FlagType::kVersion;
  return may_stand_alone ? "true" : "";
}

std::span<const FlagSpec> AllFlags() {
  static const std::vector<FlagSpec> flags = ReadFlags();
  return flags;
}

const FlagSpec* FindFlag(std::string_view name) {
  static const auto flags = ByName();
  std::string normal(name);
  std::ranges::replace(normal, '_', '-');
  const auto at = flags.find(normal);
  return at == flags.end() ? nullptr : at->second;
}

const FlagSpec* FindFlagByLetter(char letter) {
  const auto flags = AllFlags();
  const auto at = std::ranges::find(flags, letter, &FlagSpec::letter);
  return letter == 0 || at == flags.end() ? nullptr : &*at;
}

std::string_view TypeName(FlagType type) {
  return std::ranges::find(kTypes, type, &TypeRow::type)->name;
}

}  // namespace denselet::app
