#include "kube/api/codec/json_scalars.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/base64.h"
#include "base/time.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

Error Wanted(yyjson_val* found, std::string_view wanted) {
  return Error(ErrorCode::kInvalid, "found " + Describe(found) + ", wanted " + std::string(wanted));
}

template <class Int>
Result<Int> ParseInt(yyjson_val* value) {
  if (yyjson_is_null(value)) return Int{0};
  if (!yyjson_is_raw(value)) return Wanted(value, "a whole number");
  const std::string_view digits = NumberOf(value);
  Int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool below = std::is_unsigned_v<Int> && digits.starts_with('-');
  if (error == std::errc::result_out_of_range || below) {
    return Wanted(value, "a whole number from " + std::to_string(std::numeric_limits<Int>::min()) +
                             " to " + std::to_string(std::numeric_limits<Int>::max()));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return Wanted(value, "a whole number");
  }
  return number;
}

template <class Int>
Status WriteInt(uint32_t number, yyjson_val* value, WireWriter& out) {
  const Result<Int> parsed = ParseInt<Int>(value);
  if (!parsed) return parsed.error();
  // A negative one has ten bytes on the wire, also when it is an int32.
  out.Number(number, static_cast<uint64_t>(static_cast<int64_t>(*parsed)));
  return Ok();
}

Status WriteBool(uint32_t number, yyjson_val* value, WireWriter& out) {
  if (!yyjson_is_bool(value) && !yyjson_is_null(value)) return Wanted(value, "true or false");
  out.Number(number, yyjson_get_bool(value) ? 1 : 0);
  return Ok();
}

Status WriteDouble(uint32_t number, yyjson_val* value, WireWriter& out) {
  double parsed = 0;
  if (!yyjson_is_null(value)) {
    if (!yyjson_is_raw(value)) return Wanted(value, "a number");
    const std::string_view digits = NumberOf(value);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      return Wanted(value, "a number that fits a double");
    }
  }
  out.Double(number, parsed);
  return Ok();
}

Result<std::string_view> AsText(yyjson_val* value, std::string_view wanted) {
  if (yyjson_is_null(value)) return std::string_view();
  if (!yyjson_is_str(value)) return Wanted(value, wanted);
  return TextOf(value);
}

Status WriteText(uint32_t number, yyjson_val* value, WireWriter& out) {
  const Result<std::string_view> text = AsText(value, "text");
  if (!text) return text.error();
  out.Bytes(number, *text);
  return Ok();
}

Status WriteBytes(uint32_t number, yyjson_val* value, WireWriter& out) {
  const Result<std::string_view> text = AsText(value, "text in base64");
  if (!text) return text.error();
  const Result<std::string> bytes = Base64Decode(*text);
  if (!bytes) return Wanted(value, "text in base64: " + bytes.error().message());
  out.Bytes(number, *bytes);
  return Ok();
}

// Blanks around a quantity are forgiven, as by the API server.
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// One to three digits and a usual suffix: nothing shorter says the same, so they are written as
// they came. Nearly all quantities are such.
bool IsShortQuantity(std::string_view text) {
  constexpr size_t kDigitsMax = 3;
  constexpr std::string_view kSuffixes[] = {"", "m", "Mi", "Gi", "Ki", "k", "M", "G", "Ti", "T"};
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == 0 || digits > kDigitsMax || text[0] == '0') return false;
  return std::ranges::find(kSuffixes, text.substr(digits)) != std::end(kSuffixes);
}

void WriteQuantityText(uint32_t number, std::string_view text, WireWriter& out) {
  const size_t begin = out.Begin(number);
  out.Bytes(1, text);
  out.End(begin);
}

Status WriteQuantity(uint32_t number, yyjson_val* value, WireWriter& out) {
  if (!yyjson_is_str(value) && !yyjson_is_raw(value) && !yyjson_is_null(value)) {
    return Wanted(value, "a quantity such as 100m or 1Gi");
  }
  if (yyjson_is_str(value) && IsShortQuantity(TextOf(value))) {
    WriteQuantityText(number, TextOf(value), out);
    return Ok();
  }
  std::string text = "0";
  if (!yyjson_is_null(value)) {
    Result<std::string> normal =
        Quantity::Normalize(yyjson_is_str(value) ? Trimmed(TextOf(value)) : NumberOf(value));
    if (!normal) return Wanted(value, "a quantity: " + normal.error().message());
    text = *std::move(normal);
  }
  WriteQuantityText(number, text, out);
  return Ok();
}

Status WriteIntOrString(uint32_t number, yyjson_val* value, WireWriter& out) {
  constexpr uint64_t kIsText = 1;
  const size_t begin = out.Begin(number);
  if (yyjson_is_str(value)) {
    out.Number(1, kIsText);
    out.Number(2, 0);
    out.Bytes(3, TextOf(value));
  } else {
    const Result<int32_t> parsed = ParseInt<int32_t>(value);
    if (!parsed) return Wanted(value, "a whole number of 32 bits, or text");
    out.Number(1, 0);
    out.Number(2, static_cast<uint64_t>(int64_t{*parsed}));
    out.Bytes(3, {});
  }
  out.End(begin);
  return Ok();
}

