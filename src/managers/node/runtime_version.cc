#include "managers/node/runtime_version.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace denselet::node {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

bool HasLeadingZero(std::string_view number) { return number.size() > 1 && number[0] == '0'; }

std::optional<uint64_t> ToNumber(std::string_view digits) {
  uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || read != end) return std::nullopt;
  return number;
}

// "1.6.20~ds1": the numbers, and what stands behind them.
struct Parts {
  std::vector<std::string_view> numbers;
  std::string_view extra;
};

std::optional<Parts> TakeApart(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  if (text.starts_with('v')) text.remove_prefix(1);
  Parts parts;
  while (true) {
    const auto end = std::ranges::find_if_not(text, IsDigit);
    const auto size = static_cast<size_t>(end - text.begin());
    if (size == 0) return std::nullopt;
    parts.numbers.push_back(text.substr(0, size));
    text.remove_prefix(size);
    if (text.size() < 2 || text[0] != '.' || !IsDigit(text[1])) break;
    text.remove_prefix(1);
  }
  if (text.find('\n') != text.npos) return std::nullopt;
  parts.extra = text;
  return parts;
}

// "1.2", without zeros in front.
std::optional<std::string> Joined(const std::vector<std::string_view>& numbers) {
  std::string text;
  for (const std::string_view digits : numbers) {
    const std::optional<uint64_t> number = ToNumber(digits);
    if (!number) return std::nullopt;
    if (!text.empty()) text += '.';
    text += std::to_string(*number);
  }
  return text;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool AreIdentifiers(std::string_view text) {
  return std::ranges::all_of(Words(text), [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) {
      return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
  });
}

// "-rc.1+build.5", and white space behind it.
std::optional<std::string_view> SemanticExtra(std::string_view extra) {
  while (!extra.empty() && IsSpace(extra.back())) extra.remove_suffix(1);
  const size_t plus = std::min(extra.find('+'), extra.size());
  const std::string_view release = extra.substr(0, plus);
  if (!release.empty() && (release[0] != '-' || !AreIdentifiers(release.substr(1)))) return {};
  if (plus < extra.size() && !AreIdentifiers(extra.substr(plus + 1))) return {};
  const bool zeros =
      !release.empty() && std::ranges::any_of(Words(release.substr(1)), [](std::string_view word) {
        return HasLeadingZero(word) && ToNumber(word).has_value();
      });
  if (zeros) return {};
  return extra;
}

std::optional<std::string> Semantic(const Parts& parts) {
  if (parts.numbers.size() != 3 || std::ranges::any_of(parts.numbers, HasLeadingZero)) return {};
  const std::optional<std::string> numbers = Joined(parts.numbers);
  const std::optional<std::string_view> extra = SemanticExtra(parts.extra);
  if (!numbers || !extra) return {};
  return *numbers + std::string(*extra);
}

std::optional<std::string> Generic(const Parts& parts) {
  if (parts.numbers.size() < 2 || HasLeadingZero(parts.numbers[0])) return {};
  return Joined(parts.numbers);
}

}  // namespace

std::string ShownRuntimeVersion(std::string_view told) {
  const std::optional<Parts> parts = TakeApart(told);
  if (!parts) return "Unknown";
  if (std::optional<std::string> semantic = Semantic(*parts)) return *std::move(semantic);
  return Generic(*parts).value_or("Unknown");
}

}  // namespace denselet::node
