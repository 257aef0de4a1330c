// One container's specification on its way: what it refers to is asked for, then its environment is
// made, then /etc/hosts and the mounts.
//
//   objects, services, files (all at once) -> environment -> /etc/hosts -> mounts -> specification
//
// Owned by PodSpecBuilder, on its shard, until it has answered. For its .cc files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/types.h"
#include "sync/spec/environment.h"
#include "sync/spec/pod_specs.h"

namespace denselet::sync {

class PodSpecBuilder::Gathering {
 public:
  Gathering(PodSpecBuilder& owner, uint64_t number, const Context& context, kube::PodRef pod,
            ContainerWish wish, reactor::Done<ContainerSpec> done);

  // Once; the answer is posted where there is nothing to ask for.
  void Begin();

 private:
  static constexpr size_t kHostsFileMax = 1024 * 1024;  // bytes of the node's
  static constexpr size_t kEnvFileMax = 1024 * 1024;    // as upstream's API says
  static constexpr uint32_t kHostsMode = 0644;

  // An answer for this gathering, as long as it is there.
  template <class T, class Take>
  reactor::Done<T> Then(Take take);

  Status Parse();
  void Ask();
  void Arrived();
  void MakeEnvironmentNow();
  void ReadNodeHosts();
  // One of a pod after the other: two that write at once would both be in the file.
  void CompareHosts(std::string text);
  void CompareHostsNow();
  void WriteHosts();
  void LeaveHosts();
  void AskMounts();
  void Specify(std::vector<MountSpec> mounts);
  void Finish(Result<ContainerSpec> answer);

  std::string PodFolder() const;

  PodSpecBuilder& owner_;
  const uint64_t number_;
  const Context context_;
  const kube::PodRef pod_;
  const ContainerWish wish_;
  reactor::Done<ContainerSpec> done_;

  std::unique_ptr<kube::core::Pod> parsed_;
  kube::core::Container container_;
  EnvironmentFacts facts_;
  std::optional<Error> unlisted_;  // the services could not be had
  size_t awaited_ = 0;
  KeyValues env_;
  std::string hosts_;
};

}  // namespace denselet::sync
