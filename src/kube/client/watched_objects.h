// What a list-watch has told its user: name, uid and version of each object, so that a new list can
// be told as changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "kube/api/codec/meta_view.h"

namespace denselet::kube {

class WatchedObjects {
 public:
  struct Gone {
    ObjectRef object;
    std::string uid;
  };
  struct Change {
    bool news = false;         // false: this version was told already
    std::optional<Gone> gone;  // of the same name, with another uid
  };

  Change Put(const MetaView& meta);
  // Nothing: it was not there, or is another object of that name by now.
  std::optional<Gone> Remove(const MetaView& meta);

  // From here on a list is told; those that are not Put until EndList are no more.
  void BeginList() { ++list_; }
  // In order.
  std::vector<Gone> EndList();

  size_t size() const { return objects_.size(); }

 private:
  struct Entry {
    std::string uid;
    std::string resource_version;
    uint64_t list = 0;  // the last one it was in, or during which it came
  };

  std::unordered_map<ObjectRef, Entry, ObjectRefHash, ObjectRefEqual> objects_;
  uint64_t list_ = 0;
};

}  // namespace denselet::kube
