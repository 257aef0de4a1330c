// Whether two messages of one type are the same to Go: there a field that is absent and one that is
// empty are one thing unless it is a pointer, and unknown ones do not exist. That is what their
// JSON shows, which is not written to find out: equal bytes are passed over, and only what differs
// is looked at.
//
// Pure functions, on any thread.
#pragma once

#include <string_view>

#include "kube/api/codec/schema.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

bool SameJson(const google::protobuf::Message& a, const google::protobuf::Message& b);
// Of bytes that protobuf wrote with sorted maps: EncodeWire's.
bool SameJson(std::string_view wire_a, std::string_view wire_b, const MessageSchema& schema);

// Fields with equal bytes are left out of both; the others stay as they are.
void DropSameFields(std::string& wire_a, std::string& wire_b);

}  // namespace denselet::kube
