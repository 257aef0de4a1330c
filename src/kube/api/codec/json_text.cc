#include "kube/api/codec/json_text.h"

#include <array>
#include <cstdint>

namespace denselet::kube {
namespace {

constexpr char kHex[] = "0123456789abcdef";

constexpr std::array<bool, 256> MakePlain() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = true;
  for (const char c : {'"', '\\', '<', '>', '&'}) plain[static_cast<uint8_t>(c)] = false;
  return plain;
}
constexpr std::array<bool, 256> kPlain = MakePlain();

void AppendEscaped(uint8_t c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

// Bytes of the UTF-8 sequence that `text` begins with; 0: none.
size_t SequenceSize(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = at(0);
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool surrogate = first == 0xed && at(1) >= 0xa0;
  const bool too_large = first == 0xf4 && at(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

// Returns how many bytes were taken.
size_t AppendSequence(std::string_view text, std::string& out) {
  const size_t size = SequenceSize(text);
  const std::string_view sequence = text.substr(0, size);
  if (size == 0) {
    out += "\\ufffd";
    return 1;
  }
  if (sequence == "\u2028") {
    out += "\\u2028";
  } else if (sequence == "\u2029") {
    out += "\\u2029";
  } else {
    out += sequence;
  }
  return size;
}

}  // namespace

void AppendJsonText(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && kPlain[static_cast<uint8_t>(text[plain])]) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto first = static_cast<uint8_t>(text[0]);
    if (first >= 0x80) {
      text.remove_prefix(AppendSequence(text, out));
    } else {
      AppendEscaped(first, out);
      text.remove_prefix(1);
    }
  }
  out += '"';
}

}  // namespace denselet::kube
