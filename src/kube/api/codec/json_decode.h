// JSON to protobuf's wire format. The parsed message is made from those bytes by protobuf's own
// parser, which is faster than setting fields one by one through reflection; a pod at rest needs
// the bytes only.
#pragma once

#include "kube/api/codec/codec.h"
#include "kube/api/codec/json_source.h"
#include "kube/api/codec/schema.h"
#include "kube/api/codec/wire_writer.h"

namespace denselet::kube {

// `out` holds the message when the report is ok.
DecodeReport JsonToWire(const JsonSource& source, const MessageSchema& schema,
                        const DecodeOptions& options, WireWriter& out);

}  // namespace denselet::kube
