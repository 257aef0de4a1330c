// What the node says of its container runtime while denselet has no client for one: that it is not
// ready, and why.
//
// Lives on the API shard.
#pragma once

#include "managers/node/node_inputs.h"

namespace denselet::app {

class NoRuntime final : public node::NodeInputsSource {
 public:
  node::NodeInputs Collect() override {
    node::NodeInputs inputs;
    inputs.runtime.errors = {"this version of denselet has no client of a container runtime"};
    return inputs;
  }
};

}  // namespace denselet::app
