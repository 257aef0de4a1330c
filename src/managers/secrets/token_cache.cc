#include "managers/secrets/token_cache.h"

#include <algorithm>
#include <utility>

#include "sync/ports/api_typed.h"

namespace denselet::managers {
namespace {

sync::authentication::TokenRequest RequestFor(const sync::TokenWish& wish) {
  sync::authentication::TokenRequest request;
  if (!wish.audience.empty()) request.mutable_spec()->add_audiences(wish.audience);
  request.mutable_spec()->set_expirationseconds(wish.expiration_seconds);
  auto& bound = *request.mutable_spec()->mutable_boundobjectref();
  bound.set_kind("Pod");
  bound.set_apiversion("v1");
  bound.set_name(wish.pod_name);
  bound.set_uid(wish.pod_uid.value());
  return request;
}

Error Failed(const sync::TokenWish& wish, const Error& error) {
  return error.With("failed to fetch token for service account " + wish.ns + "/" +
                    wish.service_account);
}

}  // namespace

TokenCache::TokenCache(reactor::Loop& loop, Random& random, const TokenCacheOptions& options)
    : loop_(loop), random_(random), options_(options) {}

TokenCache::~TokenCache() {
  cancel_.Cancel();
  if (sweeping_) loop_.Disarm(sweep_timer_);
}

void TokenCache::Leave() {
  cancel_.Cancel();
  api_ = nullptr;
}

void TokenCache::Fetch(const Context& context, const sync::TokenWish& wish,
                       reactor::Done<sync::ServiceToken> done) {
  const auto refuse = [this, &wish, &done](ErrorCode code, std::string why) {
    loop_.Post([error = Failed(wish, Error(code, std::move(why))),
                done = std::move(done)]() mutable { done(std::move(error)); });
  };
  if (!options_.has_api_server) {
    return refuse(ErrorCode::kUnavailable,
                  "cannot use TokenManager when kubelet is in standalone mode");
  }
  auto found = tokens_.find(wish);
  if (found == tokens_.end()) {
    if (tokens_.size() >= options_.tokens_max) {
      return refuse(ErrorCode::kOverloaded, "too many tokens are in use");
    }
    found =
        tokens_
            .emplace(wish, std::make_unique<Entry>(loop_, options_.waiting_max, next_generation_++))
            .first;
  }
  Entry& entry = *found->second;
  const TimePoint now = loop_.Now();
  const bool good = entry.token && IsGood(*entry.token);
  const bool due = !good || loop_.WallNow() >= entry.token->refresh_at;
  if (good && (!due || now < entry.not_before)) {
    return loop_.Post(
        [token = *entry.token, done = std::move(done)]() mutable { done(std::move(token)); });
  }
  if (api_ == nullptr) return refuse(ErrorCode::kUnavailable, "there is no API server yet");
  if (!good && entry.fault && now < entry.not_before) {
    return loop_.Post(
        [error = *entry.fault, done = std::move(done)]() mutable { done(std::move(error)); });
  }
  // One that is still good is the answer of a server that does not give another in time. The
  // request itself knows best why it came to nothing, and ends a little earlier.
  const Duration wait =
      good ? options_.renewal_wait_max : options_.request_time_max + options_.answer_margin;
  const Error silent(ErrorCode::kUnavailable, "there was no answer in time");
  entry.waiting.Add(std::min(context.deadline, After(now, wait)),
                    good ? Result<sync::ServiceToken>(*entry.token) : Failed(wish, silent),
                    std::move(done));
  Ask(wish, entry);
  if (sweeping_) return;
  sweeping_ = true;
  sweep_timer_ = loop_.Arm(After(now, options_.sweep_period), [this] { Sweep(); });
}

void TokenCache::Ask(const sync::TokenWish& wish, Entry& entry) {
  if (std::exchange(entry.asking, true)) return;
  api_->Send({.deadline = After(loop_.Now(), options_.request_time_max),
              .priority = Priority::kNormal,
              .cancel = cancel_.token(),
              .trace = {}},
             {.verb = sync::ApiVerb::kCreate,
              .resource = kube::kServiceAccounts,
              .object = {wish.ns, wish.service_account},
              .subresource = "token",
              .body = kube::EncodeWire(RequestFor(wish))},
             [this, alive = cancel_.token(), wish,
              generation = entry.generation](const Result<sync::ApiObject>& answer) {
               if (alive.cancelled()) return;
               const auto found = tokens_.find(wish);
               if (found == tokens_.end() || found->second->generation != generation) return;
               Take(wish, *found->second, answer);
             });
}

void TokenCache::Take(const sync::TokenWish& wish, Entry& entry,
                      const Result<sync::ApiObject>& answer) {
  entry.asking = false;
  Result<sync::authentication::TokenRequest> made =
      answer ? sync::ParseObject<sync::authentication::TokenRequest>(answer->wire)
             : Result<sync::authentication::TokenRequest>(answer.error());
  if (!made) {
    const bool good = entry.token && IsGood(*entry.token);
    entry.pause =
        good ? options_.renewal_pause
             : std::clamp(2 * entry.pause, options_.request_pause_min, options_.renewal_pause);
    entry.not_before = After(loop_.Now(), random_.Jitter(entry.pause, 0.5));
    entry.fault = Failed(wish, made.error());
    if (good) return entry.waiting.Answer(*entry.token);
    return entry.waiting.Answer(*entry.fault);
  }
  const WallTime expires =
      ToWallTime(Timestamp{.seconds = made->status().expirationtimestamp().seconds(), .nanos = 0});
  // The server may have given it another life than was asked for.
  const Duration life = made->spec().has_expirationseconds()
                            ? Seconds(made->spec().expirationseconds())
                            : std::max(expires - loop_.WallNow(), Duration::zero());
  const Duration jitter(
      static_cast<int64_t>(static_cast<double>(options_.jitter_max.count()) * random_.Unit()));
  const WallTime refresh_at =
      std::min(expires - life / 5, expires - life + options_.age_max) - jitter;
  entry.token = sync::ServiceToken{
      .token = made->status().token(), .expires = expires, .refresh_at = refresh_at};
  entry.not_before = {};
  entry.pause = {};
  entry.fault.reset();
  entry.waiting.Answer(*entry.token);
}

void TokenCache::Forget(const PodUid& pod) {
  const auto [first, last] = tokens_.equal_range(pod);
  tokens_.erase(first, last);
}

// Those that have expired, and wishes that never came true.
void TokenCache::Sweep() {
  std::erase_if(tokens_, [this](const auto& one) {
    const Entry& entry = *one.second;
    if (entry.asking || !entry.waiting.empty() || loop_.Now() < entry.not_before) return false;
    return !entry.token || !IsGood(*entry.token);
  });
  sweeping_ = !tokens_.empty();
  if (!sweeping_) return;
  sweep_timer_ = loop_.Arm(After(loop_.Now(), options_.sweep_period), [this] { Sweep(); });
}

}  // namespace denselet::managers
