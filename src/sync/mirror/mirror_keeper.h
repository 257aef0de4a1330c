// Shows static pods on the API server: makes a mirror of each, replaces one that is of another
// version or that somebody deletes, and takes away those whose static pod is no more.
//
//   idle --> creating --> idle        missing: made, once the node is registered (it owns the
//   mirror) idle --> deleting --> idle        stale, going, orphaned: deleted by its uid, then made
//   anew
//     ^--------- pausing              in vain: again, with growing pauses, for ever
//
// A mirror has the name of its pod, so there are never two. While a static pod of that name still
// ends, its mirror stays: people see it end. Static pods run without any of this.
//
// Lives on the shard of the sources, which is the API shard; destroying it ends it. Bounded by the
// number of static pods and mirrors.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/source_set.h"
#include "sync/sources/desired_pods.h"
#include "sync/sources/mirror_pods.h"

namespace denselet::sync {

struct MirrorKeeperOptions {
  std::string node_name = {};
  uint32_t requests_max = 8;  // under way; the others wait, in the order of their names
  Duration request_time_max = Seconds(10);
  Duration retry_min = Milliseconds(200);
  Duration retry_max = Seconds(30);
  // A mirror that was made and that the watch has not shown by then is looked after again.
  Duration shown_within = Seconds(5);
};

// Whether a static pod of that name, removed or replaced, still ends on this node.
class EndingStaticPods {
 public:
  virtual bool StillEnds(const ObjectRef& pod) const = 0;

 protected:
  ~EndingStaticPods() = default;
};

class MirrorKeeper {
 public:
  enum class Stage : uint8_t { kIdle, kWaiting, kCreating, kDeleting, kPausing };

  MirrorKeeper(reactor::Loop& loop, Random& random, Logger log, ApiServer& api,
               const SourceReadiness& sources, const EndingStaticPods& ending,
               MirrorKeeperOptions options);
  ~MirrorKeeper();
  MirrorKeeper(const MirrorKeeper&) = delete;
  MirrorKeeper& operator=(const MirrorKeeper&) = delete;

  // Of all sources, as PodSources tells them.
  void OnPodChanges(std::span<const PodChange> changes);
  // One more source has told all it has: what was not known to be an orphan may be one now.
  void OnSourceReady();
  // A static pod has ended.
  void OnStaticPodEnded(const ObjectRef& pod);
  // The node as the API server knows it; an empty uid: it does not, or it is about to forget it.
  // Then no mirrors are made.
  void SetNode(std::string uid);

  const MirrorPods& pods() const { return pods_; }
  Stage stage(const ObjectRef& pod) const;
  size_t requests() const { return requests_; }

  // Deliberate faults, to prove that tests see them.
  struct Faults {
    bool keep_old = false;      // a mirror is made without deleting the one of another version
    bool keep_orphans = false;  // mirrors stay when their static pods are gone
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  struct Entry {
    Stage stage = Stage::kIdle;
    uint32_t failures = 0;
    reactor::TimerId timer = {};
    kube::PodRef deletes = {};  // of kDeleting
  };

  // What there is to do about a name.
  struct Work {
    enum class Kind : uint8_t { kNothing, kCreate, kDelete } kind = Kind::kNothing;
    kube::PodRef pod = {};  // the static pod to be shown, or the mirror to be deleted
  };
  Work Plan(const ObjectRef& name) const;

  void JudgeAll();
  void Judge(const ObjectRef& name);
  void Pump();
  void Begin(const ObjectRef& name, const Work& work);
  Result<ApiRequest> CreateRequest(const kube::PodRef& static_pod) const;
  void Ask(const ObjectRef& name, ApiRequest request,
           void (MirrorKeeper::*take)(const ObjectRef&, Entry&, const Result<ApiObject>&));
  void OnCreated(const ObjectRef& name, Entry& entry, const Result<ApiObject>& answer);
  void OnDeleted(const ObjectRef& name, Entry& entry, const Result<ApiObject>& answer);
  void OnFailure(const ObjectRef& name, Entry& entry, const Error& error);
  void Pause(const ObjectRef& name, Entry& entry, Duration pause);

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  ApiServer& api_;
  const SourceReadiness& sources_;
  const EndingStaticPods& ending_;
  const MirrorKeeperOptions options_;

  MirrorPods pods_;
  std::string node_uid_;
  std::map<ObjectRef, Entry> entries_;  // of names about which something is done or waits
  std::set<ObjectRef> waiting_;
  uint32_t requests_ = 0;
  Faults faults_;
  CancelSource cancel_;
};

}  // namespace denselet::sync
