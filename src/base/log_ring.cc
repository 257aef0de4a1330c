#include "base/log_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace denselet {

LogRing::LogRing(LogRingConfig config)
    : capacity_bytes_(config.capacity_bytes),
      reserve_bytes_(config.reserve_bytes),
      ring_(std::make_unique<char[]>(config.capacity_bytes)) {
  CHECK(std::has_single_bit(capacity_bytes_) && capacity_bytes_ >= 4 * sizeof(Header));
  CHECK(capacity_bytes_ < kWrap);
  CHECK(reserve_bytes_ <= capacity_bytes_ / 2);
}

size_t LogRing::EntryBytes(size_t line_bytes) {
  constexpr size_t kUnit = sizeof(Header);
  return kUnit + (line_bytes + kUnit - 1) / kUnit * kUnit;
}

bool LogRing::TryAppend(std::string_view line, Severity severity) noexcept {
  const size_t usable = capacity_bytes_ - (severity == Severity::kError ? 0 : reserve_bytes_);
  if (line.size() >= usable) return Drop();
  const size_t bytes = EntryBytes(line.size());
  const uint64_t written = written_.load(std::memory_order_relaxed);
  // Lines are handed out in one piece: one that does not fit before the end starts at the
  // beginning.
  const size_t to_end = capacity_bytes_ - (written & (capacity_bytes_ - 1));
  const uint64_t start = bytes <= to_end ? written : written + to_end;
  if (!HasRoom(start + bytes, usable)) return Drop();

  const uint64_t dropped = dropped_total_.load(std::memory_order_relaxed);
  if (start != written) PutHeader(written, {dropped, kWrap, severity});
  PutHeader(start, {dropped, static_cast<uint32_t>(line.size()), severity});
  char* const at = ring_.get() + (start & (capacity_bytes_ - 1)) + sizeof(Header);
  std::copy(line.begin(), line.end(), at);
  written_.store(start + bytes, std::memory_order_release);
  appended_total_.store(appended_total_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  return true;
}

// Release: who sees this drop also sees the lines before it (DroppedBehindLastLine relies on it).
bool LogRing::Drop() {
  dropped_total_.store(dropped_total_.load(std::memory_order_relaxed) + 1,
                       std::memory_order_release);
  return false;
}

// Whether the ring may be filled up to `end`.
bool LogRing::HasRoom(uint64_t end, size_t usable_bytes) {
  if (end - released_seen_ <= usable_bytes) return true;
  released_seen_ = released_.load(std::memory_order_acquire);
  return end - released_seen_ <= usable_bytes;
}

void LogRing::PutHeader(uint64_t position, const Header& header) {
  std::memcpy(ring_.get() + (position & (capacity_bytes_ - 1)), &header, sizeof(header));
}

std::optional<LogRing::Entry> LogRing::Peek() {
  uint64_t start = released_.load(std::memory_order_relaxed);
  if (start == written_seen_) written_seen_ = written_.load(std::memory_order_acquire);
  if (start == written_seen_) return std::nullopt;
  Header header;
  std::memcpy(&header, ring_.get() + (start & (capacity_bytes_ - 1)), sizeof(header));
  if (header.line_bytes == kWrap) {
    start += capacity_bytes_ - (start & (capacity_bytes_ - 1));
    std::memcpy(&header, ring_.get(), sizeof(header));
  }
  const char* const line = ring_.get() + (start & (capacity_bytes_ - 1)) + sizeof(Header);
  return Entry{.line = {line, header.line_bytes},
               .severity = header.severity,
               .dropped_before = header.dropped_before,
               .end = start + EntryBytes(header.line_bytes)};
}

void LogRing::Release(const Entry& entry) { released_.store(entry.end, std::memory_order_release); }

// Drops that no later line carries. The order of the two loads matters: when the ring is still
// empty after the count was read, every drop in the count happened before whatever is appended
// next.
uint64_t LogRing::DroppedBehindLastLine() {
  const uint64_t dropped = dropped_total_.load(std::memory_order_acquire);
  const bool empty = written_.load(std::memory_order_acquire) == written_seen_;
  return empty ? dropped : dropped_told_;
}

uint64_t LogRing::TakeDropped(uint64_t dropped_until) {
  CHECK(dropped_until >= dropped_told_);
  const uint64_t dropped = dropped_until - dropped_told_;
  dropped_told_ = dropped_until;
  return dropped;
}

}  // namespace denselet
