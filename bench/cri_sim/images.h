// The images of the simulated runtime: names as Docker's references are normalized, ids and digests
// computed from the name. Pure. Owned by the Simulator, on its shard.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::cri_sim {

struct Image {
  std::string id;      // sha256:...
  std::string tag;     // docker.io/library/busybox:1; empty when named by digest
  std::string digest;  // docker.io/library/busybox@sha256:...
  uint64_t size = 0;
  int64_t uid = 0;
  bool pinned = false;
};

// "busybox" is docker.io/library/busybox:latest; an empty name stays empty.
std::string NormalizeImage(std::string_view name);

class Images {
 public:
  // There already: the same one.
  const Image& Add(std::string_view name, uint64_t size);
  bool Remove(std::string_view name_or_id);
  // By id, id without sha256:, digest or any form of the name.
  Image* Find(std::string_view name_or_id);
  void Clear() { by_id_.clear(); }

  const std::map<std::string, Image>& all() const { return by_id_; }
  uint64_t bytes() const;

 private:
  std::map<std::string, Image> by_id_;
};

}  // namespace denselet::cri_sim
