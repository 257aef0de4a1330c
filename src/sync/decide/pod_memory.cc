#include "sync/decide/pod_memory.h"

#include <algorithm>

namespace denselet::sync {
namespace {

// A container that ran longer than that since its last start is not in a loop.
bool Forgotten(const BackOffEntry& entry, TimePoint exited) {
  return exited - entry.updated > kBackOffForgets;
}

}  // namespace

const ContainerMemory* PodMemory::Find(std::string_view name) const {
  const auto found = std::ranges::find(containers, name, &ContainerMemory::name);
  return found == containers.end() ? nullptr : &*found;
}

ContainerMemory& PodMemory::Of(std::string_view name) {
  const auto found = std::ranges::find(containers, name, &ContainerMemory::name);
  if (found != containers.end()) return *found;
  return containers.emplace_back(ContainerMemory{.name = std::string(name)});
}

void PodMemory::NoteObserved(const ObservedContainer& observed, TimePoint now) {
  ContainerMemory& memory = Of(observed.name);
  memory.attempts = std::max(memory.attempts, observed.attempt + 1);
  if (observed.state != ContainerState::kExited) return;
  const auto known = [&](const std::optional<ExitSeen>& seen) {
    return seen && seen->attempt >= observed.attempt;
  };
  if (!known(memory.last_exit)) {
    memory.exit_before = memory.last_exit;
    memory.last_exit = {.attempt = observed.attempt, .at = now};
  } else if (observed.attempt < memory.last_exit->attempt && !known(memory.exit_before)) {
    memory.exit_before = {.attempt = observed.attempt, .at = now};
  }
}

void PodMemory::NoteObserved(const ObservedPod& observed, TimePoint now) {
  for (const ObservedContainer& container : observed.containers) NoteObserved(container, now);
}

void PodMemory::NoteWaited(std::string_view name, const std::optional<BackOffEntry>& back_off) {
  if (!back_off) return;
  ContainerMemory& memory = Of(name);
  const std::optional<BackOffEntry>& before = memory.back_off;
  const bool goes_on = before && before->key == back_off->key &&
                       (before->delay < back_off->delay || !Forgotten(*before, back_off->updated));
  memory.waited = goes_on ? std::optional(before->delay) : std::nullopt;
}

void PodMemory::NoteCreate(std::string_view name, uint32_t attempt,
                           const std::optional<BackOffEntry>& back_off) {
  NoteWaited(name, back_off);
  ContainerMemory& memory = Of(name);
  memory.attempts = std::max(memory.attempts, attempt + 1);
  if (back_off) memory.back_off = back_off;
}

std::optional<Duration> BackOffDelay(const std::optional<BackOffEntry>& entry, uint64_t key,
                                     TimePoint exited, TimePoint now) {
  if (!entry || entry->key != key || Forgotten(*entry, exited)) return std::nullopt;
  if (now - exited >= entry->delay) return std::nullopt;
  return entry->delay;
}

BackOffEntry NextBackOff(const std::optional<BackOffEntry>& entry, uint64_t key, TimePoint exited,
                         const NodeFacts& node, TimePoint now) {
  const Duration base = std::min(node.back_off_base, node.back_off_max);
  if (!entry || entry->key != key || Forgotten(*entry, exited)) {
    return {.key = key, .delay = base, .updated = now};
  }
  return {.key = key, .delay = std::min(entry->delay * 2, node.back_off_max), .updated = now};
}

}  // namespace denselet::sync
