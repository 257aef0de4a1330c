// Tokens of service accounts, asked for by TokenRequest and handed out again as long as they are
// young enough: until 80 % of their life or 24 hours are over, as upstream.
//
// One request for a token is under way at a time; who asks meanwhile waits for it. One that cannot
// be renewed serves until it expires. Who asks again for one that the server refused hears the same
// until it is time to ask the server again: a thousand pods of an account that is gone do not keep
// it busy.
//
// Lives on the API shard; destroying it answers those who wait.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/cancel.h"
#include "base/context.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "managers/secrets/waiting_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

struct TokenCacheOptions {
  bool has_api_server = true;
  Duration request_time_max = Seconds(30);
  Duration answer_margin = Seconds(1);  // who waits does so this much longer
  Duration renewal_wait_max = Seconds(10);
  Duration age_max = Hours(24);
  Duration jitter_max = Seconds(10);
  // After a renewal that failed: no sooner again, while the old one serves.
  Duration renewal_pause = Seconds(30);
  // While none serves: doubled up to the other.
  Duration request_pause_min = Seconds(1);
  Duration sweep_period = Minutes(1);
  uint32_t tokens_max = 65536;  // beyond that: kOverloaded
  uint32_t waiting_max = 1024;  // of one
};

class TokenCache {
 public:
  TokenCache(reactor::Loop& loop, Random& random, const TokenCacheOptions& options);
  ~TokenCache();
  TokenCache(const TokenCache&) = delete;
  TokenCache& operator=(const TokenCache&) = delete;

  void Join(sync::ApiServer& api) { api_ = &api; }
  void Leave();

  // See sync::PodObjects.
  void Fetch(const Context& context, const sync::TokenWish& wish,
             reactor::Done<sync::ServiceToken> done);
  // The pod is gone.
  void Forget(const PodUid& pod);

  size_t size() const { return tokens_.size(); }

 private:
  struct Entry {
    Entry(reactor::Loop& loop, uint32_t waiting_max, uint64_t number)
        : generation(number), waiting(loop, waiting_max) {}
    const uint64_t generation;
    std::optional<sync::ServiceToken> token;
    TimePoint not_before = {};        // of the next request
    Duration pause = {};              // before it
    std::optional<Error> fault = {};  // why there is none: the answer until then
    bool asking = false;
    WaitingLine<sync::ServiceToken> waiting;
  };

  // Those of a pod lie together: many pods go at once, and each is asked for.
  struct ByPod {
    using is_transparent = void;
    bool operator()(const sync::TokenWish& a, const sync::TokenWish& b) const {
      return std::tie(a.pod_uid, a) < std::tie(b.pod_uid, b);
    }
    bool operator()(const sync::TokenWish& a, const PodUid& pod) const { return a.pod_uid < pod; }
    bool operator()(const PodUid& pod, const sync::TokenWish& b) const { return pod < b.pod_uid; }
  };

  void Ask(const sync::TokenWish& wish, Entry& entry);
  void Take(const sync::TokenWish& wish, Entry& entry, const Result<sync::ApiObject>& answer);
  bool IsGood(const sync::ServiceToken& token) const { return loop_.WallNow() < token.expires; }
  void Sweep();

  reactor::Loop& loop_;
  Random& random_;
  const TokenCacheOptions options_;
  sync::ApiServer* api_ = nullptr;
  CancelSource cancel_;
  uint64_t next_generation_ = 1;
  std::map<sync::TokenWish, std::unique_ptr<Entry>, ByPod> tokens_;
  reactor::TimerId sweep_timer_ = {};
  bool sweeping_ = false;
};

}  // namespace denselet::managers
