#include "base/base64.h"

#include <array>
#include <cstdint>

namespace denselet {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNone = 0xff;

constexpr std::array<uint8_t, 256> MakeValues() {
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}

constexpr std::array<uint8_t, 256> kValues = MakeValues();

Error Illegal(size_t at) {
  return Error(ErrorCode::kInvalid, "illegal base64 data at input byte " + std::to_string(at));
}

size_t SkipNewlines(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  return at;
}

// What stands at the first '=' must be the end of the text. `symbols`: of the group, before it.
Status CheckPadding(std::string_view text, size_t at, int symbols) {
  if (symbols < 2) return Illegal(at);
  at = SkipNewlines(text, at + 1);
  if (symbols == 2) {
    if (at == text.size()) return Illegal(at);
    if (text[at] != '=') return Illegal(at - 1);
    at = SkipNewlines(text, at + 1);
  }
  if (at < text.size()) return Illegal(at);
  return Ok();
}

char Byte(uint32_t bits, int shift) { return static_cast<char>(bits >> shift & 0xff); }

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<uint8_t>(group[k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> Base64Decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int symbols = 0;  // of the group of four
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    const uint8_t value = kValues[static_cast<uint8_t>(c)];
    if (value != kNone) {
      bits = bits << 6 | value;
      if (++symbols < 4) continue;
      out += {Byte(bits, 16), Byte(bits, 8), Byte(bits, 0)};
      symbols = 0;
      continue;
    }
    if (c != '=') return Illegal(i);
    if (const auto end = CheckPadding(text, i, symbols); !end) return end.error();
    if (symbols == 2) out += Byte(bits, 4);
    if (symbols == 3) out += {Byte(bits, 10), Byte(bits, 2)};
    return out;
  }
  // Where Go says that the group began, newlines inside not counted.
  if (symbols != 0) return Illegal(text.size() - static_cast<size_t>(symbols));
  return out;
}

}  // namespace denselet
