#include "managers/node/lease.h"

#include <algorithm>
#include <utility>

#include "sync/ports/api_typed.h"

namespace denselet::node {

namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr double kRenewFraction = 0.25;

Duration RenewalInterval(int32_t duration_seconds) {
  const auto whole = static_cast<double>(Duration(Seconds(duration_seconds)).count());
  return Duration(static_cast<int64_t>(whole * kRenewFraction));
}

}  // namespace

std::string_view Name(LeaseRenewer::Stage stage) {
  switch (stage) {
    case LeaseRenewer::Stage::kNotStarted:
      return "not started";
    case LeaseRenewer::Stage::kResting:
      return "resting";
    case LeaseRenewer::Stage::kRenewing:
      return "renewing";
    case LeaseRenewer::Stage::kFetching:
      return "fetching";
    case LeaseRenewer::Stage::kFetchingOwner:
      return "fetching owner";
    case LeaseRenewer::Stage::kCreating:
      return "creating";
    case LeaseRenewer::Stage::kPausing:
      return "pausing";
  }
  return "";
}

LeaseRenewer::LeaseRenewer(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
                           LeaseOptions options)
    : loop_(loop), random_(random), log_(std::move(log)), api_(api), options_(std::move(options)) {}

LeaseRenewer::~LeaseRenewer() {
  loop_.Disarm(timer_);
  cancel_.Cancel();
}

void LeaseRenewer::Start() {
  CHECK(stage_ == Stage::kNotStarted);
  Round();
}

void LeaseRenewer::Enter(Stage stage) {
  stage_ = stage;
  stage_since_ = loop_.Now();
}

template <class T>
reactor::Done<T> LeaseRenewer::Guarded(void (LeaseRenewer::*method)(Result<T>)) {
  return [this, method, alive = cancel_.token()](Result<T> answer) {
    if (!alive.cancelled()) (this->*method)(std::move(answer));
  };
}

void LeaseRenewer::Round() {
  renewals_ = 0;
  fetched_ = false;
  pause_ = kPauseMin;
  if (lease_ == nullptr) return BeginFetch();
  Renew();
}

void LeaseRenewer::Rest() {
  Enter(Stage::kResting);
  const Duration interval = RenewalInterval(options_.duration_seconds);
  timer_ = loop_.Arm(After(loop_.Now(), random_.Jitter(interval, kJitter)), [this] { Round(); });
}

void LeaseRenewer::Renew() {
  if (lease_->metadata().ownerreferences().empty()) return FetchOwner(OwnerFor::kRenewal);
  Enter(Stage::kRenewing);
  sync::Update<Lease>(api_, MakeContext(), MakeRequest(), Stamped(*lease_),
                      Guarded<Lease>(&LeaseRenewer::OnRenewed));
}

void LeaseRenewer::OnRenewed(Result<Lease> lease) {
  if (!lease) return OnRenewalFailed(lease.error().With("renew lease"));
  *lease_ = std::move(*lease);
  renewed_at_ = loop_.Now();
  Rest();
}

void LeaseRenewer::OnRenewalFailed(const Error& error) {
  // It asks for time, more than a request has: nobody is helped by the next at once.
  if (error.code() == ErrorCode::kOverloaded) return Pause(error, stage_since_);
  log_.Error(error, "Failed to update lease", KV("stage", Name(stage_)));
  ++renewals_;
  if (renewals_ > 1 && error.code() != ErrorCode::kConflict) api_.DropIdleConnections();
  if (renewals_ < kRenewalsMax) {
    // Somebody else wrote or removed it, or an earlier try of ours took effect after all.
    const bool outdated =
        error.code() == ErrorCode::kConflict || error.code() == ErrorCode::kNotFound;
    return outdated ? BeginFetch() : Renew();
  }
  if (fetched_) return Rest();
  fetched_ = true;
  renewals_ = 0;
  BeginFetch();
}

void LeaseRenewer::BeginFetch() {
  pause_ = kPauseMin;
  Fetch();
}

void LeaseRenewer::Fetch() {
  Enter(Stage::kFetching);
  sync::Get<Lease>(api_, MakeContext(), MakeRequest(), Guarded<Lease>(&LeaseRenewer::OnFetched));
}

void LeaseRenewer::OnFetched(Result<Lease> lease) {
  if (lease) {
    lease_ = std::make_unique<Lease>(std::move(*lease));
    fetched_ = true;
    return Renew();
  }
  if (lease.error().code() != ErrorCode::kNotFound) {
    return Pause(lease.error().With("get lease"), stage_since_);
  }
  lease_.reset();
  FetchOwner(OwnerFor::kCreation);
}

