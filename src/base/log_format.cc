#include "base/log_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/check.h"
#include "base/log_escape.h"
#include "base/log_line_writer.h"

namespace denselet {
namespace {

using internal::LineWriter;
using internal::PutEscaped;
using internal::PutLines;
using internal::PutQuoted;

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
