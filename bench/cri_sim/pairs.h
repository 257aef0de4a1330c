// Labels or annotations in one string: ten thousand pods carry a few hundred thousand of them. An
// entry is kept as protobuf writes one of a map, so that it goes into an answer as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace denselet::cri_sim {

class Pairs {
 public:
  void Add(std::string_view key, std::string_view value);
  std::optional<std::string_view> Get(std::string_view key) const;
  bool empty() const { return packed_.empty(); }
  size_t bytes() const { return packed_.size(); }
  void ShrinkToFit() { packed_.shrink_to_fit(); }

  // visit(entry, key, value): `entry` is the message of a protobuf map.
  template <class Visit>
  void ForEach(Visit visit) const {
    std::string_view rest = packed_;
    while (!rest.empty()) {
      const std::string_view entry = TakeBytes(rest);
      std::string_view inside = entry.substr(1);
      const std::string_view key = TakeBytes(inside);
      inside.remove_prefix(1);
      visit(entry, key, TakeBytes(inside));
    }
  }

 private:
  static std::string_view TakeBytes(std::string_view& from);

  std::string packed_;  // size, 0x0a, size, key, 0x12, size, value; again and again
};

}  // namespace denselet::cri_sim
