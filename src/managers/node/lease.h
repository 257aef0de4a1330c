// The node's lease: the sign of life by which the cluster knows that the node is there. Nothing
// that the agent does may hold it up, so it has a timer of its own, waits for nobody else's work,
// and goes as heartbeat traffic.
//
//   resting --(25 % of the duration)--> renewing --> resting
//                                          | conflict, or five times in vain
//                                          v
//                                       fetching --> renewing
//                                          | there is none
//                                          v
//                                    fetching owner --> creating --> resting
//   fetching, fetching owner and creating, when they fail, and a renewal that the server has no
//   time for --> pausing (until 200 ms after it was asked, twice as long each time, 7 s at most)
//   --> fetching; with what is known, renewing
//
// The pause is counted from the question: one that waited in vain for a server that is away is
// followed by the next at once, which is there to be answered first when the server is back. How
// often is connected meanwhile is the client's affair.
//
// Upstream waits a whole round for a node that is not there yet, so that a new node has no lease
// for ten seconds; here it has one as soon as it is registered.
//
// Lives on the API shard; destroying it ends it. The lease is never deleted: the node is away when
// it runs out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "base/context.h"
#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace k8s::io::api::coordination::v1 {
class Lease;
}

namespace denselet::node {

struct LeaseOptions {
  std::string node_name = {};
  int32_t duration_seconds = 40;
  Duration request_time_max = Seconds(10);
};

class LeaseRenewer {
 public:
  enum class Stage : uint8_t {
    kNotStarted,
    kResting,
    kRenewing,
    kFetching,
    kFetchingOwner,
    kCreating,
    kPausing,
  };
  static constexpr int kRenewalsMax = 5;  // one right after the other
  static constexpr Duration kPauseMin = Milliseconds(100);
  static constexpr Duration kPauseMax = Seconds(7);
  static constexpr double kJitter = 0.04;

  LeaseRenewer(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
               LeaseOptions options);
  ~LeaseRenewer();
  LeaseRenewer(const LeaseRenewer&) = delete;
  LeaseRenewer& operator=(const LeaseRenewer&) = delete;

  void Start();

  Stage stage() const { return stage_; }
  TimePoint stage_since() const { return stage_since_; }
  // When the server last said yes; kNever's opposite, the beginning, before that.
  TimePoint renewed_at() const { return renewed_at_; }

 private:
  using Lease = ::k8s::io::api::coordination::v1::Lease;

  void Enter(Stage stage);
  void Round();
  void Rest();
  void Renew();
  void OnRenewed(Result<Lease> lease);
  void OnRenewalFailed(const Error& error);
  void BeginFetch();
  void Fetch();
  void OnFetched(Result<Lease> lease);
  // Of the lease that is to be created, or of `lease_`.
  enum class OwnerFor : uint8_t { kRenewal, kCreation };
  void FetchOwner(OwnerFor purpose);
  void OnOwner(OwnerFor purpose, Result<std::string> uid);
  void Create(const std::string& owner_uid);
  void OnCreated(Result<Lease> lease);
  // `asked_at`: the request that failed with it.
  void Pause(const Error& error, TimePoint asked_at);

  Lease Stamped(const Lease& base) const;
  Context MakeContext() const;
  sync::ApiRequest MakeRequest() const;
  template <class T>
  reactor::Done<T> Guarded(void (LeaseRenewer::*method)(Result<T>));

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  sync::ApiServer& api_;
  const LeaseOptions options_;

  Stage stage_ = Stage::kNotStarted;
  TimePoint stage_since_;
  TimePoint renewed_at_;
  std::unique_ptr<Lease> lease_;  // as the server last had it; null: not known
  int renewals_ = 0;              // in vain, with what is known
  bool fetched_ = false;          // in this round, because renewals were in vain
  Duration pause_ = kPauseMin;
  reactor::TimerId timer_;
  CancelSource cancel_;  // of requests under way; their answers find nobody afterwards
};

std::string_view Name(LeaseRenewer::Stage stage);

}  // namespace denselet::node