Status WriteTime(uint32_t number, yyjson_val* value, Rfc3339Fraction fraction, WireWriter& out) {
  const Result<std::string_view> text = AsText(value, "a time such as 2006-01-02T15:04:05Z");
  if (!text) return text.error();
  const size_t begin = out.Begin(number);
  if (!yyjson_is_null(value)) {
    const Result<Timestamp> time = ParseRfc3339(*text, fraction);
    if (!time) return Wanted(value, "a time: " + time.error().message());
    if (*time != kGoZeroTime) {
      // The API server keeps no fraction of a Time, and microseconds of a MicroTime.
      const int32_t nanos = fraction == Rfc3339Fraction::kAny ? 0 : time->nanos;
      out.Number(1, static_cast<uint64_t>(time->seconds));
      out.Number(2, static_cast<uint64_t>(int64_t{nanos}));
    }
  }
  out.End(begin);
  return Ok();
}

Status WriteDuration(uint32_t number, yyjson_val* value, WireWriter& out) {
  const Result<std::string_view> text = AsText(value, "a duration such as 1m30s");
  if (!text) return text.error();
  Duration duration{};
  if (!yyjson_is_null(value)) {
    const Result<Duration> parsed = ParseDuration(*text);
    if (!parsed) return Wanted(value, "a duration: " + parsed.error().message());
    duration = *parsed;
  }
  const size_t begin = out.Begin(number);
  out.Number(1, static_cast<uint64_t>(duration.count()));
  out.End(begin);
  return Ok();
}

Status WriteTextOrDuration(uint32_t number, yyjson_val* value, WireWriter& out) {
  if (!yyjson_is_raw(value)) return WriteDuration(number, value, out);
  const Result<int64_t> nanoseconds = ParseInt<int64_t>(value);
  if (!nanoseconds) return Wanted(value, "a duration such as 1m30s, or whole nanoseconds");
  const size_t begin = out.Begin(number);
  out.Number(1, static_cast<uint64_t>(*nanoseconds));
  out.Number(2, 1);
  out.End(begin);
  return Ok();
}

bool DeeperThan(yyjson_val* value, int depth) {
  if (!yyjson_is_ctn(value)) return false;
  if (depth == 0) return true;
  size_t i = 0, count = 0;
  yyjson_val *key = nullptr, *element = nullptr;
  if (yyjson_is_arr(value)) {
    yyjson_arr_foreach(value, i, count, element) {
      if (DeeperThan(element, depth - 1)) return true;
    }
    return false;
  }
  yyjson_obj_foreach(value, i, count, key, element) {
    if (DeeperThan(element, depth - 1)) return true;
  }
  return false;
}

Status WriteRaw(uint32_t number, yyjson_val* value, WireWriter& out) {
  const size_t begin = out.Begin(number);
  if (!yyjson_is_null(value)) {
    if (DeeperThan(value, kRawJsonDepthMax)) {
      return Error(ErrorCode::kInvalid,
                   "nested deeper than " + std::to_string(kRawJsonDepthMax) + " levels");
    }
    size_t size = 0;
    const std::unique_ptr<char, void (*)(void*)> text(yyjson_val_write(value, 0, &size), std::free);
    if (text == nullptr) return Error(ErrorCode::kInvalid, "cannot be written as JSON");
    out.Bytes(1, {text.get(), size});
  }
  out.End(begin);
  return Ok();
}

Status WriteList(uint32_t number, yyjson_val* value, WireWriter& out) {
  if (!yyjson_is_arr(value) && !yyjson_is_null(value)) return Wanted(value, "a list of texts");
  const size_t begin = out.Begin(number);
  size_t i = 0, count = 0;
  yyjson_val* element = nullptr;
  yyjson_arr_foreach(value, i, count, element) {
    if (Status status = WriteText(1, element, out); !status) return status;
  }
  out.End(begin);
  return Ok();
}

}  // namespace

Status ScalarToWire(Shape shape, uint32_t number, yyjson_val* value, WireWriter& out) {
  switch (shape) {
    case Shape::kBool:
      return WriteBool(number, value, out);
    case Shape::kInt32:
      return WriteInt<int32_t>(number, value, out);
    case Shape::kInt64:
      return WriteInt<int64_t>(number, value, out);
    case Shape::kUint32:
      return WriteInt<uint32_t>(number, value, out);
    case Shape::kUint64:
      return WriteInt<uint64_t>(number, value, out);
    case Shape::kDouble:
      return WriteDouble(number, value, out);
    case Shape::kString:
      return WriteText(number, value, out);
    case Shape::kBytes:
      return WriteBytes(number, value, out);
    case Shape::kQuantity:
      return WriteQuantity(number, value, out);
    case Shape::kIntOrString:
      return WriteIntOrString(number, value, out);
    case Shape::kTime:
      return WriteTime(number, value, Rfc3339Fraction::kAny, out);
    case Shape::kMicroTime:
      return WriteTime(number, value, Rfc3339Fraction::kSixDigits, out);
    case Shape::kDuration:
      return WriteDuration(number, value, out);
    case Shape::kTextOrDuration:
      return WriteTextOrDuration(number, value, out);
    case Shape::kRawJson:
      return WriteRaw(number, value, out);
    case Shape::kStringList:
      return WriteList(number, value, out);
    case Shape::kMessage:
      break;
  }
  CheckFailed(__FILE__, __LINE__, "a message is no scalar");
}

}  // namespace denselet::kube
