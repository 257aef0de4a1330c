#include "kube/api/hash/go_quantity.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "kube/api/values/quantity_text.h"

namespace denselet::kube {
namespace {

using Format = Quantity::Format;

constexpr int32_t kNanoScale = 9;
constexpr int32_t kMilliScale = 3;

std::string_view NameOf(Format format) {
  switch (format) {
    case Format::kDecimalSi:
      return "DecimalSI";
    case Format::kBinarySi:
      return "BinarySI";
    case Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "";
}

// value * 10^power, unless that is too much.
bool MultiplyByTens(int64_t& value, int32_t power) {
  if (value == 0) return true;
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(value, 10, &value)) return false;
  }
  return true;
}

}  // namespace

Result<GoQuantity> GoQuantity::Parse(std::string_view text) {
  const auto parts = SplitQuantity(text);
  if (!parts) return parts.error();
  const auto fraction = static_cast<int32_t>(parts->fraction.size());
  if (std::abs(int64_t{parts->exponent}) + static_cast<int64_t>(text.size()) > kDigitsMax) {
    return Error(ErrorCode::kInvalid,
                 "a quantity of more than " + std::to_string(kDigitsMax) + " digits");
  }
  GoQuantity quantity;
  quantity.format_ = NameOf(parts->format);
  if (text == "0" || IsKeptAsWritten(*parts)) quantity.text_ = text;
  const std::string digits = std::string(parts->whole) + std::string(parts->fraction);
  if (FitsGoInteger(*parts)) {
    // At most 18 digits: they fit. No digit at all is zero.
    std::from_chars(digits.data(), digits.data() + digits.size(), quantity.value_);
    if (parts->IsBinary()) {
      quantity.value_ <<= parts->exponent;
    } else {
      quantity.scale_ = parts->exponent - fraction;
    }
    if (parts->negative) quantity.value_ = -quantity.value_;
    return quantity;
  }

  GoDecimal number = GoDecimal::FromDigits(digits, false, fraction);
  if (parts->IsBinary()) {
    number.ShiftLeft(parts->exponent);
  } else {
    number.scale -= parts->exponent;
  }
  if (!number.IsZero()) number.Round(kNanoScale);
  if (parts->IsBinary()) {
    const GoDecimal most = GoDecimal::FromInt(std::numeric_limits<int64_t>::max(), 0);
    if (number.Compare(most) > 0) number = most;
    const bool small = !number.IsZero() && number.Compare(GoDecimal::FromInt(1, 0)) < 0;
    if (small) quantity.format_ = NameOf(Format::kDecimalSi);
  }
  number.negative = parts->negative && !number.IsZero();
  quantity.decimal_ = std::move(number);
  return quantity;
}

void GoQuantity::RoundUpToMilli() {
  if (decimal_) {
    text_.clear();
    decimal_->Round(kMilliScale);
    return;
  }
  if (scale_ >= -kMilliScale) return;
  text_.clear();
  const int away_from_zero = value_ < 0 ? -1 : 1;
  bool exact = true;
  for (; scale_ < -kMilliScale; ++scale_) {
    exact = exact && value_ % 10 == 0;
    value_ /= 10;
  }
  if (!exact) value_ += away_from_zero;
}

GoDecimal GoQuantity::AsDecimal() const {
  return decimal_ ? *decimal_ : GoDecimal::FromInt(value_, -scale_);
}

void GoQuantity::ToDecimal() {
  decimal_ = AsDecimal();
  value_ = 0;
  scale_ = 0;
}

bool GoQuantity::AddInt(const GoQuantity& other) {
  if (other.value_ == 0) return true;
  if (value_ == 0) {
    value_ = other.value_;
    scale_ = other.scale_;
    return true;
  }
  int64_t mine = value_, theirs = other.value_;
  const int32_t scale = std::min(scale_, other.scale_);
  if (!MultiplyByTens(mine, scale_ - scale) || !MultiplyByTens(theirs, other.scale_ - scale) ||
      __builtin_add_overflow(mine, theirs, &mine)) {
    return false;
  }
  value_ = mine;
  scale_ = scale;
  return true;
}

void GoQuantity::Add(const GoQuantity& other) {
  text_.clear();
  if (IsZero()) format_ = other.format_;
  if (!decimal_ && !other.decimal_ && AddInt(other)) return;
  ToDecimal();
  decimal_->Add(other.AsDecimal());
}

std::strong_ordering GoQuantity::CompareAndConvert(const GoQuantity& other) {
  const std::strong_ordering order = AsDecimal().Compare(other.AsDecimal());
  if (other.decimal_) ToDecimal();
  return order;
}

std::string GoQuantity::Dump() const {
  std::string out = "{i:(resource.int64Amount){value:(int64)" + std::to_string(value_) +
                    " scale:(resource.Scale)" + std::to_string(scale_) +
                    "} d:(resource.infDecAmount){Dec:(*inf.Dec)";
  if (decimal_) {
    out += "{unscaled:(big.Int){neg:(bool)";
    out += decimal_->negative ? "true" : "false";
    out += " abs:(big.nat)";
    for (size_t i = 0; i < decimal_->unscaled.size(); ++i) {
      out += i == 0 ? "[" : " ";
      out += std::to_string(decimal_->unscaled[i]);
    }
    out += decimal_->IsZero() ? "<nil>" : "]";
    out += "} scale:(inf.Scale)" + std::to_string(decimal_->scale) + "}";
  } else {
    out += "<nil>";
  }
  out += "} s:(string)" + text_ + " Format:(resource.Format)";
  out += format_;
  return out + "}";
}

}  // namespace denselet::kube
