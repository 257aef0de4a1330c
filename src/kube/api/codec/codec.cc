#include "kube/api/codec/codec.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <limits>

#include "base/check.h"
#include "kube/api/codec/json_decode.h"
#include "kube/api/codec/json_encode.h"
#include "kube/api/codec/schema.h"
#include "kube/api/codec/wire_writer.h"
#include "kube/api/codec/yaml.h"

namespace denselet::kube {
namespace {

DecodeReport Decode(const JsonSource& source, google::protobuf::Message& into,
                    const DecodeOptions& options) {
  WireWriter out(source.size());
  DecodeReport report = JsonToWire(source, SchemaOf(*into.GetDescriptor()), options, out);
  into.Clear();
  // Refused where protobuf's own limits are narrower than ours: a text of 2 GB.
  const bool fits = out.size() <= std::numeric_limits<int>::max();
  if ((report.ok() || options.remains == Remains::kRest) &&
      !(fits && into.ParseFromArray(out.written().data(), static_cast<int>(out.size())))) {
    report.faults.push_back({.path = {}, .line = 0, .message = "too large"});
  }
  return report;
}

}  // namespace

DecodeReport DecodeJson(std::string_view text, google::protobuf::Message& into,
                        const DecodeOptions& options) {
  return Decode(JsonSource(text), into, options);
}

DecodeReport DecodeYaml(std::string_view text, google::protobuf::Message& into,
                        const DecodeOptions& options) {
  YamlResult yaml = YamlToJson(text);
  if (!yaml.faults.empty()) {
    into.Clear();
    DecodeReport report;
    report.faults = std::move(yaml.faults);
    return report;
  }
  return Decode(JsonSource(yaml.text.json, &yaml.text), into, options);
}

std::string EncodeWire(const google::protobuf::Message& message) {
  // Sized once: a string that grows under the writer is copied again and again.
  std::string wire(message.ByteSizeLong(), '\0');
  google::protobuf::io::ArrayOutputStream stream(wire.data(), static_cast<int>(wire.size()));
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&out);
  out.Trim();
  CHECK(!out.HadError() && out.ByteCount() == static_cast<int>(wire.size()));
  return wire;
}

std::string EncodeJson(const google::protobuf::Message& message, const TypeMeta& type) {
  std::string json;
  WireToJson(EncodeWire(message), SchemaOf(*message.GetDescriptor()), type, json);
  return json;
}

Result<std::string> EncodeYaml(const google::protobuf::Message& message, const TypeMeta& type) {
  return JsonToYaml(EncodeJson(message, type));
}

}  // namespace denselet::kube
