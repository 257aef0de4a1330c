// The files of a volume that is made of objects of the API server, of tokens and of the pod itself:
// which they are, with which content and mode. And first, what has to be asked for.
//
// Pure functions, on any thread. Errors are in upstream's words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/pod/pod_fields.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

struct FileContent {
  std::string data = {};
  uint32_t mode = 0644;
  std::optional<uint32_t> uid = {};

  friend bool operator==(const FileContent&, const FileContent&) = default;
};

// By path below the volume: clean, and never out of it.
using Payload = std::map<std::string, FileContent>;

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

// What is missing in the answers was not to be had.
Result<Payload> PayloadOf(const kube::core::Pod& pod, const kube::core::Volume& volume,
                          const SourceAnswers& answers, const kube::NodeAllocatable& allocatable);

// A path that a file of a payload may have.
Status CheckPayloadPath(const std::string& path);

}  // namespace denselet::managers
