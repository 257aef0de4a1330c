// Whether the container runtime is there and well: asked every five seconds, and ten times a second
// until it was well once (for two minutes at most), so that a node that has just started is ready
// soon. What it says stands in the node's Ready condition and in its facts, and pods wait for it.
//
//   asking for the status --> asking for the version (when it is old) --> resting --> ...
//
// Lives on the API shard, asks by that shard's port; destroying it ends it. What it is given
// outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/log.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "managers/node/node_inputs.h"
#include "reactor/api/loop.h"
#include "sync/ports/runtime.h"

namespace denselet::node {

class RuntimeHealth {
 public:
  static constexpr Duration kPeriod = Seconds(5);
  static constexpr Duration kFastPeriod = Milliseconds(100);
  static constexpr Duration kTroubledPeriod = Seconds(1);
  static constexpr Duration kFastTimeMax = Minutes(2);
  // A runtime that hangs is asked again, so that its recovery is seen.
  static constexpr Duration kAnswerTimeMax = Seconds(15);
  static constexpr Duration kVersionAgeMax = Seconds(10);

  // Told when it is another one, and what the first answer says. One that takes its time to answer
  // is in no trouble: calls that it does answer may go on. Told again when it was well so long ago
  // that the node counts as not ready, and when that is over.
  using OnTrouble = UniqueFunction<void(const sync::RuntimeTrouble&)>;

  // `first_ready` runs once, when the runtime is ready for the first time.
  RuntimeHealth(reactor::Loop& loop, sync::Runtime& runtime, Logger log,
                reactor::Task first_ready = {});
  ~RuntimeHealth() { loop_.Disarm(timer_); }
  RuntimeHealth(const RuntimeHealth&) = delete;
  RuntimeHealth& operator=(const RuntimeHealth&) = delete;

  void Start();
  void WhenTroubled(OnTrouble tell) { tell_ = std::move(tell); }
  // Run each time when a question is answered after one that was not, be it away or have it hung.
  void WhenAnswersAgain(UniqueFunction<void()> tell) { answers_again_ = std::move(tell); }

  // For NodeInputs.
  const RuntimeInput& input() const { return input_; }
  // Declared as a feature of the node where it is true.
  bool user_namespaces_host_network() const { return user_namespaces_host_network_; }
  // The last question that was not answered; nothing: it was.
  const std::optional<Error>& unanswered() const { return unanswered_; }

 private:
  void AskForStatus();
  void OnStatus(Result<sync::RuntimeStatus> status);
  void OnVersion(Result<sync::RuntimeVersion> version);
  void Take(const sync::RuntimeStatus& status);
  void TakeNetwork(const std::optional<sync::RuntimeCondition>& condition);
  void SetErrors();
  void TellTrouble();
  void Rest();
  Context AnswerContext() const;

  reactor::Loop& loop_;
  sync::Runtime& runtime_;
  const Logger log_;
  reactor::Task first_ready_;

  RuntimeInput input_;
  bool user_namespaces_host_network_ = false;
  std::optional<Error> unanswered_;
  std::optional<std::string> status_error_, version_error_;
  bool version_silent_ = false;  // the last question for it was not answered, which was told
  OnTrouble tell_;
  UniqueFunction<void()> answers_again_;
  std::optional<sync::RuntimeTrouble> told_;
  bool down_ = false;  // as node_conditions.h has it
  TimePoint started_at_;
  TimePoint version_due_ = TimePoint::min();
  reactor::TimerId timer_;
  // What answers look for: one that finds it gone came too late.
  const std::shared_ptr<RuntimeHealth*> self_ = std::make_shared<RuntimeHealth*>(this);
};

}  // namespace denselet::node
