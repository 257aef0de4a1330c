// What containers say at their end: a runtime that gives each a file for it, and shows what is in
// there once the container has exited, as the kubelet does it.
//
//   CreateContainer   <root>/pods/<uid>/containers/<name>/<attempt, 8 hex digits>, mode 0666, is
//                     made and mounted at the container's terminationMessagePath
//   ReadPod, ReadContainer   of an exited container the message has the file's last 4096 bytes, or,
//                     if it failed and has the policy FallbackToLogsOnError, of its log's last
//                     lines
//
// A file that cannot be made costs the container its message, nothing else. An answer waits for
// files no longer than kWaitMax; what was not read by then is asked for again by the next read. A
// message that was read is kept until the container is removed: files go earlier than that.
//
// One a shard, between the core and the runtime, owned by the composition root; what it is given
// outlives it. Destroyed, its askers hear nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/runtime.h"

namespace denselet::managers {

struct TerminationMessagesOptions {
  std::string root_folder = {};
  bool selinux = false;  // the runtime is to label the files
};

class TerminationMessages final : public sync::Runtime {
 public:
  static constexpr Duration kWaitMax = Seconds(1);
  static constexpr size_t kKeptMax = 8192;  // messages; when full all are forgotten, and read again

  TerminationMessages(reactor::Loop& loop, reactor::FileSystem& files, sync::Runtime& runtime,
                      const Logger& log, TerminationMessagesOptions options);
  ~TerminationMessages() override;
  TerminationMessages(const TerminationMessages&) = delete;
  TerminationMessages& operator=(const TerminationMessages&) = delete;

  void ReadPod(const Context&, const PodUid&, reactor::Done<sync::ObservedPod>) override;
  void ReadContainer(const Context&, const ContainerId&, const SandboxId& known_sandbox,
                     reactor::Done<sync::ObservedContainer>) override;
  void CreateContainer(const Context&, const SandboxId&, const sync::ContainerSpec&,
                       const sync::SandboxSpec&, reactor::Done<ContainerId>) override;
  void RemoveContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;

  // The others are the runtime's alone.
  void Version(const Context&, reactor::Done<sync::RuntimeVersion>) override;
  void Status(const Context&, reactor::Done<sync::RuntimeStatus>) override;
  void CgroupDriverInUse(const Context&, reactor::Done<std::optional<sync::CgroupDriver>>) override;
  void SetPodCidr(const Context&, std::string pod_cidr, reactor::Done<Unit>) override;
  void ListAll(const Context&, reactor::Done<sync::RuntimeList>) override;
  void ReadSandbox(const Context&, const SandboxId&, reactor::Done<sync::ObservedSandbox>) override;
  void RunSandbox(const Context&, const sync::SandboxSpec&, reactor::Done<SandboxId>) override;
  void StopSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void RemoveSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void StartContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void StopContainer(const Context&, const ContainerId&, Duration grace,
                     reactor::Done<Unit>) override;
  void UpdateResources(const Context&, const ContainerId&, const sync::LinuxResources&,
                       reactor::Done<Unit>) override;
  void UpdateSandboxResources(const Context&, const SandboxId&, const sync::LinuxResources&,
                              const sync::LinuxResources&, reactor::Done<Unit>) override;
  void ReopenLog(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void Exec(const Context&, const ContainerId&, std::vector<std::string> command, Duration timeout,
            reactor::Done<sync::ExecResult>) override;

  size_t kept() const { return kept_.size(); }

 private:
  class Creation;
  class Reading;

  void Keep(const ContainerId& container, const std::string& message);

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  sync::Runtime& runtime_;
  const Logger log_;
  const TerminationMessagesOptions options_;
  std::map<ContainerId, std::string> kept_;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

}  // namespace denselet::managers
