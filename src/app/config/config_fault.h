// What is wrong with the configuration, and where that was written.
#pragma once

#include <string>
#include <string_view>

#include "app/config/origins.h"
#include "kube/api/fault.h"

namespace denselet::app {

struct ConfigFault {
  Origin origin;
  std::string path;  // empty: the file as a whole
  std::string message;

  friend bool operator==(const ConfigFault&, const ConfigFault&) = default;
};

// One line: "config.yaml:7: maxPods: found -1, wanted 0 or more"
std::string ToString(const ConfigFault& fault);

// Gates are keys of a map, whatever who found a fault calls them: "featureGates[EventedPLEG]".
std::string CodecPath(std::string_view path);
std::string GatePath(std::string_view gate);

// A fault of a value: it is looked up where that value came from.
ConfigFault Locate(const kube::Fault& fault, const Origins& origins);
// A fault of a text that was read from there.
ConfigFault InFile(const kube::Fault& fault, const Origin& file);

}  // namespace denselet::app
