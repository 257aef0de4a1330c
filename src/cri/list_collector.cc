#include "cri/list_collector.h"

#include <algorithm>
#include <utility>

#include "cri/messages.h"
#include "cri/observed_messages.h"
#include "cri/values.h"

namespace denselet::cri {

namespace {

// Sorted, so what came twice stands side by side.
template <class Objects>
void DropRepeated(Objects& objects) {
  const auto repeated = std::ranges::unique(
      objects, {}, [](const auto& object) -> const auto& { return object.id; });
  objects.erase(repeated.begin(), repeated.end());
}

}  // namespace

sync::ListedPod& ListCollector::PodOf(const sync::PodIdentity& pod) {
  const auto [found, is_new] = index_.try_emplace(pod.uid, list_.pods.size());
  if (is_new) list_.pods.push_back({.pod = pod});
  return list_.pods[found->second];
}

void ListCollector::Add(const pb::PodSandbox& sandbox) {
  sync::PodIdentity owner = OwnerOf(sandbox);
  if (owner.uid.empty()) return;
  if (sandbox.id().empty() || !sandbox.has_metadata()) {
    ++unreadable_;
    return;
  }
  sync::ListedPod& pod = PodOf(owner);
  pod.sandboxes.push_back({
      .pod = std::move(owner),
      .id = SandboxId(sandbox.id()),
      .attempt = sandbox.metadata().attempt(),
      .state = StateOf(sandbox.state()),
      .created = TimeOf(sandbox.created_at()),
  });
}

void ListCollector::Add(const pb::Container& container) {
  sync::PodIdentity owner = OwnerOf(container);
  if (owner.uid.empty()) return;
  if (container.id().empty() || container.metadata().name().empty()) {
    ++unreadable_;
    return;
  }
  sync::ListedPod& pod = PodOf(owner);
  pod.containers.push_back({
      .pod = std::move(owner.uid),
      .id = ContainerId(container.id()),
      .sandbox = SandboxId(container.pod_sandbox_id()),
      .name = container.metadata().name(),
      .attempt = container.metadata().attempt(),
      .state = StateOf(container.state()),
      .created = TimeOf(container.created_at()),
  });
}

sync::RuntimeList ListCollector::Take() {
  index_.clear();
  sync::RuntimeList list = std::exchange(list_, {});
  for (sync::ListedPod& pod : list.pods) {
    Sort(pod);
    DropRepeated(pod.sandboxes);
    DropRepeated(pod.containers);
  }
  std::ranges::sort(list.pods, {},
                    [](const sync::ListedPod& pod) -> const PodUid& { return pod.pod.uid; });
  return list;
}

}  // namespace denselet::cri
