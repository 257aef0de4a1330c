// What this node is to run: the pods of all sources, and what each new telling of a source changes
// about that, in upstream's five words.
//
// Sources are apart: a pod that two of them have stands here twice, and each of its tellings is a
// change with the source's name on it, as the kubelet's workers know it. A pure class; lives on the
// shard of the sources.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "kube/api/pod/pod_at_rest.h"
#include "sync/ports/source_set.h"

namespace denselet::sync {

// In the order in which changes of one telling are told.
enum class PodOp : uint8_t {
  kRemove,     // its source has it no more
  kAdd,        // new to its source, also when it was there once before
  kUpdate,     // it means something else now
  kDelete,     // it is to go, or to go in another way
  kReconcile,  // nothing but its status, which is ours to say
};

std::string_view PodOpName(PodOp op);

struct PodChange {
  PodOp op;
  // With the node's annotations. Of kRemove: as it was last.
  kube::PodRef pod;
};

// A pod that a source told and that cannot be taken.
struct RefusedPod {
  kube::PodRef pod;
  Error reason;  // kAlreadyExists: another of that name or uid; kCorrupt: it cannot be read
};

struct PodMerge {
  // In the order above; additions by the time of creation, else in the order of the telling.
  std::vector<PodChange> changes;
  std::vector<RefusedPod> refused;
};

class DesiredPods {
 public:
  // All that a source has. Of two with one name or one uid the first counts. Each is let go of as
  // soon as it is merged: with all of them there are never two copies of all.
  PodMerge Set(SourceKind source, std::vector<kube::PodRef> pods, WallTime now);
  // One of them. Another of its name is gone.
  PodMerge Put(SourceKind source, const kube::PodRef& pod, WallTime now);
  PodMerge Remove(SourceKind source, std::string_view uid);

  // Empty: the source has no such pod.
  kube::PodRef Find(SourceKind source, std::string_view uid) const;
  // By source, then by uid.
  std::vector<kube::PodRef> All() const;
  size_t size() const;

 private:
  struct OfSource {
    std::map<std::string, kube::PodRef, std::less<>> by_uid;
    std::unordered_map<ObjectRef, std::string, ObjectRefHash, ObjectRefEqual> uids;  // by name
  };

  OfSource& Of(SourceKind source) { return sources_[static_cast<size_t>(source)]; }
  const OfSource& Of(SourceKind source) const { return sources_[static_cast<size_t>(source)]; }

  void Merge(SourceKind source, const kube::PodRef& pod, WallTime now, PodMerge& out);
  static void Drop(OfSource& pods, std::string_view uid, PodMerge& out);
  static void DropAllBut(OfSource& pods, const std::vector<kube::PodRef>& wanted, PodMerge& out);
  static void Sort(PodMerge& out);

  std::array<OfSource, std::size(kSourceKinds)> sources_;
};

}  // namespace denselet::sync
