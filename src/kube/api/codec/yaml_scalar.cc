#include "kube/api/codec/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/base64.h"
#include "kube/api/codec/yaml_timestamp.h"

namespace denselet::kube {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

enum class Tag : uint8_t { kNone, kNull, kBool, kInt, kFloat, kTimestamp, kText, kBinary, kOther };

struct NamedTag {
  std::string_view name;
  Tag tag;
};

constexpr std::array kTags = {
    NamedTag{"null", Tag::kNull},     NamedTag{"bool", Tag::kBool},
    NamedTag{"int", Tag::kInt},       NamedTag{"float", Tag::kFloat},
    NamedTag{"str", Tag::kText},      NamedTag{"timestamp", Tag::kTimestamp},
    NamedTag{"binary", Tag::kBinary},
};

Tag ToTag(std::string_view tag) {
  if (tag.empty()) return Tag::kNone;
  if (!tag.starts_with(kTagPrefix)) return Tag::kOther;
  tag.remove_prefix(kTagPrefix.size());
  const auto* found = std::ranges::find(kTags, tag, &NamedTag::name);
  return found == kTags.end() ? Tag::kOther : found->tag;
}

std::string TagName(Tag tag) {
  const auto* found = std::ranges::find(kTags, tag, &NamedTag::tag);
  return found == kTags.end() ? "" : "!!" + std::string(found->name);
}

// What a plain text is, and its value.
struct Resolved {
  Tag tag = Tag::kText;
  YamlScalar value;
};

struct Word {
  std::string_view text;
  Tag tag;
  bool truth = false;
  double number = 0;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr std::array kWords = {
    Word{"", Tag::kNull},
    Word{"~", Tag::kNull},
    Word{"null", Tag::kNull},
    Word{"Null", Tag::kNull},
    Word{"NULL", Tag::kNull},
    Word{"y", Tag::kBool, true},
    Word{"Y", Tag::kBool, true},
    Word{"yes", Tag::kBool, true},
    Word{"Yes", Tag::kBool, true},
    Word{"YES", Tag::kBool, true},
    Word{"true", Tag::kBool, true},
    Word{"True", Tag::kBool, true},
    Word{"TRUE", Tag::kBool, true},
    Word{"on", Tag::kBool, true},
    Word{"On", Tag::kBool, true},
    Word{"ON", Tag::kBool, true},
    Word{"n", Tag::kBool, false},
    Word{"N", Tag::kBool, false},
    Word{"no", Tag::kBool, false},
    Word{"No", Tag::kBool, false},
    Word{"NO", Tag::kBool, false},
    Word{"false", Tag::kBool, false},
    Word{"False", Tag::kBool, false},
    Word{"FALSE", Tag::kBool, false},
    Word{"off", Tag::kBool, false},
    Word{"Off", Tag::kBool, false},
    Word{"OFF", Tag::kBool, false},
    Word{".nan", Tag::kFloat, false, kNan},
    Word{".NaN", Tag::kFloat, false, kNan},
    Word{".NAN", Tag::kFloat, false, kNan},
    Word{".inf", Tag::kFloat, false, kInfinity},
    Word{".Inf", Tag::kFloat, false, kInfinity},
    Word{".INF", Tag::kFloat, false, kInfinity},
    Word{"+.inf", Tag::kFloat, false, kInfinity},
    Word{"+.Inf", Tag::kFloat, false, kInfinity},
    Word{"+.INF", Tag::kFloat, false, kInfinity},
    Word{"-.inf", Tag::kFloat, false, -kInfinity},
    Word{"-.Inf", Tag::kFloat, false, -kInfinity},
    Word{"-.INF", Tag::kFloat, false, -kInfinity},
};
constexpr size_t kWordSizeMax = 5;

std::optional<Resolved> ResolveWord(std::string_view text) {
  if (text.size() > kWordSizeMax) return std::nullopt;
  const auto* word = std::ranges::find(kWords, text, &Word::text);
  if (word == kWords.end()) return std::nullopt;
  if (word->tag == Tag::kNull) return Resolved{Tag::kNull, std::monostate{}};
  if (word->tag == Tag::kBool) return Resolved{Tag::kBool, word->truth};
  return Resolved{Tag::kFloat, word->number};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// --- whole numbers ---

std::optional<uint64_t> ReadDigits(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// 0x1f, 0o17, 017, 0b101 or 12, without a sign.
std::optional<uint64_t> ReadUnsigned(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return ReadDigits(text, 10);
  const char letter = static_cast<char>(text[1] | 0x20);
  if (letter == 'x') return ReadDigits(text.substr(2), 16);
  if (letter == 'o') return ReadDigits(text.substr(2), 8);
  if (letter == 'b') return ReadDigits(text.substr(2), 2);
  return ReadDigits(text.substr(1), 8);
}

std::optional<int64_t> Signed(std::optional<uint64_t> magnitude, bool negative) {
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (!magnitude || *magnitude > kLimit || (*magnitude == kLimit && !negative)) return std::nullopt;
  return static_cast<int64_t>(negative ? ~*magnitude + 1 : *magnitude);
}

// Text without underscores.
std::optional<YamlScalar> ReadInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool positive = text.starts_with('+');
  const auto magnitude = ReadUnsigned(text.substr(negative || positive ? 1 : 0));
  if (const auto value = Signed(magnitude, negative)) return YamlScalar(*value);
  if (magnitude && !negative && !positive) return YamlScalar(*magnitude);
  return std::nullopt;
}

// go-yaml's own reading of binary numbers comes second and takes a sign behind the prefix.
std::optional<YamlScalar> ReadSignedBinary(std::string_view text) {
  if (!text.starts_with("0b-") && !text.starts_with("0b+")) return std::nullopt;
  const auto value = Signed(ReadDigits(text.substr(3), 2), text[2] == '-');
  return value ? std::optional<YamlScalar>(*value) : std::nullopt;
}

// --- numbers with a fraction ---

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsFloat(std::string_view text) {
  size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const size_t whole = SkipDigits(text, at);
  const bool has_whole = whole > at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = SkipDigits(text, at + 1);
    if (!has_whole && fraction == at + 1) return false;
    at = fraction;
  } else if (!has_whole) {
    return false;
  }
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  return at < text.size() && SkipDigits(text, at) == text.size();
}

// Text without underscores. What is too big is no number; what is too small is 0.
std::optional<YamlScalar> ReadFloat(std::string_view text) {
  if (!IsFloat(text)) return std::nullopt;
  const std::string digits(text.substr(text[0] == '+' ? 1 : 0));
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return YamlScalar(value);
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// A number that begins with a point is left to Go, which wants underscores between digits.
std::optional<YamlScalar> ReadPointFloat(std::string_view text) {
  for (size_t i = text.find('_'); i != text.npos; i = text.find('_', i + 1)) {
    if (i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) return std::nullopt;
  }
  return ReadFloat(WithoutUnderscores(text));
}

Resolved ResolveNumber(std::string_view text, bool maybe_timestamp) {
  if (maybe_timestamp && IsYamlTimestamp(text)) return {Tag::kTimestamp, std::string(text)};
  const std::string plain = WithoutUnderscores(text);
  if (auto integer = ReadInteger(plain)) return {Tag::kInt, std::move(*integer)};
  if (auto number = ReadFloat(plain)) return {Tag::kFloat, std::move(*number)};
  if (auto binary = ReadSignedBinary(plain)) return {Tag::kInt, std::move(*binary)};
  return {Tag::kText, std::string(text)};
}

Resolved ResolvePlain(std::string_view text, bool maybe_timestamp) {
  if (auto word = ResolveWord(text)) return std::move(*word);
  if (text[0] == '.') {
    if (auto number = ReadPointFloat(text)) return {Tag::kFloat, std::move(*number)};
  }
  if (IsDigit(text[0]) || text[0] == '-' || text[0] == '+') {
    return ResolveNumber(text, maybe_timestamp);
  }
  return {Tag::kText, std::string(text)};
}

Result<YamlScalar> Decode64(std::string_view text) {
  auto bytes = Base64Decode(text);
  if (!bytes) return Error(ErrorCode::kInvalid, "!!binary value contains invalid base64 data");
  return YamlScalar(std::move(*bytes));
}

// The value is of the kind that the tag names, or is made one.
Result<YamlScalar> ResolveTagged(Tag tag, std::string_view text) {
  Resolved resolved = ResolvePlain(text, tag == Tag::kTimestamp);
  if (resolved.tag == tag) return std::move(resolved.value);
  const auto* integer = std::get_if<int64_t>(&resolved.value);
  if (tag == Tag::kFloat && integer != nullptr) return YamlScalar(static_cast<double>(*integer));
  return Error(ErrorCode::kInvalid, "cannot decode " + TagName(resolved.tag) + " `" +
                                        std::string(text) + "` as a " + TagName(tag));
}

// YAML 1.1 has numbers of base 60, "1:30": read by nobody here, but quoted for others.
// [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?
bool IsBase60(std::string_view text) {
  const auto digits = [&text](size_t at) {
    while (at < text.size() && (IsDigit(text[at]) || text[at] == '_')) ++at;
    return at;
  };
  size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (at >= text.size() || !IsDigit(text[at])) return false;
  at = digits(at);
  if (at >= text.size() || text[at] != ':') return false;
  while (at < text.size() && text[at] == ':') {
    const size_t end = SkipDigits(text, at + 1);
    const size_t size = end - at - 1;
    if (size == 0 || size > 2 || (size == 2 && text[at + 1] > '5')) return false;
    at = end;
  }
  if (at < text.size() && text[at] == '.') at = digits(at + 1);
  return at == text.size();
}

}  // namespace

Result<YamlScalar> ResolveYamlScalar(std::string_view tag, YamlStyle style, std::string_view text) {
  switch (const Tag wanted = ToTag(tag)) {
    case Tag::kNone:
      if (style == YamlStyle::kQuoted) return YamlScalar(std::string(text));
      return ResolvePlain(text, /*maybe_timestamp=*/true).value;
    case Tag::kText:
    case Tag::kOther:
      return YamlScalar(std::string(text));
    case Tag::kBinary:
      return Decode64(text);
    case Tag::kNull:
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kFloat:
    case Tag::kTimestamp:
      return ResolveTagged(wanted, text);
  }
  return Error(ErrorCode::kBug, "no such tag");
}

bool IsPlainYamlText(std::string_view text) {
  return ResolvePlain(text, /*maybe_timestamp=*/true).tag == Tag::kText && !IsBase60(text);
}

}  // namespace denselet::kube
