// A desk with its journal on a simulated disk, and the others it talks to.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync/admission/admission_desk.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"
#include "tests/sync/admission/objects.h"

namespace denselet::sync {

// Ends pods when the test says so.
class HeldPreemptor final : public PodPreemptor {
 public:
  void Preempt(const PodIdentity& pod, UniqueFunction<void()> ended) override {
    asked += pod.uid.value() + " ";
    held[pod.uid] = std::move(ended);
  }
  void NotGoneInTime(const PodIdentity& pod) override { late += pod.uid.value() + " "; }
  std::string asked;
  std::string late;
  std::map<PodUid, UniqueFunction<void()>> held;
};

class GivenNode final : public NodeFetcher {
 public:
  explicit GivenNode(reactor::Loop& loop) : loop_(loop) {}
  void Fetch(const Context&, reactor::Done<NodeView> done) override {
    ++fetches;
    loop_.Post([this, done = std::move(done)]() mutable { done(node); });
  }
  Result<NodeView> node = Error(ErrorCode::kUnavailable, "no API server");
  int fetches = 0;

 private:
  reactor::Loop& loop_;
};

// Answers when the test says so, or at once.
class HeldPlugin final : public AdmissionPlugin {
 public:
  explicit HeldPlugin(reactor::Loop& loop) : loop_(loop) {}
  void Admit(const Context&, const kube::PodRef& pod,
             UniqueFunction<void(std::optional<Rejection>)> done) override {
    const PodUid uid{std::string(pod->hot().uid)};
    if (holds) {
      held[uid] = std::move(done);
      return;
    }
    loop_.Post([this, done = std::move(done)]() mutable { done(answer); });
  }
  void Release(const PodUid& pod) override { released += pod.value() + " "; }

  bool holds = false;
  std::optional<Rejection> answer;
  std::map<PodUid, UniqueFunction<void(std::optional<Rejection>)>> held;
  std::string released;

 private:
  reactor::Loop& loop_;
};

inline constexpr char kDeskNode[] = R"(
metadata: {name: here, labels: {zone: a}}
status: {allocatable: {cpu: 2, memory: 1Gi, pods: 10}}
)";

class DeskHouse {
 public:
  explicit DeskHouse(uint64_t seed) : world({.seed = seed, .shards = 1}) {
    options.directory = "/journal";
    Restart();
  }

  // As a new process would; until the journal was read.
  void Restart() {
    journal.reset();
    desk.reset();
    desk = std::make_unique<AdmissionDesk>(AdmissionPorts{.loop = world.loop(0),
                                                          .log = log,
                                                          .preemptor = preemptor,
                                                          .nodes = nodes,
                                                          .plugins = {&plugin}},
                                           desk_options,
                                           *SysctlAllowList::Make({}, KernelVersion{6, 1}));
    desk->SetNode(NodeOf(kDeskNode));
    journal = std::make_unique<Journal>(world.loop(0), files, world.random(), log, options,
                                        desk->Kinds());
    bool read = false;
    journal->Open([this, &read](const JournalReport&) {
      desk->Start(*journal);
      read = true;
    });
    while (!read) world.Step();
  }
  void PowerCut() {
    journal.reset();
    desk.reset();
    disk.Crash(world.random());
    Restart();
  }
  void Pass(Duration d = Seconds(1)) { world.RunUntil(world.clock().Now() + d); }

  // What was answered stands in `answers`, by uid.
  Status Ask(const std::string& yaml, AdmissionQuestion question = AdmissionQuestion::kDecide) {
    const kube::PodRef pod = RefOf(yaml);
    return desk->Ask(pod, question,
                     [this, uid = std::string(pod->hot().uid)](Result<AdmissionDecision> decision) {
                       std::string& text = answers[uid];
                       if (!text.empty()) text += ", then ";
                       if (!decision) {
                         text += "error: " + decision.error().message();
                         return;
                       }
                       text += decision->rejected ? decision->rejected->reason : "admitted";
                       if (decision->adopted) text += " (adopted)";
                     });
  }
  AdmissionDesk::Stage StageOf(const std::string& uid) const {
    return desk->Describe(PodUid(uid))->stage;
  }

  sim::World world;
  sim::Disk disk;
  sim::SimFileSystem files{world.loop(0), world.random(), disk};
  CapturingLogSink sink;
  LogVerbosity verbosity;
  LogOutput output{.format = {}, .clock = world.clock(), .verbosity = verbosity, .sink = sink};
  Logger log{output};
  HeldPreemptor preemptor;
  GivenNode nodes{world.loop(0)};
  HeldPlugin plugin{world.loop(0)};
  JournalOptions options;
  AdmissionOptions desk_options;
  std::unique_ptr<AdmissionDesk> desk;
  std::unique_ptr<Journal> journal;
  std::map<std::string, std::string> answers;
};

}  // namespace denselet::sync
