// What stands behind the core's ports in the simulator besides the runtime: cgroups, directories,
// volumes and hooks that take a while and fail, and specifications. Outlives the agent, as a disk
// does: what was mounted stays mounted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "managers/poddirs/log_links.h"
#include "managers/poddirs/pod_directories.h"
#include "managers/poddirs/pod_leftovers.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_services.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"

namespace denselet::sim {

class PodLeaves {
 public:
  static constexpr const char* kRoot = "/var/lib/kubelet";
  static constexpr const char* kLogs = "/var/log/pods";
  static constexpr const char* kLinks = "/var/log/containers";

  // Of volumes, specifications and hooks; directories have the disk's.
  struct Faults {
    Duration delay_max = Milliseconds(50);
    double fails = 0;
    double hangs = 0;                    // until its deadline
    std::string hooks_without_tls = {};  // their answers tell so
  };

  explicit PodLeaves(fakes::FakeRuntimeHost& host) : host_(host) {}

  Faults& faults() { return faults_; }
  Disk& disk() { return disk_; }
  // The machine loses its power: nothing is mounted any more, and of what the disk has, what was
  // synced is left for sure.
  void LosePower() {
    disk_.Crash(host_.random());
    mounted_.clear();
  }
  bool IsMounted(const PodUid& pod) const { return mounted_.count(pod) != 0; }
  // What is left of pods: data directories that were not given back.
  std::vector<std::string> kept() const;
  // What this pod's containers refer to is missing, until it is taken out of here.
  std::set<PodUid>& missing() { return missing_; }
  // These volumes of the pod cannot be mounted, until they are taken out of here.
  std::map<PodUid, std::vector<sync::VolumeFault>>& missing_volumes() { return missing_volumes_; }
  bool HasData(const PodUid& pod) const;
  bool HasLogs(const sync::PodIdentity& pod) const;
  // Links to its containers' logs, whether these are there or not.
  size_t LinksOf(const sync::PodIdentity& pod) const;
  // Pods whose specifications show a bug of ours.
  std::set<PodUid>& poison() { return poison_; }
  // The runtime has begun to write this instance's log, which outlives all it knows of it.
  void Logged(const sync::PodIdentity& pod, const std::string& container, uint32_t attempt);
  uint64_t hooks_run() const { return hooks_run_; }
  // Told when work that went wrong is answered, before its caller hears.
  enum class Fault : uint8_t { kFailed, kHung };
  void set_on_fault(std::function<void(Fault, const PodUid&)> f) { on_fault_ = std::move(f); }

  // The ports, for one shard of one agent.
  class OfShard final : public sync::PodResources, public sync::PodHooks, public sync::PodSpecs {
   public:
    OfShard(PodLeaves& leaves, reactor::Loop& loop, sync::Runtime& runtime, const Logger& log);
    ~OfShard() override;

    void Prepare(const Context&, const kube::PodRef&, reactor::Done<sync::PreparedPod>) override;
    void Mount(const Context&, const kube::PodRef&, reactor::Done<sync::MountedVolumes>) override;
    void Release(const Context&, const sync::PodIdentity&, reactor::Done<Unit>) override;
    void LinkLog(const sync::PodIdentity&, const sync::LoggedContainer&) override;
    void UnlinkLog(const sync::PodIdentity&, const sync::LoggedContainer&) override;
    void RemoveContainerLogs(const Context&, const sync::PodIdentity&, const sync::LoggedContainer&,
                             reactor::Done<Unit>) override;
    void RemoveLogs(const Context&, const sync::PodIdentity&, reactor::Done<Unit>) override;
    sync::PodLeftovers& leftovers() { return leftovers_of_pods_; }
    void Run(const Context&, sync::HookKind, const kube::PodRef&, const std::string& container,
             const ContainerId&, const std::vector<std::string>& pod_ips,
             reactor::Done<sync::HookOutcome>) override;
    Result<sync::SandboxSpec> Sandbox(const kube::PodRef&, uint32_t attempt) override;
    void Container(const Context&, const kube::PodRef&, const sync::ContainerWish&,
                   reactor::Done<sync::ContainerSpec>) override;
    sync::PullPolicy Policy(const kube::PodRef&, const std::string& container) override;
    void FetchPullSecrets(const Context&, const std::string& ns,
                          const std::vector<std::string>& names,
                          UniqueFunction<void(sync::PullSecrets)>) override;

   private:
    struct Pending {
      PodUid pod;
      std::optional<Fault> fault = {};
      reactor::Done<Unit> done;
      UniqueFunction<void()> effect;
      reactor::TimerId timer = {};
      CancelRegistration cancelled = {};
    };
    void Begin(const Context& context, const PodUid& pod, UniqueFunction<void()> effect,
               reactor::Done<Unit> done);
    Result<sync::ContainerSpec> Specify(const kube::PodRef& pod,
                                        const sync::ContainerWish& wish) const;
    void Finish(uint64_t number, const Status& answer);
    // What the disk answered, for those who count.
    template <class T>
    reactor::Done<T> Told(const Context& context, const PodUid& pod, reactor::Done<T> done);

    PodLeaves& leaves_;
    reactor::Loop& loop_;
    SimFileSystem files_;
    managers::LogLinks links_;
    managers::PodDirectories directories_;
    managers::PodLeftoverFinder leftovers_of_pods_;
    uint64_t next_ = 1;
    std::map<uint64_t, Pending> pending_;
    std::shared_ptr<bool> alive_;
  };

 private:
  fakes::FakeRuntimeHost& host_;
  Faults faults_;
  Disk disk_;
  std::set<PodUid> mounted_;
  std::set<PodUid> poison_;
  std::set<PodUid> missing_;
  std::map<PodUid, std::vector<sync::VolumeFault>> missing_volumes_;
  uint64_t hooks_run_ = 0;
  std::function<void(Fault, const PodUid&)> on_fault_;
};

}  // namespace denselet::sim
