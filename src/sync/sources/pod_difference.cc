#include "sync/sources/pod_difference.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/codec/json_same.h"
#include "kube/api/codec/wire_reader.h"
#include "kube/api/types.h"

namespace denselet::sync {
namespace {

using kube::WireField;
using kube::WireReader;

constexpr uint32_t kMetadataField = kube::core::Pod::kMetadataFieldNumber;
constexpr uint32_t kSpecField = kube::core::Pod::kSpecFieldNumber;
constexpr uint32_t kStatusField = kube::core::Pod::kStatusFieldNumber;
constexpr uint32_t kLabelsField = kube::meta::ObjectMeta::kLabelsFieldNumber;
constexpr uint32_t kAnnotationsField = kube::meta::ObjectMeta::kAnnotationsFieldNumber;

using Texts = std::vector<std::pair<std::string_view, std::string_view>>;

// Views into a pod's bytes.
struct Parts {
  std::vector<std::string_view> specs, statuses;  // protobuf merges several of one field
  Texts labels, annotations;
};

bool IsLocal(std::string_view key) {
  return key == kSourceAnnotation || key == kSeenAnnotation || key == kMirrorAnnotation;
}

Status ReadEntry(std::string_view entry, Texts& into) {
  std::string_view key, value;
  WireReader reader(entry);
  WireField field;
  while (reader.Next(field)) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  into.emplace_back(key, value);
  return reader.ToStatus("pod: metadata: entry");
}

// By key; of two with one key the later counts.
void MakeMap(Texts& texts) {
  std::ranges::stable_sort(texts, {}, &Texts::value_type::first);
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto kept = std::unique(texts.rbegin(), texts.rend(), same_key);
  texts.erase(texts.begin(), kept.base());
}

Status ReadMetadata(std::string_view metadata, Parts& parts) {
  WireReader reader(metadata);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kLabelsField && field.number != kAnnotationsField) continue;
    if (!kube::Expect(reader, field, WireField::Type::kBytes)) break;
    Texts& texts = field.number == kLabelsField ? parts.labels : parts.annotations;
    if (const Status status = ReadEntry(field.bytes, texts); !status) return status;
  }
  return reader.ToStatus("pod: metadata");
}

Result<Parts> ReadParts(const kube::PodAtRest& pod) {
  Parts parts;
  WireReader reader(pod.wire());
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kMetadataField && field.number != kSpecField &&
        field.number != kStatusField) {
      continue;
    }
    if (!kube::Expect(reader, field, WireField::Type::kBytes)) break;
    if (field.number == kSpecField) {
      parts.specs.push_back(field.bytes);
    } else if (field.number == kStatusField) {
      parts.statuses.push_back(field.bytes);
    } else if (const Status status = ReadMetadata(field.bytes, parts); !status) {
      return status.error();
    }
  }
  if (const Status status = reader.ToStatus("pod"); !status) return status.error();
  std::erase_if(parts.annotations, [](const auto& entry) { return IsLocal(entry.first); });
  MakeMap(parts.labels);
  MakeMap(parts.annotations);
  return parts;
}

template <class Part>
bool Read(const std::vector<std::string_view>& pieces, Part& part) {
  std::string bytes;
  for (const std::string_view piece : pieces) bytes += piece;
  return part.ParseFromString(bytes);
}

template <class Part>
Result<bool> SameToGo(const std::vector<std::string_view>& a,
                      const std::vector<std::string_view>& b) {
  Part old_part, new_part;
  if (Read(a, old_part) && Read(b, new_part)) return kube::SameJson(old_part, new_part);
  return Error(ErrorCode::kCorrupt, "the bytes are not those of a pod");
}

bool SameMetadata(const kube::PodAtRest& a, const kube::PodAtRest& b, const Parts& parts_a,
                  const Parts& parts_b) {
  return parts_a.labels == parts_b.labels && parts_a.annotations == parts_b.annotations &&
         a.hot().deletion_time == b.hot().deletion_time &&
         a.hot().deletion_grace_seconds == b.hot().deletion_grace_seconds;
}

}  // namespace

Result<PodDifference> Compare(const kube::PodAtRest& existing, const kube::PodAtRest& incoming) {
  const auto a = ReadParts(existing);
  if (!a) return a.error();
  const auto b = ReadParts(incoming);
  if (!b) return b.error();
  const PodDifference meaning =
      incoming.hot().deletion_time ? PodDifference::kDeletion : PodDifference::kMeaning;
  if (!SameMetadata(existing, incoming, *a, *b)) return meaning;
  const bool same_spec = a->specs == b->specs;
  const bool same_status = a->statuses == b->statuses;
  if (same_spec && same_status) return PodDifference::kNone;

  // A pod that really changed, or an API server that was just upgraded.
  if (!same_spec) {
    const auto same = SameToGo<kube::core::PodSpec>(a->specs, b->specs);
    if (!same) return same.error();
    if (!*same) return meaning;
  }
  if (same_status) return PodDifference::kNone;
  const auto same = SameToGo<kube::core::PodStatus>(a->statuses, b->statuses);
  if (!same) return same.error();
  return *same ? PodDifference::kNone : PodDifference::kStatus;
}

}  // namespace denselet::sync
