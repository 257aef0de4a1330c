// Kubernetes objects as JSON and YAML, to and from the generated types. One codec for all of them,
// driven by their descriptors and by what the Go types say beyond (go_fields.txt): what the real
// API server reads and writes, this reads and writes the same way.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

// Stands in JSON, and in the envelope of protobuf; the messages themselves do not have it.
struct TypeMeta {
  std::string api_version;
  std::string kind;

  friend bool operator==(const TypeMeta&, const TypeMeta&) = default;
};

// The message of a fault that says so; what else is refused or tolerated is an unknown field.
inline constexpr std::string_view kDuplicateField = "duplicate field";

// Fields that the type does not have, and fields that come twice (the last one counts).
enum class Extras : uint8_t { kTolerated, kRefused };

struct DecodeOptions {
  Extras extras = Extras::kTolerated;
  size_t faults_max = 100;  // further ones are not looked for
};

struct DecodeReport {
  TypeMeta type;
  std::vector<Fault> faults;  // empty: it was decoded
  std::vector<Fault> extras;  // the tolerated ones

  bool ok() const { return faults.empty(); }
  Status ToStatus() const { return kube::ToStatus(faults); }
};

// What `into` held before is gone, also when decoding fails.
DecodeReport DecodeJson(std::string_view text, google::protobuf::Message& into,
                        const DecodeOptions& options = {});
DecodeReport DecodeYaml(std::string_view text, google::protobuf::Message& into,
                        const DecodeOptions& options = {});

// As Go writes it, maps sorted; a type without a kind is left out.
std::string EncodeJson(const google::protobuf::Message& message, const TypeMeta& type = {});
// An error: raw JSON within it, which may have come from outside, is none or is nested too deeply.
Result<std::string> EncodeYaml(const google::protobuf::Message& message, const TypeMeta& type = {});

// Deterministic bytes of the message: maps sorted by key.
std::string EncodeWire(const google::protobuf::Message& message);

}  // namespace denselet::kube
