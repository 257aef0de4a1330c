// Every flag of the command line: the kubelet's, as docs/compat/config.md lists them, and our own.
// The table is flag_table.txt.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace denselet::app {

// How a value is read. Where two differ only in what they say of a bad value, that is because the
// kubelet's come from two libraries.
enum class FlagType : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kLevel,  // of logging, from 0
  kDuration,
  kIp,
  kQuantity,
  kStrings,         // a,b; later uses append
  kPairs,           // k=v,k=v; later uses add
  kPair,            // k=v, one a use
  kSwitches,        // k=true,k=false
  kThresholds,      // k<v,k<v
  kHeaders,         // k:v,k:v; a key may come several times
  kLabels,          // k=v,k
  kTaints,          // k=v:effect,k:effect; the last use counts
  kReservedMemory,  // 0:memory=1Gi,hugepages-1M=2Gi;1:memory=2Gi
  kVmodule,         // pattern=N,pattern=N
  kVersion,
  kGoBool,
  kGoInt,
  kGoDuration,
  kCount,   // a number above zero
  kPeriod,  // a duration above zero
  kReactor,
  kOutput,  // yaml or json
};

struct FlagSpec {
  std::string_view group;  // the heading it stands under in --help
  std::string_view name;
  char letter = 0;  // of its short form, or 0
  FlagType type = FlagType::kString;
  std::string_view default_text;  // as --help shows it
  std::string_view field;         // path in KubeletConfiguration, or nothing
  std::string deprecation;        // what to use instead; empty: it is not deprecated
  std::string_view meaning;

  // What `--name` without a value stands for; nothing: a value must follow.
  std::string_view WithoutValue() const;
  // The kubelet does not have it.
  bool IsOwn() const { return name.starts_with("denselet-") || type == FlagType::kOutput; }
};

// By group, in the order of --help.
std::span<const FlagSpec> AllFlags();

// By name; underscores are as good as dashes. Null where there is none.
const FlagSpec* FindFlag(std::string_view name);
const FlagSpec* FindFlagByLetter(char letter);

// As --help calls the type, which is as the kubelet's does: "mapStringString"; nothing for a bool.
std::string_view TypeName(FlagType type);

}  // namespace denselet::app
