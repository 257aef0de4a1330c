#include "managers/node/node_manager.h"

#include <utility>
#include <vector>

#include "kube/api/types.h"
#include "managers/node/node_object.h"

namespace denselet::node {

namespace {

std::string_view Name(NodeManager::Stage stage) {
  switch (stage) {
    case NodeManager::Stage::kNotStarted:
      return "not started";
    case NodeManager::Stage::kReadingMachine:
      return "reading machine";
    case NodeManager::Stage::kReadingNetwork:
      return "reading network";
    case NodeManager::Stage::kReadingPressure:
      return "reading pressure";
    case NodeManager::Stage::kResting:
      return "resting";
    case NodeManager::Stage::kRegistering:
      return "registering";
    case NodeManager::Stage::kReporting:
      return "reporting";
  }
  return "";
}

}  // namespace

NodeManager::NodeManager(NodeSeams seams, NodeConfig config)
    : loop_(seams.loop),
      random_(seams.random),
      log_(seams.log),
      events_(seams.events),
      facts_source_(seams.facts),
      inputs_(seams.inputs),
      config_(std::move(config)),
      startup_(metrics_, loop_.WallNow()),
      cache_(loop_, log_, seams.api, config_.flags.node_name),
      lease_(loop_, random_, log_, seams.api,
             {.node_name = config_.flags.node_name,
              .duration_seconds = config_.lease_duration_seconds,
              .request_time_max = config_.HeartbeatTimeMax()}),
      registration_(loop_, log_, seams.api, *this, {.node_name = config_.flags.node_name}),
      reporter_(loop_, random_, log_, seams.api, cache_, *this,
                {.node_name = config_.flags.node_name,
                 .request_time_max = config_.HeartbeatTimeMax(),
                 .report_interval = config_.status_report_interval}),
      pressure_(config_.pressure_thresholds, config_.pressure_transition_period) {
  metrics_.Gauge(NodeMetric::kName, config_.flags.node_name).Set(1);
}

NodeManager::~NodeManager() {
  loop_.Disarm(timer_);
  loop_.Disarm(fast_timer_);
  cancel_.Cancel();
}

void NodeManager::Enter(Stage stage) {
  stage_ = stage;
  stage_since_ = loop_.Now();
}

void NodeManager::Start() {
  CHECK(stage_ == Stage::kNotStarted);
  started_at_ = loop_.Now();
  cache_.Start();
  events_.Record(sync::NodeEventObject(config_.flags.node_name), sync::EventType::kNormal,
                 "Starting", "Starting kubelet.");
  lease_.Start();
  ReadMachine();
}

void NodeManager::ReadMachine() {
  Enter(Stage::kReadingMachine);
  facts_source_.ReadMachine(FactsContext(),
                            [this, alive = cancel_.token()](Result<MachineFacts> facts) {
                              if (!alive.cancelled()) OnMachine(std::move(facts));
                            });
}

void NodeManager::OnMachine(Result<MachineFacts> facts) {
  if (!facts) {
    // There is nothing true to be said of the node; its lease says that somebody is there.
    log_.Error(facts.error(), "Could not read what the machine has, will retry",
               KV("interval", kFactsPause));
    timer_ = loop_.Arm(After(loop_.Now(), kFactsPause), [this] { ReadMachine(); });
    return;
  }
  facts_.machine = std::move(*facts);
  if (facts_.machine.booted_at_seconds > 0) {
    startup_.OnBooted(
        ToWallTime({.seconds = static_cast<int64_t>(facts_.machine.booted_at_seconds)}));
  }
  Enter(Stage::kReadingNetwork);
  ReadNetwork();
}

// A file system may be slow to answer at start, and the node is not ready until its size is known.
void NodeManager::RefreshMachine() {
  reading_machine_ = true;
  facts_source_.ReadMachine(FactsContext(),
                            [this, alive = cancel_.token()](Result<MachineFacts> facts) {
                              if (alive.cancelled()) return;
                              reading_machine_ = false;
                              if (facts) facts_.machine = std::move(*facts);
                            });
}

void NodeManager::ReadNetwork() {
  reading_network_ = true;
  facts_source_.ReadNetwork(FactsContext(),
                            [this, alive = cancel_.token()](Result<NetworkFacts> facts) {
                              if (!alive.cancelled()) OnNetwork(std::move(facts));
                            });
}

void NodeManager::OnNetwork(Result<NetworkFacts> facts) {
  reading_network_ = false;
  if (facts) {
    facts_.network = std::move(*facts);
  } else {
    log_.Error(facts.error(), "Could not read the network's addresses");
  }
  if (stage_ != Stage::kReadingNetwork) return;
  Enter(Stage::kReadingPressure);
  ReadPressure();
}

void NodeManager::ReadPressure() {
  reading_pressure_ = true;
  facts_source_.ReadPressure(FactsContext(),
                             [this, alive = cancel_.token()](const Result<PressureFacts>& facts) {
                               if (!alive.cancelled()) OnPressure(facts);
                             });
}

void NodeManager::OnPressure(const Result<PressureFacts>& facts) {
  reading_pressure_ = false;
  const Pressures before = pressure_.Now(loop_.Now());
  if (facts) pressure_.Observe(*facts, loop_.Now());
  if (stage_ != Stage::kReadingPressure) {
    // The scheduler is to know at once, not with the report after this one.
    if (pressure_.Now(loop_.Now()) != before) ReportNow();
    return;
  }
  Sync();
  fast_timer_ = loop_.Arm(After(loop_.Now(), kFastInterval), [this] { LookFast(); });
}

void NodeManager::ReportNow() {
  if (stage_ != Stage::kResting) {
    again_ = true;
    return;
  }
  loop_.Disarm(timer_);
  Sync();
}

void NodeManager::Sync() {
  again_ = false;
  // For the next report: this one does not wait for a name service or a file system that hangs.
  if (stage_ == Stage::kResting && !reading_network_) ReadNetwork();
  if (stage_ == Stage::kResting && !reading_pressure_) ReadPressure();
  if (facts_.machine.root_fs_bytes == 0 && !reading_machine_) RefreshMachine();
  if (!config_.register_node || registered_) return Report();
  Enter(Stage::kRegistering);
  startup_.OnRegistrationTried(loop_.WallNow());
  registration_.Start([this](Registration::Outcome outcome) { OnRegistered(outcome); });
}

void NodeManager::OnRegistered(Registration::Outcome outcome) {
  registered_ = true;
  if (outcome == Registration::Outcome::kCreated) startup_.OnRegisteredAsNew(loop_.WallNow());
  Report();
}

void NodeManager::Report() {
  Enter(Stage::kReporting);
  // The fast look has one under way, and calls this again at its end.
  if (reporter_.busy()) return;
  reporter_.Report([this](StatusReporter::Outcome outcome) { OnReportEnded(outcome); });
}

void NodeManager::OnReportEnded(StatusReporter::Outcome outcome) {
  switch (outcome) {
    case StatusReporter::Outcome::kDone:
      break;
    case StatusReporter::Outcome::kGone:
      // Whoever deleted it meant it: as upstream, only another start registers it again.
      log_.Error("Node is not known to the API server", KV("node", config_.flags.node_name));
      break;
    case StatusReporter::Outcome::kFailed:
      log_.Error("Unable to update node status", KV("node", config_.flags.node_name));
      break;
  }
  Rest();
}

void NodeManager::Rest() {
  Enter(Stage::kResting);
  const Duration pause =
      again_ ? Duration::zero() : random_.Jitter(config_.status_update_interval, kJitter);
  timer_ = loop_.Arm(After(loop_.Now(), pause), [this] { Sync(); });
}

void NodeManager::LookFast() {
  if (loop_.Now() - started_at_ >= kFastTimeMax) {
    log_.Error("Node not becoming ready in time after startup");
    return;
  }
  const auto again = [this] {
    fast_timer_ = loop_.Arm(After(loop_.Now(), kFastInterval), [this] { LookFast(); });
  };
  // The ordinary report sees the same.
  if (stage_ != Stage::kResting || reporter_.busy()) return again();
  const StatusReporter::Fast fast =
      reporter_.ReportIfReady([this](StatusReporter::Outcome outcome) {
        // Somebody came meanwhile, perhaps with something newer than what was sent.
        if (stage_ == Stage::kReporting) return Report();
        // What the watch has shown was too old: the ordinary report asks the server.
        if (outcome != StatusReporter::Outcome::kDone) ReportNow();
      });
  if (fast == StatusReporter::Fast::kNotReady) again();
}

NodeInputs NodeManager::Collect() {
  NodeInputs inputs = inputs_.Collect();
  inputs.pressures = pressure_.Now(loop_.Now());
  return inputs;
}

kube::core::Node NodeManager::MakeInitialNode() {
  // For the next try, which may come much later than the last reading.
  if (!reading_pressure_) ReadPressure();
  const NodeInputs inputs = Collect();
  NodeNotes notes;
  kube::core::Node node = InitialNode(Parts(inputs), memory_, notes);
  Tell(notes);
  return node;
}

ExtendedResources NodeManager::WhatOfExtendedResources() {
  return inputs_.Collect().devices.reset_extended ? ExtendedResources::kReset
                                                  : ExtendedResources::kKeep;
}

bool NodeManager::Update(kube::core::Node& node) {
  const NodeInputs inputs = Collect();
  NodeNotes notes;
  const bool changed = UpdateNode(Parts(inputs), node, memory_, notes);
  Tell(notes);
  return changed;
}

void NodeManager::OnReported(const kube::core::Node& node) {
  if (IsReady(node.status())) startup_.OnReady(loop_.WallNow());
  const auto& volumes = node.status().volumesinuse();
  inputs_.OnVolumesReported(std::vector<std::string>(volumes.begin(), volumes.end()));
}

void NodeManager::Tell(const NodeNotes& notes) {
  std::string causes;
  for (const Error& error : notes.errors) causes += error.message() + '\n';
  if (causes.empty()) {
    (void)untold_fields_.Over(loop_.Now());
  } else if (untold_fields_.IsNews(loop_.Now(), causes)) {
    for (const Error& error : notes.errors) {
      log_.Error(error, "Failed to set some node status fields");
    }
  }
  for (const NodeEvent& event : notes.events) {
    log_.V(2).Info("Recording event message for node", KV("event", event.reason));
    // Computed anew until the server has taken it, and said once.
    if (!event.why.empty() && event.reason != logged_status_) {
      log_.Info("Node status is now another one", KV("status", event.reason),
                KV("message", event.why));
      logged_status_ = event.reason;
    }
    events_.Record(sync::NodeEventObject(config_.flags.node_name), event.type, event.reason,
                   event.message);
  }
}

StatusParts NodeManager::Parts(const NodeInputs& inputs) const {
  return {.config = config_,
          .facts = facts_,
          .inputs = inputs,
          .moment = {loop_.Now(), loop_.WallNow()}};
}

Context NodeManager::FactsContext() const {
  return {.deadline = After(loop_.Now(), kFactsTimeMax),
          .priority = Priority::kCritical,
          .cancel = cancel_.token(),
          .trace = {}};
}

NodeSnapshot NodeManager::Snapshot() const {
  return {.stage = Name(stage_),
          .stage_since = stage_since_,
          .registration = node::Name(registration_.stage()),
          .report = node::Name(reporter_.stage()),
          .lease = node::Name(lease_.stage()),
          .lease_renewed_at = lease_.renewed_at(),
          .registered = registered_};
}

}  // namespace denselet::node
