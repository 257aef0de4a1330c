// The payload of a record in the journal, field by field.
//
//   payload = (tag:u8 size:u16 value)*      little-endian
//
// Whoever has the record gives out the tags, each once and never again. Unknown ones are passed
// over, so that fields may be added without a new version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/little_endian.h"

namespace denselet::sync {

// Texts are cut at this: a message is for people.
inline constexpr size_t kRecordTextBytesMax = 4096;

template <class Tag>
class FieldWriter {
 public:
  void Text(Tag tag, std::string_view text) { Bytes(tag, text.substr(0, kRecordTextBytesMax)); }
  template <class T>
  void Number(Tag tag, T value) {
    std::string bytes;
    PutLittleEndian(bytes, value);
    Bytes(tag, bytes);
  }
  void Bytes(Tag tag, std::string_view value) {
    value = value.substr(0, UINT16_MAX);
    PutLittleEndian(out_, static_cast<uint8_t>(tag));
    PutLittleEndian(out_, static_cast<uint16_t>(value.size()));
    out_ += value;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// Hands each field to `take`, which says whether it makes sense.
template <class Tag, class Take>
bool ReadFields(std::string_view payload, Take take) {
  while (!payload.empty()) {
    if (payload.size() < 3) return false;
    const auto tag = static_cast<Tag>(payload[0]);
    const auto size = GetLittleEndian<uint16_t>(payload, 1);
    payload.remove_prefix(3);
    if (payload.size() < size || !take(tag, payload.substr(0, size))) return false;
    payload.remove_prefix(size);
  }
  return true;
}

template <class T>
bool TakeNumber(std::string_view value, T& out) {
  if (value.size() != sizeof(T)) return false;
  out = GetLittleEndian<T>(value, 0);
  return true;
}

}  // namespace denselet::sync
