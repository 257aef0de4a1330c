#include "sync/decide/known_pod.h"

#include <algorithm>
#include <tuple>

namespace denselet::sync {
namespace {

// Whether what was seen at `epoch` tells more than the call does.
bool Covers(Epoch epoch, const Call& call) { return epoch > call.ended; }

bool Holds(const Call& call, CallState state, Epoch epoch) {
  return call.state == state && !Covers(epoch, call);
}

Life LifeOf(ContainerState state) {
  switch (state) {
    case ContainerState::kCreated:
      return Life::kCreated;
    case ContainerState::kRunning:
      return Life::kRunning;
    case ContainerState::kExited:
      return Life::kExited;
    case ContainerState::kUnknown:
      return Life::kUnknown;
  }
  return Life::kUnknown;
}

void Fill(KnownContainer& known, const ObservedContainer& seen) {
  known.name = seen.name;
  known.attempt = seen.attempt;
  known.id = &seen.id;
  known.sandbox = &seen.sandbox;
  known.life = LifeOf(seen.state);
  known.exit_seen = seen.state == ContainerState::kExited;
  known.exit_code = seen.exit_code;
  known.oom_killed = seen.reason == "OOMKilled";
  known.hash = seen.hash;
  known.created = seen.created;
}

void Fill(KnownSandbox& known, const ObservedSandbox& seen) {
  known.attempt = seen.attempt;
  known.id = &seen.id;
  known.ready = seen.state == SandboxState::kReady;
  known.seen = true;
  known.network = seen.network;
  known.ips = &seen.ips;
}

// Goes through a pod's objects and lays our own calls over what was observed.
class Merger {
 public:
  explicit Merger(const DecideInput& input) : input_(input) {}

  KnownPod Run() {
    known_.sandboxes.reserve(observed().sandboxes.size() + input_.ledger.sandboxes.size());
    for (const ObservedSandbox& seen : observed().sandboxes) AddSandbox(&seen, EntryOf(seen));
    for (const SandboxEntry& entry : input_.ledger.sandboxes) {
      if (!IsObserved(entry)) AddSandbox(nullptr, &entry);
    }
    known_.containers.reserve(observed().containers.size() + input_.ledger.containers.size());
    for (const ObservedContainer& seen : observed().containers) AddContainer(&seen, EntryOf(seen));
    for (const ContainerEntry& entry : input_.ledger.containers) {
      if (!IsObserved(entry)) AddContainer(nullptr, &entry);
    }
    Sort();
    ChooseSubjects();
    return std::move(known_);
  }

 private:
  const ObservedPod& observed() const { return *input_.observation.pod; }

  static bool Same(const ContainerEntry& entry, const ObservedContainer& seen) {
    if (!entry.id.empty()) return entry.id == seen.id;
    return entry.attempt == seen.attempt && entry.name == seen.name;
  }
  static bool Same(const SandboxEntry& entry, const ObservedSandbox& seen) {
    return entry.id.empty() ? entry.attempt == seen.attempt : entry.id == seen.id;
  }
  const ContainerEntry* EntryOf(const ObservedContainer& seen) const {
    for (const auto& entry : input_.ledger.containers) {
      if (Same(entry, seen)) return &entry;
    }
    return nullptr;
  }
  const SandboxEntry* EntryOf(const ObservedSandbox& seen) const {
    for (const auto& entry : input_.ledger.sandboxes) {
      if (Same(entry, seen)) return &entry;
    }
    return nullptr;
  }
  bool IsObserved(const ContainerEntry& entry) const {
    return std::ranges::any_of(observed().containers,
                               [&](const auto& seen) { return Same(entry, seen); });
  }
  bool IsObserved(const SandboxEntry& entry) const {
    return std::ranges::any_of(observed().sandboxes,
                               [&](const auto& seen) { return Same(entry, seen); });
  }

  void AddSandbox(const ObservedSandbox* seen, const SandboxEntry* entry) {
    KnownSandbox known{.entry = entry};
    Epoch epoch = input_.observation.epoch;
    bool there = seen != nullptr;
    if (seen) Fill(known, *seen);
    if (entry) {
      if (entry->run.in_flight()) {
        known_.running_sandbox = entry;
        return;  // what is half made is nobody's sandbox yet
      }
      if (entry->seen && entry->seen_at > epoch) {
        epoch = entry->seen_at;
        Fill(known, *entry->seen);
        there = true;
      } else if (!there && Holds(entry->run, CallState::kDone, epoch)) {
        known.attempt = entry->attempt;
        known.id = &entry->id;
        known.ready = there = true;
      }
      there = LaySandboxCalls(*entry, epoch, known) && there;
    }
    if (there) known_.sandboxes.push_back(known);
  }

