// The way of log lines from a shard to the one who writes them out: a bounded ring of bytes with
// one producer and one consumer, who never wait for each other.
//
// And when full? The newest line is dropped and counted: what led to the flood is worth more than
// its end, and the producer must not wait for a slow disk. The last reserve_bytes are for error
// lines, so that a flood of info lines does not hide them. The consumer learns in place, between
// the two lines that surround the gap, how many are missing. A line of up to half the usable bytes
// always finds room in an empty ring.
//
// Owned by the shard's LogOutput. Write and TryAppend belong to the shard's thread, Drain to the
// thread of the log writer; the counters may be read from anywhere. Nothing to stop: when both
// threads are gone, what was not drained is gone too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/log.h"

namespace denselet {

struct LogRingConfig {
  size_t capacity_bytes =
      256 * 1024;                    // a power of two; a line takes up to 31 bytes more than itself
  size_t reserve_bytes = 32 * 1024;  // at most half of it
};

class LogRing final : public LogSink {
 public:
  explicit LogRing(LogRingConfig config = {});
  LogRing(const LogRing&) = delete;
  LogRing& operator=(const LogRing&) = delete;

  // Producer: the whole line, or a drop that is counted.
  [[nodiscard]] bool TryAppend(std::string_view line, Severity severity) noexcept;
  void Write(std::string_view line, Severity severity) noexcept override {
    (void)TryAppend(line, severity);
  }

  // Consumer: calls on_line(std::string_view, Severity) for the waiting lines in order, and
  // on_dropped(uint64_t) at every place where lines are missing, each lost line being told once.
  // Lines are borrowed for the call. Stops before a line that would make it more than bytes_max,
  // unless it is the first; returns the bytes of the lines. A producer that is faster than the
  // consumer cannot hold it here.
  template <class OnLine, class OnDropped>
  size_t Drain(size_t bytes_max, OnLine on_line, OnDropped on_dropped) {
    size_t bytes = 0;
    while (const std::optional<Entry> entry = Peek()) {
      if (const uint64_t dropped = TakeDropped(entry->dropped_before)) on_dropped(dropped);
      if (bytes != 0 && bytes + entry->line.size() > bytes_max) return bytes;
      on_line(entry->line, entry->severity);
      bytes += entry->line.size();
      Release(*entry);
    }
    if (const uint64_t dropped = TakeDropped(DroppedBehindLastLine())) on_dropped(dropped);
    return bytes;
  }

  // Of all times, for metrics.
  uint64_t appended_total() const { return appended_total_.load(std::memory_order_relaxed); }
  uint64_t dropped_total() const { return dropped_total_.load(std::memory_order_relaxed); }

 private:
  // In front of every line, at a multiple of its size, so that it never wraps around.
  struct alignas(16) Header {
    uint64_t dropped_before;  // dropped_total_ when the line was appended
    uint32_t line_bytes;      // kWrap: nothing more up to the end of the ring
    Severity severity;
  };
  static constexpr uint32_t kWrap = UINT32_MAX;

  struct Entry {
    std::string_view line;
    Severity severity;
    uint64_t dropped_before;
    uint64_t end;
  };

  static size_t EntryBytes(size_t line_bytes);
  bool Drop();
  bool HasRoom(uint64_t end, size_t usable_bytes);
  void PutHeader(uint64_t position, const Header& header);
  std::optional<Entry> Peek();
  void Release(const Entry& entry);
  uint64_t DroppedBehindLastLine();
  uint64_t TakeDropped(uint64_t dropped_until);

  const size_t capacity_bytes_;
  const size_t reserve_bytes_;
  const std::unique_ptr<char[]> ring_;

  // Positions count bytes since the beginning and never wrap. Each side's variables have a cache
  // line of their own, with the last position it saw of the other side.
  static constexpr size_t kCacheLineBytes = 64;
  alignas(kCacheLineBytes) std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> dropped_total_ = 0;
  std::atomic<uint64_t> appended_total_ = 0;
  uint64_t released_seen_ = 0;

  alignas(kCacheLineBytes) std::atomic<uint64_t> released_ = 0;
  uint64_t written_seen_ = 0;
  uint64_t dropped_told_ = 0;
};

}  // namespace denselet
