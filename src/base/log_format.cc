#include "base/log_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/check.h"

namespace denselet {
namespace {

// Kept free behind the last pair: the end of a cut value, "v" of a JSON line, cutBytes, line end.
constexpr size_t kTailBytes = 64;
// Kept free behind the strings of a line's head: the fixed text and numbers that follow them.
constexpr size_t kHeadBytes = 96;
// Every value that finds room for its key may have this much, also when an earlier one is cut.
constexpr size_t kShortValueBytes = 128;
// A pair's punctuation at most, ,"key":{"name":"..","namespace":".."} and the last pair's end.
constexpr size_t kPairBytes = 40;
// The part of it that follows an object's first name.
constexpr size_t kObjectEndBytes = 20;
// The longest number: -5e-324 in full, as zap writes it.
constexpr size_t kNumberBytesMax = 352;

class LineWriter {
 public:
  explicit LineWriter(std::span<char> buffer) : buffer_(buffer) {}

  // What may still be written in front of the tail when `later` bytes are promised to others.
  size_t Room(size_t later) const {
    const size_t taken = size_ + kTailBytes + later;
    return taken < buffer_.size() ? buffer_.size() - taken : 0;
  }

  void Put(std::string_view text) {
    CHECK(text.size() <= buffer_.size() - size_);
    std::copy(text.begin(), text.end(), buffer_.data() + size_);
    size_ += text.size();
  }
  void Put(char c) { Put(std::string_view(&c, 1)); }

  // With zeros or blanks in front, up to `width`.
  void PutNumber(uint64_t value, size_t width = 0, char pad = '0') {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    const auto size = static_cast<size_t>(end - digits);
    for (size_t i = size; i < width; ++i) Put(pad);
    Put(std::string_view(digits, size));
  }

