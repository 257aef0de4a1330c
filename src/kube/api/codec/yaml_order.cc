#include "kube/api/codec/yaml_order.h"

#include <algorithm>
#include <cstdint>

namespace denselet::kube {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Of a character beyond ASCII every byte counts as a letter. Most of them are ones, and no key of
// Kubernetes has others.
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<uint8_t>(c) >= 0x80;
}

struct Run {
  uint64_t number;
  size_t end;
};

// The number that stands at `at`; 0 where there is none. Wraps around as Go's does.
Run ReadRun(std::string_view text, size_t at, uint64_t number) {
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    number = number * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  return {.number = number, .end = at};
}

// Whether the digits right before `at` are more than zeros: a zero there is then not a leading one.
bool IsInsideNumber(std::string_view text, size_t at) {
  for (; at > 0 && IsDigit(text[at - 1]); --at) {
    if (text[at - 1] != '0') return true;
  }
  return false;
}

// The texts are the same up to `at`, and there they differ.
bool LessAt(std::string_view a, std::string_view b, size_t at) {
  const auto of_a = static_cast<uint8_t>(a[at]), of_b = static_cast<uint8_t>(b[at]);
  if (IsLetter(a[at]) && IsLetter(b[at])) return of_a < of_b;
  if (IsLetter(a[at]) || IsLetter(b[at])) return IsLetter(b[at]);
  const bool zero = a[at] == '0' || b[at] == '0';
  const uint64_t begin = zero && IsInsideNumber(a, at) ? 1 : 0;
  const Run run_a = ReadRun(a, at, begin), run_b = ReadRun(b, at, begin);
  if (run_a.number != run_b.number) {
    return static_cast<int64_t>(run_a.number) < static_cast<int64_t>(run_b.number);
  }
  if (run_a.end != run_b.end) return run_a.end < run_b.end;
  return of_a < of_b;
}

}  // namespace

bool YamlKeyLess(std::string_view a, std::string_view b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (a[i] != b[i]) return LessAt(a, b, i);
  }
  return a.size() < b.size();
}

}  // namespace denselet::kube
