#include "base/log_escape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace denselet::internal {
namespace {

struct Rune {
  uint32_t code;
  size_t bytes;
  bool valid;  // otherwise one byte that is not UTF-8
};

// `text` is not empty. Strict, as Go is: no surrogates, nothing overlong, nothing past U+10FFFF.
Rune DecodeRune(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const Rune invalid{lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xc2 || lead > 0xf4) return invalid;
  const size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return invalid;
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return invalid;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[bytes] || surrogate || code > 0x10ffff) return invalid;
  return {code, bytes, true};
}

// Controls, format characters, separators other than the space, private use, non-characters, and
// the planes that are empty.
bool IsPrintable(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kHidden[] = {
      {0x0, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},
      {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
      {0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},   {0x2000, 0x200f},
      {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},   {0xe000, 0xf8ff},
      {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
      {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
      {0x40000, 0xe00ff}, {0xe01f0, 0x10ffff}};
  if ((code & 0xfffe) == 0xfffe) return false;
  const auto* range = std::lower_bound(std::begin(kHidden), std::end(kHidden), code,
                                       [](const Range& r, uint32_t c) { return r.last < c; });
  return range == std::end(kHidden) || code < range->first;
}

using Escape = std::array<char, 10>;

std::string_view HexEscape(Escape& out, std::string_view prefix, uint32_t value, size_t digits) {
  std::copy(prefix.begin(), prefix.end(), out.begin());
  for (size_t i = 0; i < digits; ++i) {
    out[prefix.size() + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 0xf];
  }
  return {out.data(), prefix.size() + digits};
}

std::string_view NamedEscape(Escape& out, char name) {
  out[0] = '\\';
  out[1] = name;
  return {out.data(), 2};
}

// As Go's strconv.Quote.
std::string_view TextEscape(Rune rune, std::string_view raw, Escape& out) {
  constexpr std::string_view kNamed = "\a\b\f\n\r\t\v\\\"", kNames = "abfnrtv\\\"";
  if (!rune.valid) return HexEscape(out, "\\x", rune.code, 2);
  const size_t named = kNamed.find(raw[0]);
  if (named != kNamed.npos) return NamedEscape(out, kNames[named]);
  if (IsPrintable(rune.code)) return raw;
  if (rune.code < 0x80) return HexEscape(out, "\\x", rune.code, 2);
  if (rune.code < 0x10000) return HexEscape(out, "\\u", rune.code, 4);
  return HexEscape(out, "\\U", rune.code, 8);
}

// As zap: what is not UTF-8 becomes the replacement character.
std::string_view JsonEscape(Rune rune, std::string_view raw, Escape& out) {
  constexpr std::string_view kNamed = "\n\r\t\\\"", kNames = "nrt\\\"";
  if (!rune.valid) return "\\ufffd";
  const size_t named = kNamed.find(raw[0]);
  if (named != kNamed.npos) return NamedEscape(out, kNames[named]);
  return rune.code < 0x20 ? HexEscape(out, "\\u", rune.code, 4) : raw;
}

// Stands for itself in both styles.
bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// The longest beginning of at most `bytes` bytes that does not split a character.
std::string_view Prefix(std::string_view text, size_t bytes) {
  if (bytes >= text.size()) return text;
  while (bytes > 0 && (text[bytes] & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

void PutEscaped(LineWriter& line, LogStyle style, std::string_view text, size_t room) {
  while (!text.empty()) {
    const auto plain_end = std::find_if_not(text.begin(), text.end(), IsPlain);
    const size_t plain = std::min(static_cast<size_t>(plain_end - text.begin()), room);
    line.Put(text.substr(0, plain));
    text.remove_prefix(plain);
    room -= plain;
    if (text.empty()) return;
    const Rune rune = DecodeRune(text);
    const std::string_view raw = text.substr(0, rune.bytes);
    Escape scratch;
    const std::string_view out =
        style == LogStyle::kText ? TextEscape(rune, raw, scratch) : JsonEscape(rune, raw, scratch);
    if (out.size() > room) return line.Cut(text.size());
    line.Put(out);
    text.remove_prefix(raw.size());
    room -= out.size();
  }
}

void PutQuoted(LineWriter& line, LogStyle style, std::string_view text, size_t room) {
  line.Put('"');
  PutEscaped(line, style, text, room);
  line.Put('"');
}

void PutLines(LineWriter& line, std::string_view text, size_t room) {
  line.Put("<\n");
  while (!text.empty()) {
    if (room <= 2) {  // the tab and the line end
      line.Cut(text.size());
      break;
    }
    const std::string_view whole = text.substr(0, text.find('\n'));
    const std::string_view shown = Prefix(whole, room - 2);
    line.Put('\t');
    line.Put(shown);
    line.Put('\n');
    if (shown.size() < whole.size()) {
      line.Cut(text.size() - shown.size());
      break;
    }
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    room -= shown.size() + 2;
  }
  line.Put(" >");
}

}  // namespace denselet::internal
