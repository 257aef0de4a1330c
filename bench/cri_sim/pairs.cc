#include "bench/cri_sim/pairs.h"

#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {

void Pairs::Add(std::string_view key, std::string_view value) {
  std::string entry;
  AppendBytes(entry, 1, key);
  AppendBytes(entry, 2, value);
  AppendVarint(packed_, entry.size());
  packed_ += entry;
}

std::optional<std::string_view> Pairs::Get(std::string_view wanted) const {
  std::optional<std::string_view> found;
  ForEach([&](std::string_view, std::string_view key, std::string_view value) {
    if (key == wanted) found = value;
  });
  return found;
}

std::string_view Pairs::TakeBytes(std::string_view& from) {
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    size |= static_cast<size_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  const std::string_view bytes = from.substr(0, size);
  from.remove_prefix(size);
  return bytes;
}

}  // namespace denselet::cri_sim
