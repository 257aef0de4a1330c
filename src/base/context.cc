#include "base/context.h"

#include <algorithm>

namespace denselet {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

void AppendHex(std::string& out, uint8_t byte) {
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

// W3C forbids the all-zero span.
uint64_t NewSpan(Random& random) {
  uint64_t span = random.Next();
  while (span == 0) span = random.Next();
  return span;
}

}  // namespace

std::string Trace::TraceParent() const {
  if (!valid()) return {};
  std::string out;
  out.reserve(55);
  out += "00-";
  for (const uint8_t byte : id) AppendHex(out, byte);
  out += '-';
  for (int shift = 56; shift >= 0; shift -= 8) AppendHex(out, static_cast<uint8_t>(span >> shift));
  out += "-01";
  return out;
}

Trace Trace::Start(Random& random) {
  Trace trace;
  while (!trace.valid()) {
    for (size_t half = 0; half < trace.id.size(); half += 8) {
      uint64_t word = random.Next();
      for (size_t i = 0; i < 8; ++i, word >>= 8) trace.id[half + i] = static_cast<uint8_t>(word);
    }
    trace.span = NewSpan(random);
  }
  return trace;
}

Trace Trace::Child(Random& random) const {
  Trace child = *this;
  child.span = NewSpan(random);
  return child;
}

Duration Context::Left(TimePoint now) const {
  if (deadline == kNever) return Duration::max();
  return Expired(now) ? Duration::zero() : deadline - now;
}

Context Context::WithTimeout(TimePoint now, Duration limit) const {
  Context shorter = *this;
  shorter.deadline = std::min(deadline, After(now, limit));
  return shorter;
}

Context Context::WithSpan(Random& random) const {
  Context step = *this;
  step.trace = trace.Child(random);
  return step;
}

}  // namespace denselet
