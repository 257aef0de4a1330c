// What the command line asks for, read as the kubelet reads it (Go's pflag): --name=value, --name
// value, -v4, underscores for dashes, flags and other words in any order, -- at the end of flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace denselet::app {

enum class Command : uint8_t {
  kRun,
  kHelp,
  kConfigHelp,   // denselet config --help
  kVersion,      // one line, as kubeadm's preflight parses it: "Kubernetes v1.36.3"
  kVersionRaw,   // everything about this build
  kConfigCheck,  // denselet config check FILE...
  kConfigPrint,  // denselet config print
};

struct FlagUse {
  std::string name;  // with dashes, without those in front of it
  std::string value;

  friend bool operator==(const FlagUse&, const FlagUse&) = default;
};

struct ParsedFlags {
  Command command = Command::kRun;
  std::vector<std::string> files;  // of `config check`
  std::vector<FlagUse> uses;       // in the order of the command line; their values are valid

  // Names are those of flag_table.txt: any other is a CHECK.
  bool Has(std::string_view name) const;
  // The last value given, or the table's default.
  std::string Text(std::string_view name) const;
  // All values given, in order.
  std::vector<std::string_view> Texts(std::string_view name) const;

  // Of flags of that type.
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  Duration Period(std::string_view name) const;

  std::map<std::string, std::string> NodeLabels() const;
  // The release that we stand in for, or what --version=v... puts in its place.
  std::string KubernetesVersion() const;
};

struct FlagResult {
  ParsedFlags flags;
  std::vector<std::string> errors;    // all of them; with any, `flags` is not to be acted on
  std::vector<std::string> warnings;  // of deprecated flags, one a use
};

// `args` without the program's name.
FlagResult ParseFlags(std::span<const char* const> args);

// Lines of at most that many columns where words allow; 0: as long as they are.
std::string HelpText(size_t columns);
// Of `denselet config` alone.
std::string ConfigHelpText();

}  // namespace denselet::app
