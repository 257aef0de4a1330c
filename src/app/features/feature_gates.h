// Which features are on: the defaults of the release, and what an operator asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/gate_table.h"
#include "kube/api/fault.h"

namespace denselet::app {

// What flags and files together say, by name.
using GateSettings = std::map<std::string, bool, std::less<>>;

struct GateState {
  std::string_view name;
  GateStage stage;
  bool enabled;
};

// A plain value: made once at start, then only read, on any thread.
class FeatureGates {
 public:
  // All at their defaults.
  FeatureGates();

  struct Report {
    std::vector<kube::Fault> faults;    // all of them; with any, nothing was set
    std::vector<std::string> warnings;  // settings that will not be understood for ever
  };

  // From the defaults, whatever was set before. AllAlpha and AllBeta hold for gates of that stage
  // that are not set by name.
  Report Set(const GateSettings& settings);

  // Of a gate that exists: asking for another one is a CHECK.
  bool Enabled(std::string_view name) const;

  // Sorted by name.
  std::vector<GateState> All() const;

 private:
  std::vector<bool> enabled_;  // in the order of AllGates()
};

// The gates that this version of denselet heeds: whose feature it has, and can switch.
bool IsImplemented(std::string_view gate);

// Of a gate that is on though it lacks others: the settings to which that is owed, the likeliest
// first. Itself, or the one that speaks for its stage, or those by which the others are off.
std::vector<std::string> SettingsBehind(std::string_view gate, const GateSettings& settings);

// What an operator changed from its default, and nothing comes of it, since denselet does not have
// the feature, or cannot switch it: names, sorted. Gates of other components are none of them.
std::vector<std::string> GatesWithoutEffect(const GateSettings& settings);
// Those that somebody set, to whatever, and whose feature is used wherever the runtime has it.
std::vector<std::string> GatesThatTheRuntimeDecides(const GateSettings& settings);

}  // namespace denselet::app
