// Protobuf's wire format to JSON.
#pragma once

#include <string>
#include <string_view>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/schema.h"

namespace denselet::kube {

// `wire` is what protobuf wrote with sorted maps: fields by ascending number, each whole.
void WireToJson(std::string_view wire, const MessageSchema& schema, const TypeMeta& type,
                std::string& json);
// What WireToJson writes for one field, with its key: nothing for one that Go leaves out. `records`
// are all that the message has of it, with their tags.
void FieldToJson(const FieldSchema& field, std::string_view records, std::string& json);

}  // namespace denselet::kube
