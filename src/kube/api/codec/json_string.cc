#include "kube/api/codec/json_string.h"

#include <cstddef>
#include <cstdint>

namespace denselet::kube {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// How many bytes the character at the front takes; 0 where it is none.
size_t CharacterSize(std::string_view text) {
  const auto at = [text](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const uint8_t first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !IsContinuation(second)) return 0;
  if (first < 0xe0) return 2;
  if (!IsContinuation(at(2))) return 0;
  if (first < 0xf0) {
    const bool overlong = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (!IsContinuation(at(3))) return 0;
  const bool overlong = first == 0xf0 && second < 0x90;
  const bool beyond = first == 0xf4 && second > 0x8f;
  return overlong || beyond ? 0 : 4;
}

void AppendAscii(std::string& out, char c) {
  constexpr std::string_view kNamed = "\b\f\n\r\t\"\\", kNames = "bfnrt\"\\";
  if (const size_t named = kNamed.find(c); named != kNamed.npos) {
    out += {'\\', kNames[named]};
  } else if (static_cast<uint8_t>(c) < 0x20) {
    const auto byte = static_cast<uint8_t>(c);
    out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
  } else {
    out += c;
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 1) {
      AppendAscii(out, text[0]);
    } else if (size == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out + '"';
}

}  // namespace denselet::kube
