// Makes the node known to the API server: creates it, or, when it exists already (or creating is
// not allowed, which says nothing about whether it exists), puts right what an earlier registration
// got wrong. Goes on until that has worked.
//
//   pausing (100 ms, twice as long each time, 7 s at most) --> creating --> done
//                                                                 | it exists
//                                                                 v
//                                              fetching --> reconciling --> done
//   whatever fails --> pausing
//
// Lives on the API shard; destroying it ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "base/context.h"
#include "base/log.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "kube/api/fwd.h"
#include "managers/node/reconcile.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::node {

struct RegistrationOptions {
  std::string node_name = {};
  // Nothing but this would end a request that nobody answers.
  Duration request_time_max = Seconds(30);
};

class Registration {
 public:
  enum class Stage : uint8_t { kIdle, kPausing, kCreating, kFetching, kReconciling };
  enum class Outcome : uint8_t { kCreated, kExisted };
  static constexpr Duration kPauseMin = Milliseconds(100);
  static constexpr Duration kPauseMax = Seconds(7);

  // Made anew for each try: the status in it must be true.
  class NodeMaker {
   public:
    virtual kube::core::Node MakeInitialNode() = 0;
    virtual ExtendedResources WhatOfExtendedResources() = 0;

   protected:
    ~NodeMaker() = default;
  };

  Registration(reactor::Loop& loop, Logger log, sync::ApiServer& api, NodeMaker& maker,
               RegistrationOptions options);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // `done` is called once, in a later turn. Not while one is under way.
  void Start(UniqueFunction<void(Outcome)> done);

  Stage stage() const { return stage_; }
  bool running() const { return stage_ != Stage::kIdle; }

 private:
  void Pause();
  void Try();
  void OnCreated(Result<kube::core::Node> node);
  void Fetch();
  void OnFetched(Result<kube::core::Node> node);
  void OnReconciled(Result<kube::core::Node> node);
  void Fail(const Error& error);
  void Finish(Outcome outcome);

  Context MakeContext() const;
  template <class T>
  reactor::Done<T> Guarded(void (Registration::*method)(Result<T>));

  reactor::Loop& loop_;
  const Logger log_;
  sync::ApiServer& api_;
  NodeMaker& maker_;
  const RegistrationOptions options_;

  Stage stage_ = Stage::kIdle;
  Duration pause_ = kPauseMin;
  std::unique_ptr<kube::core::Node> initial_;  // of the present try
  UniqueFunction<void(Outcome)> done_;
  reactor::TimerId timer_;
  CancelSource cancel_;
};

std::string_view Name(Registration::Stage stage);

}  // namespace denselet::node
