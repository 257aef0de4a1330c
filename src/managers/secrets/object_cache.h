// The configMaps and secrets that pods of this node refer to, each in memory once.
//
//   Hold -> an entry -> (kWatch) its own list-watch by name ----> changes --> OnObjectChanged
//                       (kCache, kGet) a GET when asked,     --/
//                       and once a minute while it is live or missing, but of kCache not more
//                       often than `ttl`
//   Drop of the last holder -> the entry is gone, and its watch with it
//
// One watch for each name: the node authorizer lets a node list and watch secrets and configMaps by
// a single name only, so many of one namespace cannot share one. What is only read when containers
// are made, and was not asked for in a while, is let go until it is asked for again. An immutable
// one stays, and once it was read there is no watch of it.
//
// A question is answered from what is known; the first one waits for the first list, but not for
// ever: there may be more objects than the connections have streams. Then a GET answers, and as
// long as the watch does not speak it is looked at as with kGet. Who was not answered in time is
// told by OnObjectChanged when it came later, and asks again then.
//
// Lives on the API shard; destroying it answers those who wait.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/context.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "managers/secrets/referred_objects.h"
#include "managers/secrets/waiting_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

// configMapAndSecretChangeDetectionStrategy
enum class ChangeDetection : uint8_t { kWatch, kCache, kGet };

// Whether a pod refers to it that did not before: that one is not content with what was true a
// while ago.
enum class ObjectNews : uint8_t { kAsBefore, kNewPod };

struct ObjectCacheOptions {
  ChangeDetection detection = ChangeDetection::kWatch;
  bool has_api_server = true;
  Duration ttl = Minutes(1);             // of kCache, where the node says none
  Duration first_wait_max = Seconds(5);  // for the first list of a watch
  Duration late_look_max = Seconds(10);  // for the answer to a GET when that did not come
  Duration request_time_max = Seconds(30);
  Duration idle_max = Minutes(5);
  Duration sweep_period = Minutes(1);
  Duration watch_time_min = Minutes(30);
  uint32_t objects_max = 65536;  // beyond that: none is kept, each question is a request
  uint32_t waiting_max = 16384;  // of one object
};

class ObjectCacheUser {
 public:
  // It came, changed or went; told of what its holders may have seen otherwise. In a later turn
  // than any call to the cache.
  virtual void OnObjectChanged(const sync::ObjectKey& key,
                               const std::vector<uint32_t>& holders) = 0;

 protected:
  ~ObjectCacheUser() = default;
};

class ObjectCache {
 public:
  ObjectCache(reactor::Loop& loop, Random& random, ObjectCacheUser& user,
              const ObjectCacheOptions& options);
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  // The API server can be asked from now on. Once.
  void Join(sync::ApiServer& api);
  // Nothing is asked of it any more.
  void Leave();

  // How long of kCache what was read counts, as the node says; nothing: as the options say. Until
  // somebody asks or looks nothing happens.
  void SetTtl(std::optional<Duration> ttl) { ttl_ = ttl.value_or(options_.ttl); }

  // A holder holds an object once, whatever for and for however many pods.
  void Hold(const sync::ObjectKey& key, uint32_t holder, ObjectUse use, ObjectNews news);
  void Drop(const sync::ObjectKey& key, uint32_t holder);

  // See sync::PodObjects. Of one that nobody holds: a request for this once.
  void Fetch(const Context& context, const sync::ObjectKey& key,
             reactor::Done<sync::ObjectBytes> done);

  size_t size() const { return entries_.size(); }
  size_t watches() const;

 private:
  class Entry;

  void Look(Entry& entry);
  void Sweep();
  void FetchOnce(const Context& context, const sync::ObjectKey& key,
                 reactor::Done<sync::ObjectBytes> done);
  Context OwnContext() const;

  reactor::Loop& loop_;
  Random& random_;
  ObjectCacheUser& user_;
  const ObjectCacheOptions options_;
  Duration ttl_;
  sync::ApiServer* api_ = nullptr;
  CancelSource cancel_;
  uint64_t next_generation_ = 1;
  std::map<sync::ObjectKey, std::unique_ptr<Entry>> entries_;
  reactor::TimerId sweep_timer_ = {};
  bool sweeping_ = false;
};

}  // namespace denselet::managers