  void Cut(size_t bytes) { cut_bytes_ += bytes; }
  size_t cut_bytes() const { return cut_bytes_; }
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::span<char> buffer_;
  size_t size_ = 0;
  size_t cut_bytes_ = 0;
};

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

// The inside of a quoted string; what does not fit in `room` bytes is cut.
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

// The longest beginning of at most `bytes` bytes that does not split a character.
std::string_view Prefix(std::string_view text, size_t bytes) {
  if (bytes >= text.size()) return text;
  while (bytes > 0 && (text[bytes] & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// klog's form for values of several lines: as they are, each behind a tab, between "<" and " >".
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

using Number = std::array<char, kNumberBytesMax>;

// The shortest digits that read back as `value`, laid out as Go does: strconv's 'f' for JSON (and
// its ts), encoding/json's choice of 'f' or 'e' for text. std::to_chars alone would give more
// digits than Go for large numbers.
std::string_view DoubleText(double value, LogStyle style, Number& out) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"+Inf\"" : "\"-Inf\"";
  char raw[32];
  char* const end =
      std::to_chars(raw, raw + sizeof(raw), std::abs(value), std::chars_format::scientific).ptr;
  char* const e = std::find(raw, end, 'e');
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
  char digits[24];
  const auto count = std::remove_copy(raw, e, digits, '.') - digits;
  char* at = out.data();
  const auto put = [&](const char* from, std::ptrdiff_t n) { at = std::copy_n(from, n, at); };
  const auto zeros = [&](std::ptrdiff_t n) { at = n > 0 ? std::fill_n(at, n, '0') : at; };
  if (std::signbit(value)) *at++ = '-';
  if (style == LogStyle::kText && value != 0 && (exponent < -6 || exponent >= 21)) {
    put(raw, e - raw);
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    at = std::to_chars(at, out.data() + out.size(), std::abs(exponent)).ptr;
  } else if (exponent < 0) {
    put("0.", 2);
    zeros(-exponent - 1);
    put(digits, count);
  } else {
    const auto whole = std::min<std::ptrdiff_t>(count, exponent + 1);
    put(digits, whole);
    zeros(exponent + 1 - whole);
    if (count > whole) *at++ = '.', put(digits + whole, count - whole);
  }
  return {out.data(), static_cast<size_t>(at - out.data())};
}

template <class Int>
std::string_view IntegerText(Int value, Number& out) {
  const char* end = std::to_chars(out.data(), out.data() + out.size(), value).ptr;
  return {out.data(), static_cast<size_t>(end - out.data())};
}

// One pair at a time, in the order of the line.
class PairWriter {
 public:
  PairWriter(LineWriter& line, LogStyle style) : line_(line), style_(style) {}

  void Add(const LogPair& pair) {
    CHECK(count_ < pairs_.size());
    pairs_[count_++] = &pair;
    later_ += Wanted(pair);
  }
  void AddAll(std::span<const LogPair> pairs) {
    for (const LogPair& pair : pairs) Add(pair);
  }
  size_t count() const { return count_; }

  // Those added from the `first`th up to the `last`th.
  void Write(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      later_ -= Wanted(*pairs_[i]);
      if (IsShown(i)) WriteOne(*pairs_[i]);
    }
  }

 private:
  static size_t ValueBytes(const LogValue& value) {
    return value.text().size() + value.ns().size();
  }
  static size_t Wanted(const LogPair& pair) {
    return kPairBytes + pair.key.size() + std::min(ValueBytes(pair.value), kShortValueBytes);
  }

  // A long value leaves what the pairs behind it want; the beginning of a value yields to nobody.
  // `behind`: punctuation of this pair that is still to come.
  size_t ValueRoom(size_t behind) const {
    return std::max(line_.Room(behind + later_), std::min(line_.Room(behind), kShortValueBytes));
  }

  // klog's rule for a key given several times: the last value wins, and of equal ones in a row the
  // first stays, so that carried pairs keep their place.
  bool IsShown(size_t i) const {
    const LogPair& pair = *pairs_[i];
    for (size_t j = i; j-- > 0;) {
      if (pairs_[j]->key != pair.key) continue;
      if (pairs_[j]->value == pair.value) return false;
      break;
    }
    for (size_t j = i + 1; j < count_; ++j) {
      if (pairs_[j]->key == pair.key && pairs_[j]->value != pair.value) return false;
    }
    return true;
  }

  void WriteOne(const LogPair& pair) {
    const LogValue& value = pair.value;
    Number out;
    switch (value.kind()) {
      case LogValue::Kind::kText:
        return WriteText(pair, value.text());
      case LogValue::Kind::kInt:
        return WriteBare(pair, IntegerText(value.AsInt(), out));
      case LogValue::Kind::kUint:
        return WriteBare(pair, IntegerText(value.AsUint(), out));
      case LogValue::Kind::kDouble:
        return WriteBare(pair, DoubleText(value.AsDouble(), style_, out));
      case LogValue::Kind::kBool:
        return WriteBare(pair, value.AsBool() ? "true" : "false");
      case LogValue::Kind::kDuration:
        return WriteText(pair, FormatDuration(value.AsDuration()));
      case LogValue::Kind::kObject:
        return WriteObject(pair, value.ns(), value.text());
    }
  }

  // False: there is no room for key and `bytes` more, and the pair is left out.
  bool WriteKey(const LogPair& pair, size_t bytes, size_t value_bytes) {
    if (line_.Room(0) < kPairBytes + pair.key.size() + bytes) {
      line_.Cut(pair.key.size() + value_bytes);
      return false;
    }
    line_.Put(style_ == LogStyle::kText ? " " : ",\"");
    line_.Put(pair.key);
    line_.Put(style_ == LogStyle::kText ? "=" : "\":");
    return true;
  }

  void WriteBare(const LogPair& pair, std::string_view text) {
    if (WriteKey(pair, text.size(), text.size())) line_.Put(text);
  }

  void WriteText(const LogPair& pair, std::string_view text) {
    if (!WriteKey(pair, 0, text.size())) return;
    if (style_ == LogStyle::kText && text.find('\n') != text.npos) {
      PutLines(line_, text, ValueRoom(0));
    } else {
      PutQuoted(line_, style_, text, ValueRoom(0));
    }
  }

  void WriteObject(const LogPair& pair, std::string_view ns, std::string_view name) {
    if (!WriteKey(pair, 0, ns.size() + name.size())) return;
    if (style_ == LogStyle::kText) {
      line_.Put('"');
      PutEscaped(line_, style_, ns, ValueRoom(kObjectEndBytes));
      if (!ns.empty()) line_.Put('/');
      PutEscaped(line_, style_, name, ValueRoom(kObjectEndBytes));
      line_.Put('"');
      return;
    }
    line_.Put("{\"name\":");
    PutQuoted(line_, style_, name, ValueRoom(kObjectEndBytes));
    if (!ns.empty()) {
      line_.Put(",\"namespace\":");
      PutQuoted(line_, style_, ns, ValueRoom(kObjectEndBytes));
    }
    line_.Put('}');
  }

  LineWriter& line_;
  const LogStyle style_;
  std::array<const LogPair*, kCarriedPairsMax + kPairsMax + 2> pairs_;  // and err, logger
  size_t count_ = 0;
  size_t later_ = 0;  // what the pairs not yet written ask for
};

// "pod_worker.cc" with one part, "sync/pod_worker.cc" with two.
std::string_view LastParts(std::string_view path, int parts) {
  size_t slash = path.size();
  while (parts-- > 0 && slash != path.npos && slash != 0) slash = path.rfind('/', slash - 1);
  return slash == path.npos || slash == 0 ? path : path.substr(slash + 1);
}

void PutTextHead(LineWriter& line, const LogFormat& format, const LogRecord& record) {
  const CivilTime t = ToCivil(record.time + format.utc_offset);
  const auto two = [&line](int n) { line.PutNumber(static_cast<uint64_t>(n), 2); };
  line.Put("IWE"[static_cast<size_t>(record.severity)]);
  two(t.month);
  two(t.day);
  line.Put(' ');
  two(t.hour);
  line.Put(':');
  two(t.minute);
  line.Put(':');
  two(t.second);
  line.Put('.');
  line.PutNumber(static_cast<uint64_t>(t.nanosecond) / 1000, 6);
  line.Put(' ');
  line.PutNumber(format.thread_id, 7, ' ');
  line.Put(' ');
  PutEscaped(line, format.style, LastParts(record.file, 1), line.Room(kHeadBytes));
  line.Put(':');
  line.PutNumber(record.line);
  line.Put("] ");
  PutQuoted(line, format.style, record.message, line.Room(kHeadBytes));
}

void FormatText(LineWriter& line, const LogFormat& format, const LogRecord& record) {
  PutTextHead(line, format, record);
  const LogPair error = {"err", record.error ? LogValue(*record.error) : LogValue("")};
  const LogPair logger = {"logger", record.logger};
  PairWriter pairs(line, format.style);
  if (record.error != nullptr) pairs.Add(error);
  if (!record.logger.empty()) pairs.Add(logger);
  pairs.AddAll(record.carried);
  pairs.AddAll(record.pairs);
  pairs.Write(0, pairs.count());
  if (line.cut_bytes() > 0) {
    line.Put(" cutBytes=");
    line.PutNumber(line.cut_bytes());
  }
  line.Put('\n');
}

void PutJsonHead(LineWriter& line, const LogFormat& format, const LogRecord& record) {
  Number scratch;
  const auto ns = static_cast<double>(record.time.time_since_epoch().count());
  line.Put("{\"ts\":");
  line.Put(DoubleText(ns / 1e6, format.style, scratch));
  if (!record.logger.empty()) {
    line.Put(",\"logger\":");
    PutQuoted(line, format.style, record.logger, line.Room(kHeadBytes));
  }
  line.Put(",\"caller\":\"");
  PutEscaped(line, format.style, LastParts(record.file, 2), line.Room(kHeadBytes));
  line.Put(':');
  line.PutNumber(record.line);
  line.Put("\",\"msg\":");
  PutQuoted(line, format.style, record.message, line.Room(kHeadBytes));
}

// zap's order: carried pairs, the verbosity (which an error has not), the call's pairs, the error.
void FormatJson(LineWriter& line, const LogFormat& format, const LogRecord& record) {
  PutJsonHead(line, format, record);
  const LogPair error = {"err", record.error ? LogValue(*record.error) : LogValue("")};
  PairWriter pairs(line, format.style);
  pairs.AddAll(record.carried);
  pairs.AddAll(record.pairs);
  if (record.error != nullptr) pairs.Add(error);
  pairs.Write(0, record.carried.size());
  if (record.severity != Severity::kError) {
    Number scratch;
    line.Put(",\"v\":");
    line.Put(IntegerText(record.verbosity, scratch));
  }
  pairs.Write(record.carried.size(), pairs.count());
  if (line.cut_bytes() > 0) {
    line.Put(",\"cutBytes\":");
    line.PutNumber(line.cut_bytes());
  }
  line.Put("}\n");
}

}  // namespace

std::string_view FormatLine(const LogFormat& format, const LogRecord& record,
                            std::span<char> buffer) {
  CHECK(buffer.size() >= kLineBytesMin);
  LineWriter line(buffer);
  switch (format.style) {
    case LogStyle::kText:
      FormatText(line, format, record);
      break;
    case LogStyle::kJson:
      FormatJson(line, format, record);
      break;
  }
  return line.text();
}

}  // namespace denselet
