#include "sync/sources/desired_pods.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/quoted.h"
#include "sync/sources/local_annotations.h"
#include "sync/sources/pod_difference.h"

namespace denselet::sync {
namespace {

constexpr size_t kQuotedBytesMax = 300;

ObjectRefView NameOf(const kube::PodAtRest& pod) { return {pod.hot().ns, pod.hot().name}; }

ObjectRef CopyOf(const ObjectRefView& name) {
  return {std::string(name.ns), std::string(name.name)};
}

Error Duplicate(std::string_view what, std::string_view value) {
  return Error(ErrorCode::kAlreadyExists, "another pod of this source has the " +
                                              std::string(what) + " " +
                                              Quoted(value, kQuotedBytesMax));
}

void RefuseDuplicates(std::vector<kube::PodRef>& pods, PodMerge& out) {
  std::unordered_set<ObjectRefView, ObjectRefHash> names;
  std::unordered_set<std::string_view> uids;
  std::erase_if(pods, [&](const kube::PodRef& pod) {
    const kube::PodHotFields& hot = pod->hot();
    if (!names.insert(NameOf(*pod)).second) {
      out.refused.push_back({pod, Duplicate("name", CopyOf(NameOf(*pod)).ToString())});
      return true;
    }
    if (!uids.insert(hot.uid).second) {
      out.refused.push_back({pod, Duplicate("uid", hot.uid)});
      return true;
    }
    return false;
  });
}

std::optional<PodOp> OpOf(PodDifference difference) {
  switch (difference) {
    case PodDifference::kNone:
      return std::nullopt;
    case PodDifference::kStatus:
      return PodOp::kReconcile;
    case PodDifference::kMeaning:
      return PodOp::kUpdate;
    case PodDifference::kDeletion:
      return PodOp::kDelete;
  }
  return std::nullopt;
}

}  // namespace

std::string_view PodOpName(PodOp op) {
  switch (op) {
    case PodOp::kRemove:
      return "REMOVE";
    case PodOp::kAdd:
      return "ADD";
    case PodOp::kUpdate:
      return "UPDATE";
    case PodOp::kDelete:
      return "DELETE";
    case PodOp::kReconcile:
      return "RECONCILE";
  }
  return "";
}

void DesiredPods::Merge(SourceKind source, const kube::PodRef& pod, WallTime now, PodMerge& out) {
  OfSource& pods = Of(source);
  const auto found = pods.by_uid.find(pod->hot().uid);
  if (found == pods.by_uid.end()) {
    const std::string seen = FormatRfc3339(now, 9);
    auto added = WithAnnotations(*pod, {.source = SourceName(source), .seen = seen});
    if (!added) return out.refused.push_back({pod, added.error()});
    out.changes.push_back({PodOp::kAdd, *added});
    pods.by_uid.emplace(pod->hot().uid, *std::move(added));
    pods.uids.insert_or_assign(CopyOf(NameOf(*pod)), std::string(pod->hot().uid));
    return;
  }
  kube::PodRef& existing = found->second;
  const auto difference = Compare(*existing, *pod);
  if (!difference) return out.refused.push_back({pod, difference.error()});
  const std::optional<PodOp> op = OpOf(*difference);
  if (!op) return;
  // A mirror pod stays the mirror that it was, whatever the API server says of it now.
  auto changed = WithAnnotations(*pod, {.source = SourceName(source),
                                        .seen = SeenAnnotation(*existing),
                                        .mirror = existing->hot().config_mirror});
  if (!changed) return out.refused.push_back({pod, changed.error()});
  existing = *std::move(changed);
  out.changes.push_back({*op, existing});
}

void DesiredPods::Drop(OfSource& pods, std::string_view uid, PodMerge& out) {
  const auto found = pods.by_uid.find(uid);
  if (found == pods.by_uid.end()) return;
  out.changes.push_back({PodOp::kRemove, found->second});
  const auto named = pods.uids.find(NameOf(*found->second));
  if (named != pods.uids.end() && named->second == uid) pods.uids.erase(named);
  pods.by_uid.erase(found);
}

// Who came first is served first where not all can be: as upstream, by the time of creation; static
// pods have none.
void DesiredPods::Sort(PodMerge& out) {
  std::ranges::stable_sort(out.changes, {}, [](const PodChange& change) {
    const kube::PodHotFields& pod = change.pod->hot();
    const bool waits_its_turn = change.op == PodOp::kAdd && !pod.IsStatic();
    return std::pair(change.op, waits_its_turn ? pod.creation_time : WallTime::min());
  });
}

void DesiredPods::DropAllBut(OfSource& pods, const std::vector<kube::PodRef>& wanted,
                             PodMerge& out) {
  if (pods.by_uid.empty()) return;
  std::unordered_set<std::string_view> uids;
  for (const kube::PodRef& pod : wanted) uids.insert(pod->hot().uid);
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : pods.by_uid) {
    if (!uids.contains(uid)) gone.push_back(uid);
  }
  for (const std::string& uid : gone) Drop(pods, uid, out);
}

PodMerge DesiredPods::Set(SourceKind source, std::vector<kube::PodRef> pods, WallTime now) {
  PodMerge out;
  RefuseDuplicates(pods, out);
  DropAllBut(Of(source), pods, out);
  for (kube::PodRef& pod : pods) {
    Merge(source, pod, now, out);
    pod = {};
  }
  Sort(out);
  return out;
}

PodMerge DesiredPods::Put(SourceKind source, const kube::PodRef& pod, WallTime now) {
  PodMerge out;
  OfSource& of = Of(source);
  const auto named = of.uids.find(NameOf(*pod));
  if (named != of.uids.end() && named->second != pod->hot().uid) {
    const std::string old_uid = named->second;
    Drop(of, old_uid, out);
  }
  Merge(source, pod, now, out);
  Sort(out);
  return out;
}

PodMerge DesiredPods::Remove(SourceKind source, std::string_view uid) {
  PodMerge out;
  Drop(Of(source), uid, out);
  return out;
}

kube::PodRef DesiredPods::Find(SourceKind source, std::string_view uid) const {
  const OfSource& of = Of(source);
  const auto found = of.by_uid.find(uid);
  return found == of.by_uid.end() ? kube::PodRef() : found->second;
}

std::vector<kube::PodRef> DesiredPods::All() const {
  std::vector<kube::PodRef> all;
  all.reserve(size());
  for (const OfSource& of : sources_) {
    for (const auto& [uid, pod] : of.by_uid) all.push_back(pod);
  }
  return all;
}

size_t DesiredPods::size() const {
  size_t count = 0;
  for (const OfSource& of : sources_) count += of.by_uid.size();
  return count;
}

}  // namespace denselet::sync
