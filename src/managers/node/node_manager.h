// The node in the cluster: registers it, renews its lease, reports its status.
//
//   reading facts --> resting <--(interval, 10 s)--> registering (if it is not known) --> reporting
//
// Beside that, once: until the node is ready, but two minutes at most, it is looked at ten times a
// second, so that a node that has just become ready is used at once. The lease has its own timer
// and waits for none of this.
//
// Lives on the API shard; destroying it ends it. What it is given outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "managers/node/host_facts.h"
#include "managers/node/lease.h"
#include "managers/node/node_cache.h"
#include "managers/node/node_config.h"
#include "managers/node/node_inputs.h"
#include "managers/node/node_metrics.h"
#include "managers/node/node_status.h"
#include "managers/node/pressure.h"
#include "managers/node/registration.h"
#include "managers/node/status_reporter.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/events.h"

namespace denselet::node {

struct NodeSeams {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  sync::ApiServer& api;
  sync::EventRecorder& events;
  HostFactsSource& facts;
  NodeInputsSource& inputs;
};

// For whoever asks what the manager is at.
struct NodeSnapshot {
  std::string_view stage;
  TimePoint stage_since;
  std::string_view registration;
  std::string_view report;
  std::string_view lease;
  TimePoint lease_renewed_at;
  bool registered = false;
};

class NodeManager final : private Registration::NodeMaker, private StatusReporter::User {
 public:
  enum class Stage : uint8_t {
    kNotStarted,
    kReadingMachine,
    kReadingNetwork,
    kReadingPressure,
    kResting,
    kRegistering,
    kReporting,
  };
  static constexpr Duration kFactsTimeMax = Seconds(5);
  static constexpr Duration kFactsPause = Seconds(1);
  static constexpr Duration kFastInterval = Milliseconds(100);
  static constexpr Duration kFastTimeMax = Seconds(120);
  static constexpr double kJitter = 0.04;

  NodeManager(NodeSeams seams, NodeConfig config);
  ~NodeManager();
  NodeManager(const NodeManager&) = delete;
  NodeManager& operator=(const NodeManager&) = delete;

  void Start();
  // Reports now (or right after the report that is under way): the node shuts down.
  void ReportNow();

  NodeCache& cache() { return cache_; }
  const MetricSet<NodeMetric>& metrics() const { return metrics_; }
  NodeSnapshot Snapshot() const;

 private:
  // Registration::NodeMaker
  kube::core::Node MakeInitialNode() override;
  ExtendedResources WhatOfExtendedResources() override;
  // StatusReporter::User
  bool Update(kube::core::Node& node) override;
  void OnReported(const kube::core::Node& node) override;

  void Enter(Stage stage);
  void ReadMachine();
  void OnMachine(Result<MachineFacts> facts);
  void RefreshMachine();
  void ReadNetwork();
  void OnNetwork(Result<NetworkFacts> facts);
  void ReadPressure();
  void OnPressure(const Result<PressureFacts>& facts);
  void Sync();
  void OnRegistered(Registration::Outcome outcome);
  void Report();
  void OnReportEnded(StatusReporter::Outcome outcome);
  void Rest();
  void LookFast();

  void Tell(const NodeNotes& notes);
  NodeInputs Collect();
  StatusParts Parts(const NodeInputs& inputs) const;
  Context FactsContext() const;

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  sync::EventRecorder& events_;
  HostFactsSource& facts_source_;
  NodeInputsSource& inputs_;
  const NodeConfig config_;

  MetricSet<NodeMetric> metrics_;
  StartupTracker startup_;
  NodeCache cache_;
  LeaseRenewer lease_;
  Registration registration_;
  StatusReporter reporter_;

  Stage stage_ = Stage::kNotStarted;
  TimePoint stage_since_;
  TimePoint started_at_;
  HostFacts facts_;
  PressureTracker pressure_;
  RepeatedTrouble untold_fields_;  // of the node's status
  NodeMemory memory_;
  std::string logged_status_;  // ready or not, as the log has it
  bool registered_ = false;
  bool again_ = false;            // ReportNow came while a report was under way
  bool reading_network_ = false;  // beside a report, for the next one
  bool reading_machine_ = false;  // the same
  bool reading_pressure_ = false;
  reactor::TimerId timer_;
  reactor::TimerId fast_timer_;
  CancelSource cancel_;
};

}  // namespace denselet::node
