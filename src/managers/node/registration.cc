#include "managers/node/registration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/api/patch/status_patch.h"
#include "sync/ports/api_typed.h"

namespace denselet::node {

std::string_view Name(Registration::Stage stage) {
  switch (stage) {
    case Registration::Stage::kIdle:
      return "idle";
    case Registration::Stage::kPausing:
      return "pausing";
    case Registration::Stage::kCreating:
      return "creating";
    case Registration::Stage::kFetching:
      return "fetching";
    case Registration::Stage::kReconciling:
      return "reconciling";
  }
  return "";
}

Registration::Registration(reactor::Loop& loop, Logger log, sync::ApiServer& api, NodeMaker& maker,
                           RegistrationOptions options)
    : loop_(loop), log_(std::move(log)), api_(api), maker_(maker), options_(std::move(options)) {}

Registration::~Registration() {
  loop_.Disarm(timer_);
  cancel_.Cancel();
}

template <class T>
reactor::Done<T> Registration::Guarded(void (Registration::*method)(Result<T>)) {
  return [this, method, alive = cancel_.token()](Result<T> answer) {
    if (!alive.cancelled()) (this->*method)(std::move(answer));
  };
}

void Registration::Start(UniqueFunction<void(Outcome)> done) {
  CHECK(stage_ == Stage::kIdle);
  done_ = std::move(done);
  pause_ = kPauseMin;
  Pause();
}

void Registration::Pause() {
  stage_ = Stage::kPausing;
  timer_ = loop_.Arm(After(loop_.Now(), pause_), [this] { Try(); });
  pause_ = std::min(2 * pause_, kPauseMax);
}

void Registration::Try() {
  initial_ = std::make_unique<kube::core::Node>(maker_.MakeInitialNode());
  log_.Info("Attempting to register node", KV("node", options_.node_name));
  stage_ = Stage::kCreating;
  sync::Create<kube::core::Node>(api_, MakeContext(), {}, *initial_,
                                 Guarded<kube::core::Node>(&Registration::OnCreated));
}

void Registration::OnCreated(Result<kube::core::Node> node) {
  if (node) return Finish(Outcome::kCreated);
  switch (node.error().code()) {
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermission:      // it may exist all the same
    case ErrorCode::kUnknownOutcome:  // it may exist by now
      return Fetch();
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kUnavailable:
    case ErrorCode::kOverloaded:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnsupported:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kBug:
      return Fail(node.error().With("create node"));
  }
}

void Registration::Fetch() {
  stage_ = Stage::kFetching;
  sync::Get<kube::core::Node>(api_, MakeContext(), {.object = {"", options_.node_name}},
                              Guarded<kube::core::Node>(&Registration::OnFetched));
}

void Registration::OnFetched(Result<kube::core::Node> node) {
  if (!node) return Fail(node.error().With("get existing node"));
  log_.Info("Node was previously registered", KV("node", options_.node_name));
  const kube::core::Node before = *node;
  if (!ReconcileNode(*initial_, maker_.WhatOfExtendedResources(), *node)) {
    return Finish(Outcome::kExisted);
  }
  Result<std::optional<std::string>> patch = kube::MakeNodeStatusPatch(before, *node);
  if (!patch) return Fail(patch.error().With("make patch of node"));
  if (!*patch) return Finish(Outcome::kExisted);
  stage_ = Stage::kReconciling;
  sync::Patch<kube::core::Node>(
      api_, MakeContext(), {.object = {"", options_.node_name}, .subresource = "status"},
      std::move(**patch), Guarded<kube::core::Node>(&Registration::OnReconciled));
}

void Registration::OnReconciled(Result<kube::core::Node> node) {
  if (!node) return Fail(node.error().With("reconcile node"));
  Finish(Outcome::kExisted);
}

void Registration::Fail(const Error& error) {
  log_.Error(error, "Unable to register node with API server", KV("node", options_.node_name),
             KV("interval", pause_));
  initial_.reset();
  Pause();
}

void Registration::Finish(Outcome outcome) {
  log_.Info("Successfully registered node", KV("node", options_.node_name));
  initial_.reset();
  stage_ = Stage::kIdle;
  std::exchange(done_, nullptr)(outcome);
}

Context Registration::MakeContext() const {
  return {.deadline = After(loop_.Now(), options_.request_time_max),
          .priority = Priority::kCritical,
          .cancel = cancel_.token(),
          .trace = {}};
}

}  // namespace denselet::node
