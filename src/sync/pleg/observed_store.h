// What the runtime has of the pods of one shard, as far as reads have shown it, and as of when.
//
// Written by its shard alone (invariant 1), and only with answers of reads: of that very pod, or of
// single objects of it that a list shows to be all. A list alone merely says where the picture does
// not fit any more. An answer counts when it was asked for after the one that is here (2, 4); what
// was forgotten leaves the epoch of that behind, so that a late answer does not bring it back (8).
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/ids.h"
#include "sync/pleg/epoch.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

// The faults that the simulator puts in on purpose, to see that it would notice them; nothing in
// the agent sets one. See tests/sim/core/mutations.h.
struct StoreFaults {
  bool hints_prove = false;  // a hint makes what is here count as read just now (3)
  bool stamp_at_arrival =
      false;                   // a read holds as of when it arrived, not as of its request (2, 4)
  bool no_tombstones = false;  // (8)
  bool list_proves_nothing = false;  // a list that differs still counts as proof (4)
  bool lists_write = false;          // what a list shows is taken for what was read (1)
  bool sandbox_is_all = false;       // an event's sandbox is taken for all there is of the pod (13)
};

struct StoredPod {
  Epoch as_of = 0;   // the picture holds as of this; 0: never read
  Epoch read = 0;    // of the read that gave it
  Epoch listed = 0;  // of the list that told of it before anything was read
  ObservedPod pod = {};
};

// A picture made of looks at single objects, the oldest of which was asked for at `looked`.
struct LookedPod {
  Epoch looked = 0;
  ObservedPod pod = {};
};

enum class Applied : uint8_t { kNew, kSame, kStale };

class ObservedStore {
 public:
  // Nothing is known of a pod until it was read once.
  const StoredPod* Find(const PodUid& pod) const;

  // The answer of a read that was asked for at `epoch`.
  Applied Apply(const PodUid& pod, Epoch epoch, ObservedPod observed);

  // What a list that was asked for at `epoch` tells of this shard's pods: where it agrees with the
  // picture, that holds as of the list; where not, a read is due. Pods that are here and not in the
  // list count as empty. Both are returned sorted by uid.
  std::vector<PodUid> Compare(Epoch epoch, const std::vector<ListedPod>& pods);

  // Looks at single objects that are newer than the picture; a list that was compared, and asked
  // for at `listed`, shows the same. It counts as a read of then: an answer to an earlier question
  // may be older than some of the looks.
  Applied Complete(const PodUid& pod, LookedPod looked, Epoch listed);

  // Of the faults hints_prove and sandbox_is_all: an event came. Else nothing of it is kept.
  void Hinted(const PodUid& pod, Epoch now);

  // Of a pod that nothing is known of: the last list did not show it, so as of that list the
  // runtime had nothing of it. False: no list says so.
  bool TakeAbsence(const PodUid& pod);

  // Nobody is interested any more. `now` is drawn for this.
  void Forget(const PodUid& pod, Epoch now);
  // No read that was asked for before this is under way any more: older tombstones have done their
  // duty.
  void NothingOlderThan(Epoch epoch);

  size_t size() const { return pods_.size(); }
  size_t tombstones() const { return tombstones_.size(); }
  // Sorted.
  std::vector<PodUid> Pods() const;

  StoreFaults& faults_for_tests() { return faults_; }

 private:
  void CheckIsProved(const StoredPod& here) const;

  std::map<PodUid, StoredPod> pods_;
  Epoch listed_ = 0;                    // of the last list
  std::map<PodUid, Epoch> tombstones_;  // at most as many as pods were forgotten during one read
  StoreFaults faults_;
};

// The same objects in the same states, as far as a list tells.
bool Agrees(const ObservedPod& observed, const ListedPod& listed);
// Of pods in the order of their uids. Null: it is not among them.
const ListedPod* FindListed(const std::vector<ListedPod>& pods, const PodUid& uid);

}  // namespace denselet::sync
