#include "kube/client/watched_objects.h"

#include <algorithm>
#include <utility>

namespace denselet::kube {

WatchedObjects::Change WatchedObjects::Put(const MetaView& meta) {
  Change change;
  auto found = objects_.find(ObjectRefView(meta.ns, meta.name));
  const bool is_new = found == objects_.end();
  if (is_new) found = objects_.try_emplace(meta.Ref()).first;
  Entry& entry = found->second;
  entry.list = list_;
  change.news = is_new || entry.uid != meta.uid || entry.resource_version != meta.resource_version;
  if (!is_new && entry.uid != meta.uid) change.gone = Gone{found->first, std::move(entry.uid)};
  if (is_new || change.gone) entry.uid = meta.uid;
  entry.resource_version = meta.resource_version;
  return change;
}

std::optional<WatchedObjects::Gone> WatchedObjects::Remove(const MetaView& meta) {
  const auto found = objects_.find(ObjectRefView(meta.ns, meta.name));
  if (found == objects_.end() || found->second.uid != meta.uid) return std::nullopt;
  Gone gone{found->first, std::move(found->second.uid)};
  objects_.erase(found);
  return gone;
}

std::vector<WatchedObjects::Gone> WatchedObjects::EndList() {
  std::vector<Gone> gone;
  // tidy: allow random-order because what is gone is sorted below
  for (auto entry = objects_.begin(); entry != objects_.end();) {
    if (entry->second.list == list_) {
      ++entry;
      continue;
    }
    gone.push_back({entry->first, std::move(entry->second.uid)});
    entry = objects_.erase(entry);
  }
  std::ranges::sort(gone, {}, &Gone::object);
  return gone;
}

}  // namespace denselet::kube
