// What the API server puts around an object in protobuf ("application/vnd.kubernetes.protobuf"):
// four bytes that name the encoding, then a runtime.Unknown with the object's type and its bytes.
//
// Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/codec/codec.h"

namespace denselet::kube {

inline constexpr std::string_view kProtobufContentType = "application/vnd.kubernetes.protobuf";

// Views into the bytes it was decoded from.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;               // the object
  std::string_view content_encoding;  // empty: none
  std::string_view content_type;      // of `raw`; empty: protobuf

  TypeMeta Type() const { return {std::string(api_version), std::string(kind)}; }
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

// Whether the bytes begin as an envelope does; JSON never does.
bool IsEnvelope(std::string_view bytes);

// kInvalid: this is no envelope. kCorrupt: it is a damaged one.
Result<Envelope> DecodeEnvelope(std::string_view bytes);

// As the API server writes it: all four fields, also the empty ones.
std::string EncodeEnvelope(const TypeMeta& type, std::string_view raw);

}  // namespace denselet::kube
