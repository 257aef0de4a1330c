#include "bench/cri_sim/images.h"

namespace denselet::cri_sim {
namespace {

// 64 hexadecimal digits that follow from the text: FNV-1a with four beginnings.
std::string Digest(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "sha256:";
  for (uint64_t begin = 0; begin < 4; ++begin) {
    uint64_t hash = 0xcbf29ce484222325 ^ (begin * 0x9e3779b97f4a7c15);
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    for (int i = 0; i < 16; ++i) out.push_back(kHex[hash >> (4 * i) & 15]);
  }
  return out;
}

struct Reference {
  std::string repository, tag, digest;
};

Reference Parse(std::string_view name) {
  Reference reference;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    reference.digest = name.substr(at + 1);
    name = name.substr(0, at);
  }
  const size_t slash = name.rfind('/');
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    reference.tag = name.substr(colon + 1);
    name = name.substr(0, colon);
  }
  const size_t first = name.find('/');
  const std::string_view host = name.substr(0, first);
  if (first == std::string_view::npos) {
    reference.repository = "docker.io/library/" + std::string(name);
  } else if (host.find_first_of(".:") == std::string_view::npos && host != "localhost") {
    reference.repository = "docker.io/" + std::string(name);
  } else {
    reference.repository = name;
  }
  if (reference.tag.empty() && reference.digest.empty()) reference.tag = "latest";
  return reference;
}

}  // namespace

std::string NormalizeImage(std::string_view name) {
  if (name.empty()) return {};
  const Reference reference = Parse(name);
  std::string out = reference.repository;
  if (!reference.tag.empty()) out += ":" + reference.tag;
  if (!reference.digest.empty()) out += "@" + reference.digest;
  return out;
}

const Image& Images::Add(std::string_view name, uint64_t size) {
  if (const Image* known = Find(name)) return *known;
  const Reference reference = Parse(name);
  const std::string normal = NormalizeImage(name);
  const std::string id = Digest("config of " + normal);
  Image image;
  image.id = id;
  if (!reference.tag.empty()) image.tag = reference.repository + ":" + reference.tag;
  image.digest = reference.repository + "@" +
                 (reference.digest.empty() ? Digest("manifest of " + normal) : reference.digest);
  image.size = size;
  return by_id_.emplace(id, std::move(image)).first->second;
}

bool Images::Remove(std::string_view name_or_id) {
  const Image* image = Find(name_or_id);
  if (image == nullptr) return false;
  const std::string id = image->id;
  by_id_.erase(id);
  return true;
}

Image* Images::Find(std::string_view name_or_id) {
  if (name_or_id.empty()) return nullptr;
  const std::string text(name_or_id);
  if (const auto found = by_id_.find(text); found != by_id_.end()) return &found->second;
  if (const auto found = by_id_.find("sha256:" + text); found != by_id_.end()) {
    return &found->second;
  }
  if (text.starts_with("sha256:")) return nullptr;
  const std::string normal = NormalizeImage(text);
  // An id follows from the name, so the usual question needs no search.
  const auto direct = by_id_.find(Digest("config of " + normal));
  if (direct != by_id_.end()) return &direct->second;
  for (auto& [id, image] : by_id_) {
    if (image.tag == normal || image.digest == normal) return &image;
  }
  return nullptr;
}

uint64_t Images::bytes() const {
  uint64_t sum = 0;
  for (const auto& [id, image] : by_id_) sum += image.size;
  return sum;
}

}  // namespace denselet::cri_sim
