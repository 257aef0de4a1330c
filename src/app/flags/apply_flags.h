// Flags that stand for fields of KubeletConfiguration, written into one.
#pragma once

#include <string>
#include <vector>

#include "app/flags/parsed_flags.h"
#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::app {

struct SetField {
  // "authentication.webhook.enabled". Of featureGates, which are merged by name, each that was
  // given: "featureGates.EventedPLEG". Other maps and lists are replaced and named as a whole.
  std::string path;
  std::string flag;

  friend bool operator==(const SetField&, const SetField&) = default;
};

struct AppliedFlags {
  std::vector<SetField> fields;  // in the order of the command line
  std::vector<kube::Fault> faults;
};

// Only flags that were given; they win over what `into` says. A map or list of a flag that is given
// several times is the sum of them. --vmodule is appended to the list there is, and
// --seccomp-default only ever turns the field on: both as the kubelet has it.
AppliedFlags ApplyFlags(const ParsedFlags& flags, kube::config::KubeletConfiguration& into);

// What an agent without a configuration file starts from: more open than the fields' own defaults,
// as its command line always was.
void ApplyLegacyDefaults(kube::config::KubeletConfiguration& config);

}  // namespace denselet::app