void LeaseRenewer::FetchOwner(OwnerFor purpose) {
  Enter(Stage::kFetchingOwner);
  sync::ApiRequest request{.object = {"", options_.node_name},
                           .traffic = sync::ApiTraffic::kHeartbeat};
  sync::Get<kube::core::Node>(
      api_, MakeContext(), std::move(request),
      [this, purpose, alive = cancel_.token()](Result<kube::core::Node> node) {
        if (alive.cancelled()) return;
        if (!node) return OnOwner(purpose, node.error());
        OnOwner(purpose, node->metadata().uid());
      });
}

void LeaseRenewer::OnOwner(OwnerFor purpose, Result<std::string> uid) {
  if (purpose == OwnerFor::kCreation) {
    if (uid) return Create(*uid);
    // A lease without its node would outlive it. At a first start there will be one in a moment.
    return Pause(uid.error().With("get node for owner of lease"), stage_since_);
  }
  if (!uid) return OnRenewalFailed(uid.error().With("get node for owner of lease"));
  auto* owner = lease_->mutable_metadata()->add_ownerreferences();
  owner->set_apiversion("v1");
  owner->set_kind("Node");
  owner->set_name(options_.node_name);
  owner->set_uid(*uid);
  Renew();
}

void LeaseRenewer::Create(const std::string& owner_uid) {
  Enter(Stage::kCreating);
  Lease base;
  base.mutable_metadata()->set_name(options_.node_name);
  base.mutable_metadata()->set_namespace_(std::string(kLeaseNamespace));
  base.mutable_spec()->set_holderidentity(options_.node_name);
  auto* owner = base.mutable_metadata()->add_ownerreferences();
  owner->set_apiversion("v1");
  owner->set_kind("Node");
  owner->set_name(options_.node_name);
  owner->set_uid(owner_uid);
  sync::ApiRequest request = MakeRequest();
  request.object.name.clear();
  sync::Create<Lease>(api_, MakeContext(), std::move(request), Stamped(base),
                      Guarded<Lease>(&LeaseRenewer::OnCreated));
}

void LeaseRenewer::OnCreated(Result<Lease> lease) {
  if (!lease) return Pause(lease.error().With("create lease"), stage_since_);
  lease_ = std::make_unique<Lease>(std::move(*lease));
  renewed_at_ = loop_.Now();
  Rest();
}

void LeaseRenewer::Pause(const Error& error, TimePoint asked_at) {
  pause_ = std::min(2 * pause_, kPauseMax);
  const bool before_the_node = error.code() == ErrorCode::kNotFound && renewed_at_ == TimePoint{};
  if (before_the_node && pause_ < kPauseMax) {
    log_.V(2).Info("The lease waits for the node to be registered", KV("interval", pause_));
  } else {
    log_.Error(error, "Failed to ensure lease exists, will retry", KV("interval", pause_));
  }
  const bool renews = stage_ == Stage::kRenewing;
  // From its answer where the server asked for time, and may have done so for a while.
  const TimePoint from = error.code() == ErrorCode::kOverloaded ? loop_.Now() : asked_at;
  Enter(Stage::kPausing);
  timer_ = loop_.Arm(std::max(loop_.Now(), After(from, pause_)), [this, renews] {
    if (renews) return Renew();
    Fetch();
  });
}

LeaseRenewer::Lease LeaseRenewer::Stamped(const Lease& base) const {
  Lease lease = base;
  lease.mutable_spec()->set_leasedurationseconds(options_.duration_seconds);
  const Timestamp now = ToTimestamp(loop_.WallNow());
  auto* renewed = lease.mutable_spec()->mutable_renewtime();
  renewed->set_seconds(now.seconds);
  renewed->set_nanos(now.nanos / 1000 * 1000);  // a MicroTime
  return lease;
}

Context LeaseRenewer::MakeContext() const {
  return {.deadline = After(loop_.Now(), options_.request_time_max),
          .priority = Priority::kCritical,
          .cancel = cancel_.token(),
          .trace = {}};
}

sync::ApiRequest LeaseRenewer::MakeRequest() const {
  return {.object = {std::string(kLeaseNamespace), options_.node_name},
          .traffic = sync::ApiTraffic::kHeartbeat};
}

}  // namespace denselet::node
