// Brings the node's status to the API server. A status is sent when it has changed, or when the
// last one that was sent is old; that age is different for every node and every change, so that a
// cluster's nodes do not come all at once.
//
//   idle --> starting --> (from the cache) patching --> idle
//                                             | in vain
//                                             v
//                                          fetching --> patching        five tries in all
//
// A server that asks for more time than a request has (429) is left alone until the next report.
//
// Lives on the API shard; destroying it ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/context.h"
#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "kube/api/fwd.h"
#include "managers/node/node_cache.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::node {

struct StatusReporterOptions {
  std::string node_name = {};
  Duration request_time_max = Seconds(10);
  Duration report_interval = Minutes(5);
};

class StatusReporter {
 public:
  enum class Stage : uint8_t { kIdle, kStarting, kFetching, kPatching };
  enum class Outcome : uint8_t {
    kDone,    // sent, or there was nothing to send
    kGone,    // the server says that there is no such node
    kFailed,  // in vain; the next report tries again
  };
  static constexpr int kTriesMax = 5;

  class User {
   public:
    // Brings it up to date; true: something changed.
    virtual bool Update(kube::core::Node& node) = 0;
    // The server has it, as it was sent or before.
    virtual void OnReported(const kube::core::Node& node) = 0;

   protected:
    ~User() = default;
  };

  StatusReporter(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
                 const NodeCache& cache, User& user, StatusReporterOptions options);
  ~StatusReporter();
  StatusReporter(const StatusReporter&) = delete;
  StatusReporter& operator=(const StatusReporter&) = delete;

  bool busy() const { return stage_ != Stage::kIdle; }
  Stage stage() const { return stage_; }
  // Nothing: never.
  std::optional<TimePoint> reported_at() const { return reported_at_; }

  // `done` is called once, in a later turn. Not while busy.
  void Report(UniqueFunction<void(Outcome)> done);

  // Sends the status only if the node has become ready by it, and from the cache alone: cheap
  // enough to be asked ten times a second.
  enum class Fast : uint8_t { kNotReady, kReadyAlready, kSending };
  // `done` is called of kSending only, in a later turn. Not while busy.
  Fast ReportIfReady(UniqueFunction<void(Outcome)> done);

 private:
  void Try();
  void Fetch();
  void OnFetched(Result<kube::core::Node> node);
  void SendIfNeeded(const kube::core::Node& before);
  void Send(const kube::core::Node& before, const kube::core::Node& after);
  void OnPatched(Result<kube::core::Node> node);
  void Fail(const Error& error);
  void Finish(Outcome outcome);

  bool ReportIsDue() const;
  Context MakeContext() const;
  sync::ApiRequest MakeRequest() const;
  template <class T>
  reactor::Done<T> Guarded(void (StatusReporter::*method)(Result<T>));

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  sync::ApiServer& api_;
  const NodeCache& cache_;
  User& user_;
  const StatusReporterOptions options_;

  Stage stage_ = Stage::kIdle;
  int tries_ = 0;
  int tries_max_ = kTriesMax;
  std::optional<TimePoint> reported_at_;
  Duration delay_{};  // of the next report, beyond the interval; may be negative
  UniqueFunction<void(Outcome)> done_;
  CancelSource cancel_;
};

std::string_view Name(StatusReporter::Stage stage);

}  // namespace denselet::node
