#include "kube/api/hash/container_hash.h"

#include <array>
#include <charconv>

#include "base/hash.h"
#include "kube/api/codec/json_text.h"
#include "kube/api/types.h"

namespace denselet::kube {

uint32_t ContainerHash(std::string_view name, std::string_view image) {
  std::string json = R"({"image":)";
  AppendJsonText(image, json);
  json += R"(,"name":)";
  AppendJsonText(name, json);
  json += '}';
  // Of the JSON the kubelet hashes what go-spew prints for its bytes: their numbers.
  uint32_t hash = Fnv1a32("([]uint8)[");
  for (size_t i = 0; i < json.size(); ++i) {
    if (i > 0) hash = Fnv1a32(" ", hash);
    hash = Fnv1a32(std::to_string(static_cast<uint8_t>(json[i])), hash);
  }
  return Fnv1a32("]", hash);
}

uint32_t ContainerHash(const core::Container& container) {
  return ContainerHash(container.name(), container.image());
}

std::string ContainerHashText(uint32_t hash) {
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return {digits.data(), end};
}

}  // namespace denselet::kube
