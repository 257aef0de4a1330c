// A pod's places on the disk: its data directories below the agent's root, and the directories that
// its containers' logs are written to.
//
//   <root>/pods/<uid>/{volumes,plugins}    0750
//   <logs>/<namespace>_<name>_<uid>/<container>/<attempt>.log    0755
//
// Links to the logs are made by who was given for that, if anybody was.
//
// Volumes are mounted and unmounted by who was given for that. Where there is nobody, a pod that
// has some is refused, in words for its event, and starts nothing.
//
// One a shard, owned by the composition root; what it is given outlives it. Every step is one
// operation of the file system, one after the other; all of it may be done again at any time.
// Destroyed, operations under way end and their askers hear nothing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_mounts.h"
#include "sync/ports/pod_services.h"

namespace denselet::managers {

class LogLinks;

struct PodDirectoriesOptions {
  std::string root_folder = {};
  std::string logs_folder = "/var/log/pods";
  std::string links_folder = {};  // of links to logs; empty: none are made
  std::string mount_table = "/proc/self/mountinfo";
};

class PodDirectories final : public sync::PodResources {
 public:
  // Of one container: more than that many logs is a folder of somebody else.
  static constexpr size_t kLogsMax = 10'000;

  PodDirectories(reactor::Loop& loop, reactor::FileSystem& files, PodDirectoriesOptions options,
                 sync::PodMounts* mounts = nullptr, LogLinks* links = nullptr)
      : loop_(loop), files_(files), options_(std::move(options)), mounts_(mounts), links_(links) {}

  void Prepare(const Context&, const kube::PodRef&, reactor::Done<sync::PreparedPod>) override;
  void Mount(const Context&, const kube::PodRef&, reactor::Done<sync::MountedVolumes>) override;
  void Changed(const kube::PodRef&) override;
  // The data directories, when nothing of volumes is left. Of what is in their places nevertheless
  // only empty directories are removed: data is nobody's to remove. If there
  // is more than empty directories, nothing may be mounted below. Logs stay for who wants to read
  // them.
  void Release(const Context&, const sync::PodIdentity&, reactor::Done<Unit>) override;
  void LinkLog(const sync::PodIdentity&, const sync::LoggedContainer&) override;
  void UnlinkLog(const sync::PodIdentity&, const sync::LoggedContainer&) override;
  // Their link first, so that none leads nowhere.
  void RemoveContainerLogs(const Context&, const sync::PodIdentity&, const sync::LoggedContainer&,
                           reactor::Done<Unit>) override;
  void RemoveLogs(const Context&, const sync::PodIdentity&, reactor::Done<Unit>) override;

 private:
  class Preparation;
  class Removal;
  class LogRemoval;

  std::string LogFolder(const sync::PodIdentity& pod) const;
  void Refuse(const Error& error, reactor::Done<Unit> done);

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  const PodDirectoriesOptions options_;
  sync::PodMounts* const mounts_;
  LogLinks* const links_;
};

// One more than the highest N of names like "N.log"; rotated ones ("N.log.20260102-150405",
// "...gz") count, too. 0: there is none.
uint32_t NextLoggedAttempt(const std::vector<reactor::DirectoryEntry>& entries);
// Whether a file called so is the log of this instance, or a rotated part of it.
bool IsLogOf(std::string_view name, uint32_t attempt);

}  // namespace denselet::managers
