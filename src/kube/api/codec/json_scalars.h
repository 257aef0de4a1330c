// The values below an object's fields: numbers, texts, and the messages whose JSON form is one of
// these.
#pragma once

#include "base/result.h"
#include "kube/api/codec/json_source.h"
#include "kube/api/codec/schema.h"
#include "kube/api/codec/wire_writer.h"

namespace denselet::kube {

// Anything within Shape::kRawJson may be nested this deep.
inline constexpr int kRawJsonDepthMax = 1000;

// Writes the value as a field of that number; `null` writes the empty value. Not for
// Shape::kMessage.
Status ScalarToWire(Shape shape, uint32_t number, yyjson_val* value, WireWriter& out);

}  // namespace denselet::kube
