// The specifications that a shard's workers ask for, from the pod, what the node is, and what the
// pod refers to.
//
// One a shard, owned by the composition root; what it is given outlives it. State: the node's
// facts, and the containers whose environment and mounts are being gathered, at most one a creation
// under way. Destroyed, those who asked hear nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/fwd.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_objects.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/pod_volumes.h"
#include "sync/spec/node_facts.h"
#include "sync/spec/pod_dns.h"

namespace denselet::sync {

struct PodSpecSeams {
  reactor::Loop& loop;
  reactor::FileSystem& files;
  PodObjects& objects;
  PodVolumes& volumes;
};

class PodSpecBuilder final : public PodSpecs {
 public:
  PodSpecBuilder(const PodSpecSeams& seams, SpecNode node);
  ~PodSpecBuilder() override;
  PodSpecBuilder(const PodSpecBuilder&) = delete;
  PodSpecBuilder& operator=(const PodSpecBuilder&) = delete;

  void SetNode(SpecNodeNow now) { now_ = std::move(now); }
  // What the node's resolv.conf has, or why it cannot be read; until it is told, no sandbox is made
  // of a node that has one.
  void SetResolvConf(const Result<std::string>& text);

  // sync::PodSpecs
  Result<SandboxSpec> Sandbox(const kube::PodRef& pod, uint32_t attempt) override;
  std::vector<PodNote> Notes(const kube::PodRef& pod) override;
  void Container(const Context& context, const kube::PodRef& pod, const ContainerWish& wish,
                 reactor::Done<ContainerSpec> done) override;
  PullPolicy Policy(const kube::PodRef& pod, const std::string& container) override;
  // At least one name.
  void FetchPullSecrets(const Context& context, const std::string& ns,
                        const std::vector<std::string>& names,
                        UniqueFunction<void(PullSecrets)> done) override;

  size_t gathering() const { return gathering_.size(); }

 private:
  class Gathering;
  friend class Gathering;

  SpecPod PodFacts() const;
  Result<PodDns> DnsOf(const kube::core::Pod& pod) const;

  const PodSpecSeams seams_;
  const SpecNode node_;
  const DnsNode dns_node_;
  SpecNodeNow now_;
  Result<DnsSpec> host_dns_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::unique_ptr<Gathering>> gathering_;
  // By the pod's folder: those that look at its hosts file, the first of them now.
  std::map<std::string, std::deque<uint64_t>> at_hosts_;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

// One of the pod's containers, an ephemeral one in the form of a container.
std::optional<kube::core::Container> FindContainer(const kube::core::Pod& pod,
                                                   std::string_view name);

}  // namespace denselet::sync
