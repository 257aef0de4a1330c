// Goes over a message that protobuf wrote, field by field; elements of a repeated one come
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {

class FieldWalk {
 public:
  explicit FieldWalk(std::string_view wire) : reader_(wire) { more_ = reader_.Next(part_); }

  // Of the field that it stands at; kEnd, after all others, at the end.
  static constexpr uint32_t kEnd = UINT32_MAX;
  uint32_t number() const { return more_ ? part_.number : kEnd; }

  // All that the message has of the field, with its tags, and goes on. Empty: it stands at another.
  std::string_view Take(uint32_t wanted) {
    if (number() != wanted) return {};
    const char* const begin = part_.record.data();
    const char* end = begin;
    while (number() == wanted) {
      end = part_.record.data() + part_.record.size();
      more_ = reader_.Next(part_);
    }
    CHECK(reader_.ok());  // protobuf wrote it
    return {begin, static_cast<size_t>(end - begin)};
  }

 private:
  WireReader reader_;
  WireField part_;
  bool more_ = false;
};

}  // namespace denselet::kube
