// Finds what is left on the disk of pods that nobody knows any more, and has it removed.
//
//   all sources have spoken --> look --> [ pods found ] --> a handful every 100 ms --> their shards
//                                ^                                                        |
//                                +------ rest: five minutes <------- all handed over      v
//                                                     the pod's worker, as of any orphan: looks at
//                                                     the runtime, removes data and logs, is gone
//
// A pod that ends in order takes its directories with it; this is for what ended while no agent ran
// and for what could not be removed then. So a look finds nothing new, mostly, and costs two lists
// of directories; links to logs that are gone are looked at in the end. Whoever is known to a
// source on its way to its shard is left out here; its shard knows the rest. One worker a pod is
// the only one to make or remove what the pod has, so that nothing is removed under a pod that
// comes back: its wish waits for the end of that worker.
//
// Lives on the home shard, owned by PodCore; starts when told, ends when destroyed. Bounded by what
// was found (PodLeftovers); a shard takes a bounded number at a time, and refuses the others until
// the next look.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "reactor/api/loop.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/pod_services.h"

namespace denselet::sync {

struct HousekeeperOptions {
  Duration period = Minutes(5);        // from the end of a look to the next
  Duration pause = Milliseconds(100);  // between two handfuls
  Duration look_limit = Minutes(2);
  uint32_t handful = 16;
};

class HousekeeperUser {
 public:
  // A source told of it, or its shard was told of it: it is none of ours.
  virtual bool IsKnown(const PodUid& pod) const = 0;
  // kOverloaded: not now.
  virtual Status TakeLeftover(const PodIdentity& pod) = 0;

 protected:
  ~HousekeeperUser() = default;
};

class Housekeeper {
 public:
  enum class Stage : uint8_t { kWaiting, kLooking, kHanding, kResting };

  Housekeeper(reactor::Loop& loop, Random& random, const Logger& log, PodLeftovers& leftovers,
              HousekeeperUser& user, const HousekeeperOptions& options);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  // All sources have spoken, and all shards know it. A second time is as once.
  void Start();

  Stage stage() const { return stage_; }
  uint64_t looks() const { return looks_; }
  size_t waiting() const { return found_.size(); }

 private:
  void Look();
  void OnFound(const Result<std::vector<PodIdentity>>& pods);
  void Hand();
  void RemoveDeadLinks();
  void Rest();

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  PodLeftovers& leftovers_;
  HousekeeperUser& user_;
  const HousekeeperOptions options_;
  Stage stage_ = Stage::kWaiting;
  std::deque<PodIdentity> found_;
  uint64_t handed_ = 0;         // of this look
  uint64_t handed_before_ = 0;  // of the one before
  uint64_t looks_ = 0;
  reactor::TimerId timer_ = {};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with the look under way
};

}  // namespace denselet::sync
