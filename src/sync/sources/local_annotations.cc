#include "sync/sources/local_annotations.h"

#include <string>
#include <vector>

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

// Views into a pod's bytes, one behind the other; neighbours are one piece.
class Pieces {
 public:
  void Add(std::string_view piece) {
    bytes_ += piece.size();
    if (!pieces_.empty() && pieces_.back().end() == piece.begin()) {
      pieces_.back() = {pieces_.back().data(), pieces_.back().size() + piece.size()};
    } else {
      pieces_.push_back(piece);
    }
  }
  size_t bytes() const { return bytes_; }
  const std::vector<std::string_view>& all() const { return pieces_; }

 private:
  std::vector<std::string_view> pieces_;
  size_t bytes_ = 0;
};

// The metadata without the annotations that are about to be set.
Status TakeOthers(std::string_view metadata, const LocalAnnotations& set, Pieces& to) {
  WireReader reader(metadata);
  WireField field;
  while (reader.Next(field)) {
    if (IsAnnotation(field)) {
      const std::string_view key = ReadEntry(field.bytes).key;
      if (key == kSourceAnnotation || key == kSeenAnnotation) continue;
      if (key == kMirrorAnnotation && !set.mirror.empty()) continue;
    }
    to.Add(field.record);
  }
  return reader.ToStatus("pod: metadata");
}

}  // namespace

Result<kube::PodRef> WithAnnotations(const kube::PodAtRest& pod, const LocalAnnotations& set) {
  // Put together from all of its parts, should there be several: protobuf merges them.
  Pieces metadata, rest;
  WireReader reader(pod.wire());
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kMetadataField) {
      rest.Add(field.record);
      continue;
    }
    if (!kube::Expect(reader, field, WireField::Type::kBytes)) break;
    if (const Status status = TakeOthers(field.bytes, set, metadata); !status) {
      return status.error();
    }
  }
  if (const Status status = reader.ToStatus("pod"); !status) return status.error();
  std::string own;
  AppendAnnotation(own, kSourceAnnotation, set.source);
  AppendAnnotation(own, kSeenAnnotation, set.seen);
  if (!set.mirror.empty()) AppendAnnotation(own, kMirrorAnnotation, set.mirror);

  std::string header;
  kube::AppendVarint(header, kMetadataField << 3 | static_cast<uint32_t>(WireField::Type::kBytes));
  kube::AppendVarint(header, metadata.bytes() + own.size());
  std::vector<std::string_view> all = {header};
  all.insert(all.end(), metadata.all().begin(), metadata.all().end());
  all.push_back(own);
  all.insert(all.end(), rest.all().begin(), rest.all().end());
  return kube::PodAtRest::FromPieces(all);
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
