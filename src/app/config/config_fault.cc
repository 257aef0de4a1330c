#include "app/config/config_fault.h"

namespace denselet::app {

std::string ToString(const ConfigFault& fault) {
  std::string text;
  if (fault.origin.kind != Origin::Kind::kDefault) text = ToString(fault.origin) + ": ";
  if (!fault.path.empty()) text += fault.path + ": ";
  return text + fault.message;
}

std::string CodecPath(std::string_view path) {
  constexpr std::string_view kGates = "featureGates.";
  if (!path.starts_with(kGates)) return std::string(path);
  return GatePath(path.substr(kGates.size()));
}

std::string GatePath(std::string_view gate) { return "featureGates[" + std::string(gate) + "]"; }

ConfigFault Locate(const kube::Fault& fault, const Origins& origins) {
  const std::string path = CodecPath(fault.path);
  return {.origin = origins.Nearest(path), .path = path, .message = fault.message};
}

ConfigFault InFile(const kube::Fault& fault, const Origin& file) {
  Origin origin = file;
  origin.line = fault.line;
  return {.origin = std::move(origin), .path = fault.path, .message = fault.message};
}

}  // namespace denselet::app
