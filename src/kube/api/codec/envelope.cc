#include "kube/api/codec/envelope.h"

#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

using Type = WireField::Type;

constexpr std::string_view kPrefix("k8s\0", 4);

// Field numbers of runtime.Unknown and of the runtime.TypeMeta in it.
constexpr uint32_t kTypeMeta = 1, kRaw = 2, kContentEncoding = 3, kContentType = 4;
constexpr uint32_t kApiVersion = 1, kKind = 2;

Status DecodeTypeMeta(std::string_view bytes, Envelope& into) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kApiVersion && field.number != kKind) continue;
    if (!Expect(reader, field, Type::kBytes)) break;
    (field.number == kApiVersion ? into.api_version : into.kind) = field.bytes;
  }
  return reader.ToStatus("type of the object");
}

// Where one of the four fields goes; nullptr: one that we do not know.
std::string_view* FindText(uint32_t number, Envelope& in) {
  switch (number) {
    case kRaw:
      return &in.raw;
    case kContentEncoding:
      return &in.content_encoding;
    case kContentType:
      return &in.content_type;
    default:
      return nullptr;
  }
}

}  // namespace

bool IsEnvelope(std::string_view bytes) { return bytes.starts_with(kPrefix); }

Result<Envelope> DecodeEnvelope(std::string_view bytes) {
  if (!IsEnvelope(bytes)) {
    return Error(ErrorCode::kInvalid, "the bytes do not begin as an object in protobuf does");
  }
  if (bytes.size() == kPrefix.size())
    return Error(ErrorCode::kCorrupt, "the envelope of an object is empty");
  Envelope envelope;
  WireReader reader(bytes.substr(kPrefix.size()));
  WireField field;
  while (reader.Next(field)) {
    std::string_view* text = FindText(field.number, envelope);
    if (text == nullptr && field.number != kTypeMeta) continue;
    if (!Expect(reader, field, Type::kBytes)) break;
    if (text != nullptr) {
      *text = field.bytes;
      continue;
    }
    // A second one is merged into the first, as in every message.
    if (const Status type = DecodeTypeMeta(field.bytes, envelope); !type) {
      return type.error().With("envelope");
    }
  }
  if (const Status status = reader.ToStatus("envelope"); !status) return status.error();
  return envelope;
}

std::string EncodeEnvelope(const TypeMeta& type, std::string_view raw) {
  std::string type_meta;
  AppendBytesField(type_meta, kApiVersion, type.api_version);
  AppendBytesField(type_meta, kKind, type.kind);
  std::string bytes;
  bytes.reserve(kPrefix.size() + type_meta.size() + raw.size() + 32);
  bytes.append(kPrefix);
  AppendBytesField(bytes, kTypeMeta, type_meta);
  AppendBytesField(bytes, kRaw, raw);
  AppendBytesField(bytes, kContentEncoding, "");
  AppendBytesField(bytes, kContentType, "");
  return bytes;
}

}  // namespace denselet::kube
