// What other managers know that stands in the node's status. Each part may be unknown, as it is
// while its manager does not exist or has not looked yet; then the status says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "managers/node/node_config.h"
#include "managers/node/pressure.h"

namespace denselet::node {

struct RuntimeHandler {
  std::string name;
  bool recursive_read_only_mounts = false;
  bool user_namespaces = false;
};

struct RuntimeInput {
  std::string name = {};     // "containerd"; empty: no runtime has answered yet
  std::string version = {};  // empty: it does not say
  // When all was well with it last. Nothing: it has not been asked, or was never ready.
  std::optional<TimePoint> synced_at = {};
  std::vector<std::string> errors = {};  // why it is not ready, or the PLEG is not
  std::optional<std::string> network_error = "network state unknown";
  std::vector<RuntimeHandler> handlers = {};
  std::optional<bool> supplemental_groups_policy = {};
};

struct ImageInput {
  std::string id = {};
  std::vector<std::string> digests = {};
  std::vector<std::string> tags = {};
  int64_t bytes = 0;
};

struct DeviceInput {
  ResourceList capacity = {};
  ResourceList allocatable = {};
  std::vector<std::string> removed = {};  // had a plugin once
  // The machine is another than before, or has no plugins: what the node claims to have of them is
  // not there.
  bool reset_extended = false;
};

struct NodeInputs {
  RuntimeInput runtime = {};
  std::optional<std::vector<ImageInput>> images = {};  // nothing: not known yet
  DeviceInput devices = {};
  Pressures pressures = {};  // the node's manager measures them itself
  std::optional<std::string> storage_error = {};
  std::optional<std::string> shutdown = {};  // why the node takes no more pods
  std::optional<std::string> soft_requirements = {};
  std::optional<std::vector<std::string>> volumes_in_use = {};  // nothing: not known yet
};

// Asked each time that the status is computed. Lives on the API shard.
class NodeInputsSource {
 public:
  virtual NodeInputs Collect() = 0;
  // The server knows that these volumes are in use.
  virtual void OnVolumesReported(const std::vector<std::string>&) {}

 protected:
  ~NodeInputsSource() = default;
};

}  // namespace denselet::node