  // False: it is gone.
  bool LaySandboxCalls(const SandboxEntry& entry, Epoch epoch, KnownSandbox& known) {
    for (const Call* call : {&entry.run, &entry.remove}) {
      if (Holds(*call, CallState::kUnknown, epoch)) known_.outcome_unknown = true;
    }
    if (Holds(entry.stop, CallState::kDone, epoch)) {
      known.ready = false;
      known_.changed_since_read = true;
    }
    return !Holds(entry.remove, CallState::kDone, epoch);
  }

  void AddContainer(const ObservedContainer* seen, const ContainerEntry* entry) {
    KnownContainer known{.entry = entry};
    Epoch epoch = input_.observation.epoch;
    if (seen) Fill(known, *seen);
    if (entry) {
      if (entry->seen && entry->seen_at > epoch) {
        epoch = entry->seen_at;
        Fill(known, *entry->seen);
      }
      if (!LayContainerCalls(*entry, epoch, known)) return;
    }
    known.as_of = epoch;
    if (known.life != Life::kNone) known_.containers.push_back(known);
  }

  // False: it is gone.
  bool LayContainerCalls(const ContainerEntry& entry, Epoch epoch, KnownContainer& known) {
    if (entry.create.in_flight()) {
      known.name = entry.name;
      known.attempt = entry.attempt;
      known.life = Life::kCreating;
      return true;
    }
    for (const Call* call : {&entry.create, &entry.start, &entry.stop, &entry.remove}) {
      if (Holds(*call, CallState::kUnknown, epoch)) known_.outcome_unknown = true;
    }
    if (known.life == Life::kNone && Holds(entry.create, CallState::kDone, epoch)) {
      known.name = entry.name;
      known.attempt = entry.attempt;
      known.id = &entry.id;
      known.sandbox = &entry.sandbox;
      known.hash = entry.hash;
      known.life = Life::kCreated;
      known_.changed_since_read = true;
    }
    if (known.life == Life::kNone) return false;
    if (entry.start.in_flight() && known.life == Life::kCreated) known.life = Life::kStarting;
    if (Holds(entry.start, CallState::kDone, epoch)) {
      if (known.life == Life::kCreated) known.life = Life::kRunning;
      known_.changed_since_read = true;
    }
    if (Holds(entry.stop, CallState::kDone, epoch)) {
      known.life = Life::kExited;
      known.exit_seen = false;
      known_.changed_since_read = true;
    }
    return !Holds(entry.remove, CallState::kDone, epoch);
  }

  void Sort() {
    std::ranges::sort(known_.sandboxes, [](const KnownSandbox& a, const KnownSandbox& b) {
      return std::tie(b.attempt, *a.id) < std::tie(a.attempt, *b.id);
    });
    std::ranges::sort(known_.containers, [](const KnownContainer& a, const KnownContainer& b) {
      if (a.name != b.name) return a.name < b.name;
      if (a.attempt != b.attempt) return a.attempt > b.attempt;
      if (!a.id || !b.id) return b.id != nullptr;
      return *a.id < *b.id;
    });
  }

  // What the runtime lost track of may run: a newer one that was made before our time must not be
  // started beside it.
  static bool MayRun(Life life) { return life == Life::kRunning || life == Life::kUnknown; }

  void ChooseSubjects() {
    known_.subjects.assign(input_.plan.containers.size(), kNoContainer);
    for (size_t at = 0; at < known_.containers.size(); ++at) {
      const ContainerIndex index = input_.plan.Find(known_.containers[at].name);
      if (index == kNoContainer) continue;
      uint16_t& subject = known_.subjects[index];
      if (subject == kNoContainer ||
          (MayRun(known_.containers[at].life) && !MayRun(known_.containers[subject].life) &&
           known_.containers[subject].life != Life::kCreating &&
           known_.containers[subject].life != Life::kStarting)) {
        subject = static_cast<uint16_t>(at);
      }
    }
  }

  const DecideInput& input_;
  KnownPod known_ = {};
};

}  // namespace

KnownPod MakeKnownPod(const DecideInput& input) { return Merger(input).Run(); }

}  // namespace denselet::sync
