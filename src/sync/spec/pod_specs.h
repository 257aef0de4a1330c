// The specifications that a shard's workers ask for, from the pod and what the node is.
//
// One a shard, owned by the composition root; no state but the node's facts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sync/ports/pod_services.h"
#include "sync/spec/node_facts.h"

namespace denselet::sync {

class PodSpecBuilder final : public PodSpecs {
 public:
  explicit PodSpecBuilder(SpecNode node) : node_(std::move(node)) {}

  Result<SandboxSpec> Sandbox(const kube::PodRef& pod, uint32_t attempt) override;
  Result<ContainerSpec> Container(const kube::PodRef& pod, const ContainerWish& wish) override;
  PullPolicy Policy(const kube::PodRef& pod, const std::string& container) override;

 private:
  SpecPod PodFacts() const;

  const SpecNode node_;
};

}  // namespace denselet::sync
