// The files of a volume that is made of objects of the API server, of tokens and of the pod itself:
// which they are, with which content and mode. And first, what has to be asked for.
//
// Pure functions, on any thread. Errors are in upstream's words.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/pod/pod_fields.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

// What is in a file: bytes of its own, or a part of an object's, which all files made of it share.
class FileBytes {
 public:
  FileBytes() = default;
  FileBytes(std::string own)  // implicit on purpose
      : owner_(std::make_shared<const std::string>(std::move(own))), part_(*owner_) {}
  FileBytes(const char* own) : FileBytes(std::string(own)) {}  // implicit on purpose
  FileBytes(sync::ObjectBytes object, std::string_view part)
      : owner_(std::move(object)), part_(part) {}

  std::string_view view() const { return part_; }
  friend bool operator==(const FileBytes& a, const FileBytes& b) { return a.part_ == b.part_; }

 private:
  sync::ObjectBytes owner_;
  std::string_view part_;
};

struct FileContent {
  FileBytes data = {};
  uint32_t mode = 0644;
  std::optional<uint32_t> uid = {};

  friend bool operator==(const FileContent&, const FileContent&) = default;
};

// By path below the volume: clean, and never out of it.
using Payload = std::map<std::string, FileContent>;

// What the content of one pod's volumes may still take. Who writes pods chooses how often they name
// a key or a field: nothing else bounds what a megabyte of pod makes the node write and hold.
struct PayloadBudget {
  size_t files = 65'536;
  size_t bytes = size_t{512} << 20;
  size_t copied_bytes = size_t{8} << 20;  // of them not shared with an object: fields, tokens
};

struct SourceWishes {
  std::set<sync::ObjectKey> objects = {};
  std::set<sync::TokenWish> tokens = {};
  std::set<sync::TrustWish> trusts = {};
  bool empty() const { return objects.empty() && tokens.empty() && trusts.empty(); }
  friend bool operator==(const SourceWishes&, const SourceWishes&) = default;
};

struct SourceAnswers {
  std::map<sync::ObjectKey, Result<sync::ObjectBytes>> objects = {};
  std::map<sync::TokenWish, Result<sync::ServiceToken>> tokens = {};
  std::map<sync::TrustWish, Result<sync::ObjectBytes>> trusts = {};
};

SourceWishes WishesOf(const kube::core::Pod& pod, const kube::core::Volume& volume);

// What is missing in the answers was not to be had. kInvalid: it is more than the budget has left.
Result<Payload> PayloadOf(const kube::core::Pod& pod, const kube::core::Volume& volume,
                          const SourceAnswers& answers, const kube::NodeAllocatable& allocatable,
                          PayloadBudget& budget);

// A path that a file of a payload may have.
Status CheckPayloadPath(const std::string& path);

}  // namespace denselet::managers
