// Finds the pods that there is something of on the disk: data directories, and directories of logs.
//
//   <root>/pods/<uid>                    tells a uid
//   <logs>/<namespace>_<name>_<uid>      tells all
//
// What is called otherwise, or is no directory, is not ours. Lives on the home shard, owned by the
// composition root; what it is given outlives it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "managers/poddirs/pod_directories.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime.h"

namespace denselet::managers {

class PodLeftoverFinder final : public sync::PodLeftovers {
 public:
  // In one directory; more than that is an error, and nothing is found.
  static constexpr size_t kPodsMax = 100'000;

  PodLeftoverFinder(reactor::Loop& loop, reactor::FileSystem& files, sync::Runtime& runtime,
                    PodDirectoriesOptions options)
      : loop_(loop), files_(files), runtime_(runtime), options_(std::move(options)) {}

  // One for each pod, by uid; one that has several directories of logs is there for each of them.
  void Find(const Context&, reactor::Done<std::vector<sync::PodIdentity>>) override;
  // See log_links.h. Without a folder of links there are none.
  void RemoveDeadLinks(const Context&, reactor::Done<size_t>) override;

 private:
  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  sync::Runtime& runtime_;
  const PodDirectoriesOptions options_;
};

// Nothing: no directory of a pod's logs is called so.
std::optional<sync::PodIdentity> PodOfLogFolder(std::string_view name);

}  // namespace denselet::managers
