// Builds the list of everything from the runtime's messages, which come in any order and in any
// number of parts: each message is read where it arrives and need not be kept.
//
// A plain value, on any thread. Objects that are not a pod's of ours are passed over; those that
// are but have no id, name or metadata are left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "cri/fwd.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

class ListCollector {
 public:
  void Add(const pb::PodSandbox& sandbox);
  void Add(const pb::Container& container);

  // Sorted; an object that came twice is there once. The collector is empty after that.
  sync::RuntimeList Take();
  size_t unreadable() const { return unreadable_; }

 private:
  sync::ListedPod& PodOf(const sync::PodIdentity& pod);

  sync::RuntimeList list_;
  std::unordered_map<PodUid, size_t> index_;  // of list_.pods
  size_t unreadable_ = 0;
};

}  // namespace denselet::cri
