// The container runtime over CRI: the three ports that are about containers.
//
// Lives on one shard, owned by CriShard; what it is given outlives it. Answers are read on gRPC's
// threads (observed_messages.h) and come to the shard as structs of ours. Nothing is repeated here:
// what a failure means is in its code, and the caller looks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/repeated_trouble.h"
#include "cri/connection.h"
#include "cri/cri_metrics.h"
#include "rpc/client.h"
#include "sync/ports/runtime.h"
#include "sync/ports/runtime_requests.h"
#include "sync/ports/runtime_stats.h"

namespace denselet::cri {

class CriRuntime final : public sync::Runtime,
                         public sync::RuntimeRequests,
                         public sync::RuntimeStats {
 public:
  CriRuntime(rpc::Client& client, Connection& connection, MetricSet<CriMetric>& metrics,
             Logger log);

  // sync::Runtime
  void Version(const Context&, reactor::Done<sync::RuntimeVersion>) override;
  void Status(const Context&, reactor::Done<sync::RuntimeStatus>) override;
  void CgroupDriverInUse(const Context&, reactor::Done<std::optional<sync::CgroupDriver>>) override;
  void SetPodCidr(const Context&, std::string pod_cidr, reactor::Done<Unit>) override;
  void ListAll(const Context&, reactor::Done<sync::RuntimeList>) override;
  void ReadPod(const Context&, const PodUid&, reactor::Done<sync::ObservedPod>) override;
  void ReadSandbox(const Context&, const SandboxId&, reactor::Done<sync::ObservedSandbox>) override;
  void ReadContainer(const Context&, const ContainerId&, const SandboxId& known_sandbox,
                     reactor::Done<sync::ObservedContainer>) override;
  void RunSandbox(const Context&, const sync::SandboxSpec&, reactor::Done<SandboxId>) override;
  void StopSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void RemoveSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void CreateContainer(const Context&, const SandboxId&, const sync::ContainerSpec&,
                       const sync::SandboxSpec&, reactor::Done<ContainerId>) override;
  void StartContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void StopContainer(const Context&, const ContainerId&, Duration grace,
                     reactor::Done<Unit>) override;
  void RemoveContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void UpdateResources(const Context&, const ContainerId&, const sync::LinuxResources&,
                       reactor::Done<Unit>) override;
  void UpdateSandboxResources(const Context&, const SandboxId&,
                              const sync::LinuxResources& resources,
                              const sync::LinuxResources& overhead, reactor::Done<Unit>) override;
  void ReopenLog(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void Exec(const Context&, const ContainerId&, std::vector<std::string> command, Duration timeout,
            reactor::Done<sync::ExecResult>) override;

  // sync::RuntimeRequests
  void OpenExec(const Context&, const ContainerId&, std::vector<std::string> command,
                const sync::StreamOptions&, reactor::Done<std::string>) override;
  void OpenAttach(const Context&, const ContainerId&, const sync::StreamOptions&,
                  reactor::Done<std::string>) override;
  void OpenPortForward(const Context&, const SandboxId&, std::vector<int32_t> ports,
                       reactor::Done<std::string>) override;
  void Checkpoint(const Context&, const ContainerId&, std::string location, Duration timeout,
                  reactor::Done<Unit>) override;

  // sync::RuntimeStats
  void ListStats(const Context&, const std::optional<SandboxId>& only,
                 reactor::Done<std::vector<sync::ContainerStats>>) override;
  void ListPodStats(const Context&, const std::optional<SandboxId>& only,
                    reactor::Done<std::vector<sync::PodStats>>) override;
  void ListMetricDescriptors(const Context&,
                             reactor::Done<std::vector<sync::MetricDescriptor>>) override;
  void ListPodMetrics(const Context&, reactor::Done<std::vector<sync::PodMetrics>>) override;

 private:
  void NoteUnreadable(uint64_t count);

  rpc::Client& client_;
  Connection& connection_;
  MetricSet<CriMetric>& metrics_;
  const Logger log_;
  RepeatedTrouble unreadable_;  // objects, in lists
};

}  // namespace denselet::cri
