#include "kube/api/codec/json_same.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/field_walk.h"
#include "kube/api/codec/json_encode.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

bool SameObject(std::string_view a, std::string_view b, const MessageSchema& schema);

bool SameText(const FieldSchema& field, std::string_view records_a, std::string_view records_b) {
  std::string a, b;
  FieldToJson(field, records_a, a);
  FieldToJson(field, records_b, b);
  return a == b;
}

// One message each, or lists of them.
bool SameMessages(const MessageSchema& schema, std::string_view records_a,
                  std::string_view records_b) {
  WireReader reader_a(records_a), reader_b(records_b);
  WireField a, b;
  while (reader_a.Next(a)) {
    if (!reader_b.Next(b) || !SameObject(a.bytes, b.bytes, schema)) return false;
  }
  return !reader_b.Next(b);
}

bool SameField(const FieldSchema& field, std::string_view records_a, std::string_view records_b) {
  if (records_a == records_b) return true;
  if (field.inlined) {
    WireField a, b;
    WireReader(records_a).Next(a);
    WireReader(records_b).Next(b);
    return SameObject(a.bytes, b.bytes, *field.message);
  }
  const bool both = !records_a.empty() && !records_b.empty();
  if (both && field.shape == Shape::kMessage && field.repeats != Repeats::kMap &&
      !field.omit_zero) {
    return SameMessages(*field.message, records_a, records_b);
  }
  return SameText(field, records_a, records_b);
}

bool SameObject(std::string_view a, std::string_view b, const MessageSchema& schema) {
  if (a == b) return true;
  FieldWalk walk_a(a), walk_b(b);
  while (true) {
    const uint32_t number = std::min(walk_a.number(), walk_b.number());
    if (number == FieldWalk::kEnd) return true;
    const std::string_view records_a = walk_a.Take(number), records_b = walk_b.Take(number);
    const FieldSchema* const field = schema.FindNumber(number);
    if (field != nullptr && !SameField(*field, records_a, records_b)) return false;
  }
}

}  // namespace

bool SameJson(std::string_view wire_a, std::string_view wire_b, const MessageSchema& schema) {
  return SameObject(wire_a, wire_b, schema);
}

bool SameJson(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  CHECK(a.GetDescriptor() == b.GetDescriptor());
  return SameObject(EncodeWire(a), EncodeWire(b), SchemaOf(*a.GetDescriptor()));
}

void DropSameFields(std::string& wire_a, std::string& wire_b) {
  std::string kept_a, kept_b;
  FieldWalk walk_a(wire_a), walk_b(wire_b);
  while (true) {
    const uint32_t number = std::min(walk_a.number(), walk_b.number());
    if (number == FieldWalk::kEnd) break;
    const std::string_view records_a = walk_a.Take(number), records_b = walk_b.Take(number);
    if (records_a == records_b) continue;
    kept_a += records_a;
    kept_b += records_b;
  }
  wire_a = std::move(kept_a);
  wire_b = std::move(kept_b);
}

}  // namespace denselet::kube
