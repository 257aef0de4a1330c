#include "sync/sources/local_annotations.h"

#include <string>

#include "kube/api/codec/wire_reader.h"
#include "kube/api/types.h"
#include "sync/sources/pod_difference.h"

namespace denselet::sync {
namespace {

using kube::WireField;
using kube::WireReader;

constexpr uint32_t kMetadataField = kube::core::Pod::kMetadataFieldNumber;
constexpr uint32_t kAnnotationsField = kube::meta::ObjectMeta::kAnnotationsFieldNumber;

struct MapEntry {
  std::string_view key, value;
};

MapEntry ReadEntry(std::string_view bytes) {
  MapEntry entry;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(field)) {
    if (field.number == 1) entry.key = field.bytes;
    if (field.number == 2) entry.value = field.bytes;
  }
  return entry;
}

bool IsAnnotation(const WireField& field) {
  return field.number == kAnnotationsField && field.type == WireField::Type::kBytes;
}

void AppendAnnotation(std::string& metadata, std::string_view key, std::string_view value) {
  std::string entry;
  kube::AppendBytesField(entry, 1, key);
  kube::AppendBytesField(entry, 2, value);
  kube::AppendBytesField(metadata, kAnnotationsField, entry);
}

// The metadata without the annotations that are about to be set.
Status CopyOthers(std::string_view metadata, const LocalAnnotations& set, std::string& to) {
  WireReader reader(metadata);
  WireField field;
  while (reader.Next(field)) {
    if (IsAnnotation(field)) {
      const std::string_view key = ReadEntry(field.bytes).key;
      if (key == kSourceAnnotation || key == kSeenAnnotation) continue;
      if (key == kMirrorAnnotation && !set.mirror.empty()) continue;
    }
    to += field.record;
  }
  return reader.ToStatus("pod: metadata");
}

}  // namespace

Result<kube::PodRef> WithAnnotations(const kube::PodAtRest& pod, const LocalAnnotations& set) {
  // Put together from all of its parts, should there be several: protobuf merges them.
  std::string metadata, rest;
  WireReader reader(pod.wire());
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kMetadataField) {
      rest += field.record;
      continue;
    }
    if (!kube::Expect(reader, field, WireField::Type::kBytes)) break;
    if (const Status status = CopyOthers(field.bytes, set, metadata); !status) {
      return status.error();
    }
  }
  if (const Status status = reader.ToStatus("pod"); !status) return status.error();
  AppendAnnotation(metadata, kSourceAnnotation, set.source);
  AppendAnnotation(metadata, kSeenAnnotation, set.seen);
  if (!set.mirror.empty()) AppendAnnotation(metadata, kMirrorAnnotation, set.mirror);

  std::string wire;
  wire.reserve(metadata.size() + rest.size() + 16);
  kube::AppendBytesField(wire, kMetadataField, metadata);
  wire += rest;
  return kube::PodAtRest::FromWire(wire);
}

std::string_view SeenAnnotation(const kube::PodAtRest& pod) {
  std::string_view seen;
  WireReader reader(pod.wire());
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kMetadataField || field.type != WireField::Type::kBytes) continue;
    WireReader metadata(field.bytes);
    WireField member;
    while (metadata.Next(member)) {
      if (!IsAnnotation(member)) continue;
      const MapEntry entry = ReadEntry(member.bytes);
      if (entry.key == kSeenAnnotation) seen = entry.value;
    }
  }
  return seen;
}

}  // namespace denselet::sync
