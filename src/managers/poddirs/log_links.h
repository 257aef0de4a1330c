// Links by which collectors of logs find what a container writes, as kubelets have made them ever
// since; collectors read pod, namespace, container and id from the name.
//
//   <links>/<pod>_<namespace>_<container>-<id>.log
//       -> <logs>/<namespace>_<pod>_<uid>/<container>/<attempt>.log
//
// Made when the container was started, if the runtime has made its log; removed before the log is.
// One that could not be made is told and costs the container nothing else. Who was killed between,
// or could not remove one, leaves a link that leads nowhere: RemoveDeadLinks finds it.
//
// LogLinks: one a shard, owned by the composition root; what it is given outlives it. Destroyed,
// operations under way end and nobody hears of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime.h"

namespace denselet::managers {

class LogLinks {
 public:
  static constexpr size_t kUnderWayMax = 4096;  // beyond that a link is not made, which is told
  static constexpr Duration kWaitMax = Seconds(30);

  LogLinks(reactor::Loop& loop, reactor::FileSystem& files, const Logger& log, std::string folder);
  ~LogLinks();
  LogLinks(const LogLinks&) = delete;
  LogLinks& operator=(const LogLinks&) = delete;

  // The folder; collectors that run as pods mount it.
  void Prepare();
  // To `log_file`, if that is there.
  void Make(const sync::PodIdentity& pod, const sync::LoggedContainer& container,
            std::string log_file);
  // What is not there is fine; what cannot be removed is told.
  void Remove(const sync::PodIdentity& pod, const sync::LoggedContainer& container);

 private:
  class Making;

  Context OwnContext() const;
  void Told(const Error& error, const LogMessage& what, const std::string& path) const;

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  const Logger log_;
  const std::string folder_;
  size_t under_way_ = 0;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

// 255 bytes at most: of longer ones the end of the id is cut off.
std::string LogLinkName(const sync::PodIdentity& pod, const sync::LoggedContainer& container);
// As much of the id as the name has; nothing: no link of a container is called so.
std::optional<ContainerId> ContainerOfLogLink(std::string_view name);

// Removes each link in the folder that leads to nothing, unless its container is there and has not
// ended: while a log is rotated there is none for a moment. Answers how many went.
void RemoveDeadLinks(reactor::FileSystem& files, sync::Runtime& runtime, const Context& context,
                     std::string folder, reactor::Done<size_t> done);

}  // namespace denselet::managers
