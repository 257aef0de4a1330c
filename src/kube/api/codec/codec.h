// Kubernetes objects as JSON and YAML, to and from the generated types. One codec for all of them,
// driven by their descriptors and by what the Go types say beyond (go_fields.txt): what the real
// API server reads and writes, this reads and writes the same way.
//
// One difference in reading: JSON with bytes that are no UTF-8, or with half a surrogate pair, is
// refused; Go puts U+FFFD in their place.
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

// Fields that the type does not have, and fields that come twice: in YAML the last one counts, in
// JSON too, but objects and maps are merged, and elements of lists with those of the same place, as
// in Go.
enum class Extras : uint8_t { kTolerated, kRefused };

// What there is of a text with faults: nothing, or all that is not at fault, for who wants to look
// for more of them.
enum class Remains : uint8_t { kNothing, kRest };

struct DecodeOptions {
  Extras extras = Extras::kTolerated;
  Remains remains = Remains::kNothing;
  size_t faults_max = 100;  // of faults, and of extras; further ones are only counted
};

struct DecodeReport {
  TypeMeta type;
  std::vector<Fault> faults;  // empty: it was decoded
  std::vector<Fault> extras;  // the tolerated ones
  // More than faults_max.
  size_t further_faults = 0;
  size_t further_extras = 0;

  bool ok() const { return faults.empty(); }
  Status ToStatus() const { return kube::ToStatus(faults); }
};

// What `into` held before is gone, also when decoding fails; see Remains.
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
