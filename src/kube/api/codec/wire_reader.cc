#include "kube/api/codec/wire_reader.h"

#include <bit>

namespace denselet::kube {
namespace {

constexpr int kVarintBytesMax = 10;
constexpr uint64_t kFieldNumberMax = (1u << 29) - 1;

// Takes a varint off the front; false when it does not end, or ends beyond 64 bits.
bool TakeVarint(std::string_view& from, uint64_t& value) {
  value = 0;
  for (int i = 0; i < kVarintBytesMax && static_cast<size_t>(i) < from.size(); ++i) {
    const auto byte = static_cast<uint8_t>(from[static_cast<size_t>(i)]);
    if (i == kVarintBytesMax - 1 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(static_cast<size_t>(i) + 1);
      return true;
    }
  }
  return false;
}

bool TakeFixed(std::string_view& from, size_t size, uint64_t& value) {
  if (from.size() < size) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  from.remove_prefix(size);
  return true;
}

bool TakeBytes(std::string_view& from, std::string_view& bytes) {
  uint64_t size = 0;
  if (!TakeVarint(from, size) || size > from.size()) return false;
  bytes = from.substr(0, size);
  from.remove_prefix(size);
  return true;
}

}  // namespace

bool WireReader::Read(WireField& field) {
  const std::string_view before = rest_;
  uint64_t tag = 0;
  if (!TakeVarint(rest_, tag) || (tag >> 3) == 0 || (tag >> 3) > kFieldNumberMax) {
    fault_ = "a field has no valid number";
    return false;
  }
  field.number = static_cast<uint32_t>(tag >> 3);
  field.value = 0;
  field.bytes = {};
  bool whole = false;
  switch (tag & 7) {
    case 0:
      field.type = WireField::Type::kVarint;
      whole = TakeVarint(rest_, field.value);
      break;
    case 1:
      field.type = WireField::Type::kFixed64;
      whole = TakeFixed(rest_, 8, field.value);
      break;
    case 2:
      field.type = WireField::Type::kBytes;
      whole = TakeBytes(rest_, field.bytes);
      break;
    case 5:
      field.type = WireField::Type::kFixed32;
      whole = TakeFixed(rest_, 4, field.value);
      break;
    default:
      fault_ = "a field is of a type that Kubernetes does not use";
      return false;
  }
  if (!whole) {
    fault_ = "a field goes beyond the end of its message";
    return false;
  }
  field.record = before.substr(0, before.size() - rest_.size());
  return true;
}

Status WireReader::ToStatus(std::string_view what) const {
  if (ok()) return Ok();
  return Error(ErrorCode::kCorrupt, fault_).With(what);
}

size_t VarintSize(uint64_t value) {
  return value == 0 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7;
}

void AppendVarint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>((value & 0x7f) | 0x80));
  to.push_back(static_cast<char>(value));
}

void AppendBytesField(std::string& to, uint32_t number, std::string_view bytes) {
  AppendVarint(to, (uint64_t{number} << 3) | 2);
  AppendVarint(to, bytes.size());
  to.append(bytes);
}

}  // namespace denselet::kube
