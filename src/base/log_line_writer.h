// The buffer that one log line is written into. For log_format and its parts alone.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"

namespace denselet::internal {

class LineWriter {
 public:
  // Kept free behind the last pair: the end of a cut value, "v" of a JSON line, cutBytes, line end.
  static constexpr size_t kTailBytes = 64;

  explicit LineWriter(std::span<char> buffer) : buffer_(buffer) {}

  // What may still be written in front of the tail when `later` bytes are promised to others.
  size_t Room(size_t later) const {
    const size_t taken = size_ + kTailBytes + later;
    return taken < buffer_.size() ? buffer_.size() - taken : 0;
  }

  void Put(std::string_view text) {
    CHECK(text.size() <= buffer_.size() - size_);
    std::copy(text.begin(), text.end(), buffer_.data() + size_);
    size_ += text.size();
  }
  void Put(char c) { Put(std::string_view(&c, 1)); }

  // With zeros or blanks in front, up to `width`.
  void PutNumber(uint64_t value, size_t width = 0, char pad = '0') {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    const auto size = static_cast<size_t>(end - digits);
    for (size_t i = size; i < width; ++i) Put(pad);
    Put(std::string_view(digits, size));
  }

  void Cut(size_t bytes) { cut_bytes_ += bytes; }
  size_t cut_bytes() const { return cut_bytes_; }
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::span<char> buffer_;
  size_t size_ = 0;
  size_t cut_bytes_ = 0;
};

}  // namespace denselet::internal
