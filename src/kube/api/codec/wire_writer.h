// Protobuf's wire format, written front to back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace denselet::kube {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// In memory of its own that nobody clears first: with std::string, clearing and appending cost more
// than the bytes themselves.
class WireWriter {
 public:
  // `size_hint`: about how much it will be.
  explicit WireWriter(size_t size_hint = 0) {
    if (size_hint > 0) Grow(size_hint);
  }
  WireWriter(const WireWriter&) = delete;
  WireWriter& operator=(const WireWriter&) = delete;

  // Valid until more is written.
  std::string_view written() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }
  void Truncate(size_t size) { size_ = size; }

  void Bytes(uint32_t number, std::string_view bytes) {
    char* at = Room(2 * kVarintSizeMax + bytes.size());
    at = PutTag(at, number, WireType::kBytes);
    at = PutVarint(at, bytes.size());
    PutText(at, bytes);
    Wrote(at + bytes.size());
  }

  void Number(uint32_t number, uint64_t value) {
    char* at = Room(2 * kVarintSizeMax);
    Wrote(PutVarint(PutTag(at, number, WireType::kVarint), value));
  }

  void Double(uint32_t number, double value) {
    char* at = PutTag(Room(kVarintSizeMax + sizeof value), number, WireType::kFixed64);
    std::memcpy(at, &value, sizeof value);  // little-endian, as are all machines we run on
    Wrote(at + sizeof value);
  }

  // A message within: its length stands before it and is known after it. One byte is left for it,
  // which is enough for most; a longer message is moved.
  size_t Begin(uint32_t number) {
    Wrote(PutTag(Room(kVarintSizeMax + 1), number, WireType::kBytes) + 1);
    return size_;
  }

  void End(size_t begin) {
    const size_t length = size_ - begin;
    if (length < 0x80) {
      bytes_[begin - 1] = static_cast<char>(length);
      return;
    }
    char* const end = Room(kVarintSizeMax);
    char bytes[kVarintSizeMax];
    const auto count = static_cast<size_t>(PutVarint(bytes, length) - bytes);
    char* const from = bytes_.get() + begin;
    std::memmove(from + count - 1, from, length);
    std::memcpy(from - 1, bytes, count);
    Wrote(end + count - 1);
  }

 private:
  static constexpr size_t kVarintSizeMax = 10;

  static char* PutVarint(char* at, uint64_t value) {
    while (value >= 0x80) {
      *at++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *at++ = static_cast<char>(value);
    return at;
  }
  static char* PutTag(char* at, uint32_t number, WireType type) {
    return PutVarint(at, number << 3 | static_cast<uint32_t>(type));
  }

  // Most texts are short, and then a call of memcpy costs more than the copy.
  static void PutText(char* to, std::string_view text) {
    const char* const from = text.data();
    const size_t size = text.size();
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      CopyEnds<uint64_t>(to, from, size);
    } else if (size >= 4) {
      CopyEnds<uint32_t>(to, from, size);
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }
  // The first and the last bytes; they may overlap.
  template <class Word>
  static void CopyEnds(char* to, const char* from, size_t size) {
    Word first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  }

  // Where to write next; so many bytes may be.
  char* Room(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
    return bytes_.get() + size_;
  }
  void Wrote(const char* end) { size_ = static_cast<size_t>(end - bytes_.get()); }
  void Grow(size_t bytes) {
    capacity_ = std::max(2 * capacity_, size_ + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }

  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;  // of what was written
};

}  // namespace denselet::kube
