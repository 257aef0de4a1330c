#include "sync/spec/variables.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {
namespace {

constexpr auto kName = [](const auto& entry) -> std::string_view { return entry.first; };

}  // namespace

void PutValue(KeyValues& list, std::string_view name, std::string value) {
  const auto at = std::ranges::lower_bound(list, name, {}, kName);
  if (at != list.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    list.emplace(at, std::string(name), std::move(value));
  }
}

const std::string* FindValue(const KeyValues& list, std::string_view name) {
  const auto at = std::ranges::lower_bound(list, name, {}, kName);
  return at != list.end() && at->first == name ? &at->second : nullptr;
}

std::string ExpandVariables(std::string_view text, const KeyValues& variables,
                            const KeyValues& others) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == '$') {
      out += '$';
      continue;
    }
    const size_t close = next == '(' ? text.find(')', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += '$';
      out += next;
      continue;
    }
    const std::string_view name = text.substr(i + 1, close - i - 1);
    const std::string* value = FindValue(variables, name);
    if (value == nullptr) value = FindValue(others, name);
    out += value == nullptr ? "$(" + std::string(name) + ")" : *value;
    i = close;
  }
  return out;
}

}  // namespace denselet::sync
