#include "app/agent/runtime_side.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "managers/node/node_conditions.h"

namespace denselet::app {

RuntimeSide::RuntimeSide(RuntimeSideSeams seams, RuntimeSideOptions options)
    : seams_(std::move(seams)),
      options_(std::move(options)),
      health_(seams_.loop, seams_.runtime, seams_.log,
              [this] {
                if (known_) known_();
              }),
      images_(seams_.loop, seams_.images, seams_.log, options_.images_max) {}

RuntimeSide::~RuntimeSide() { seams_.loop.Disarm(timer_); }

void RuntimeSide::Start() {
  CHECK(stage_ == Stage::kIdle);
  Check();
}

void RuntimeSide::Check() {
  stage_ = Stage::kChecking;
  Context context;
  context.priority = Priority::kCritical;
  check_ = std::make_unique<cri::StartCheck>(seams_.loop, seams_.runtime, seams_.images);
  check_->Run(context.WithTimeout(seams_.loop.Now(), kCheckTimeMax),
              [this](Result<cri::StartFacts> facts) { OnChecked(std::move(facts)); });
}

void RuntimeSide::OnChecked(Result<cri::StartFacts> facts) {
  if (facts) {
    seams_.log.Info("Container runtime can be used", KV("endpoint", options_.endpoint),
                    KV("runtime", facts->version.name), KV("version", facts->version.version),
                    KV("apiVersion", facts->version.api_version));
    failed_.reset();
    facts_ = *std::move(facts);
    stage_ = Stage::kWatching;
    if (known_) known_();
    images_.Start();
    return health_.Start();
  }
  // Said once, and again when it is something else.
  if (!failed_ || failed_->code() != facts.error().code()) {
    seams_.log.Error(facts.error(), "Container runtime cannot be used, trying again",
                     KV("endpoint", options_.endpoint));
  }
  failed_ = facts.error();
  stage_ = Stage::kPausing;
  timer_ = seams_.loop.Arm(After(seams_.loop.Now(), pause_), [this] { Check(); });
  pause_ = std::min<Duration>(2 * pause_, kPauseMax);
}

// What stays the same while the trouble does: the status is sent whenever its words change.
std::string RuntimeSide::WhyNot(const Error& error) const {
  if (error.code() == ErrorCode::kUnavailable) return "nobody serves on " + options_.endpoint;
  if (error.code() == ErrorCode::kDeadlineExceeded) {
    return "no answer in time on " + options_.endpoint;
  }
  return error.message();
}

node::NodeInputs RuntimeSide::Collect() {
  node::NodeInputs inputs;
  inputs.runtime = health_.input();
  inputs.images = images_.images();
  // No plugin can register here: what an earlier agent advertised of theirs is not to be had.
  inputs.devices.reset_extended = true;
  if (inputs.runtime.name.empty() && facts_) {
    inputs.runtime.name = facts_->version.name;
    inputs.runtime.version = facts_->version.version;
  }
  std::vector<std::string>& errors = inputs.runtime.errors;
  if (failed_) errors.push_back("container runtime cannot be used: " + WhyNot(*failed_));
  const bool silent_for_long =
      !inputs.runtime.synced_at ||
      After(*inputs.runtime.synced_at, node::kRuntimeSyncAgeMax) <= seams_.loop.Now();
  if (health_.unanswered() && silent_for_long) {
    errors.push_back("container runtime does not answer: " + WhyNot(*health_.unanswered()));
  }
  const std::string pleg = pleg_ ? pleg_() : "";
  if (!pleg.empty()) errors.push_back("PLEG is not healthy: " + pleg);
  return inputs;
}

}  // namespace denselet::app
