// Builds the list of everything from the runtime's answers, which come in any order and in any
// number of parts: each is read where it arrives and need not be kept.
//
// The bytes are read as they stand. Of an object a list needs four fields and one label; as
// messages its image, its other labels and its annotations would be most of the work.
//
// A plain value, on any thread. Objects that are not a pod's of ours are passed over; those that
// are but have no id, name or metadata are left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

class ListCollector {
 public:
  // Answers to ListPodSandbox and ListContainers, or parts of those to StreamPodSandboxes and
  // StreamContainers, on the wire. kCorrupt: it is no such thing; what stood before the fault may
  // have been taken.
  Status AddSandboxes(std::string_view answer);
  Status AddContainers(std::string_view answer);
  // As if no answer about containers had come: it is to come anew. All sandboxes came before.
  void TakeContainersBack();

  // Sorted; an object that came twice is there once. The collector is empty after that.
  sync::RuntimeList Take();
  size_t unreadable() const { return unreadable_sandboxes_ + unreadable_containers_; }

 private:
  // Of one object: views into the answer.
  struct Sandbox {
    std::string_view id = {}, uid = {}, ns = {}, name = {};
    uint32_t attempt = 0;
    int state = 0;
    bool has_metadata = false;
  };
  struct Container {
    std::string_view id = {}, name = {};
    std::string_view uid = {}, pod_ns = {}, pod_name = {};
    uint32_t attempt = 0;
    int state = 0;
  };
  // So that nothing is copied for a look-up: most objects belong to a pod that is there already.
  struct UidHash {
    using is_transparent = void;
    size_t operator()(std::string_view uid) const { return std::hash<std::string_view>()(uid); }
  };

  static Result<Sandbox> ReadSandbox(std::string_view wire);
  static Result<Container> ReadContainer(std::string_view wire);
  void Add(const Sandbox& sandbox);
  void Add(const Container& container);
  sync::ListedPod& PodOf(std::string_view uid, std::string_view ns, std::string_view name);

  // The key becomes the pod's uid when it is taken.
  std::unordered_map<std::string, sync::ListedPod, UidHash, std::equal_to<>> pods_;
  size_t unreadable_sandboxes_ = 0, unreadable_containers_ = 0;
};

}  // namespace denselet::cri
