#include "kube/api/pod/pod_at_rest.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "kube/api/codec/wire_reader.h"
#include "kube/api/pod/pod_hot_fields.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

Error TooLarge() {
  return Error(ErrorCode::kOverloaded,
               "larger than the limit of " + std::to_string(kPodBytesMax) + " bytes")
      .With("pod");
}

bool IsManagedFields(const WireField& field) { return field.number == kMetadataManagedFieldsField; }

// The size of the metadata without managedFields; an error when it is damaged.
Result<size_t> KeptMetadataBytes(std::string_view metadata) {
  size_t kept = 0;
  WireReader reader(metadata);
  WireField field;
  while (reader.Next(field)) {
    if (!IsManagedFields(field)) kept += field.record.size();
  }
  if (const Status status = reader.ToStatus("metadata"); !status) return status.error();
  return kept;
}

// Gives the pod piece by piece, without metadata.managedFields: `append` takes a string_view.
template <class Append>
Status CopyWithoutManagedFields(std::string_view wire, Append append) {
  WireReader reader(wire);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != kPodMetadataField || field.type != WireField::Type::kBytes) {
      append(field.record);
      continue;
    }
    const auto kept = KeptMetadataBytes(field.bytes);
    if (!kept) return kept.error();
    if (*kept == field.bytes.size()) {
      append(field.record);
      continue;
    }
    std::string header;
    AppendVarint(header, kPodMetadataField << 3 | static_cast<uint32_t>(field.type));
    AppendVarint(header, *kept);
    append(header);
    WireReader metadata(field.bytes);
    WireField member;
    while (metadata.Next(member)) {
      if (!IsManagedFields(member)) append(member.record);
    }
  }
  return reader.ToStatus("pod");
}

// Maps sorted: equal pods have equal bytes.
std::string Serialize(const core::Pod& pod) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream output(&stream);
  output.SetSerializationDeterministic(true);
  pod.SerializePartialToCodedStream(&output);
  output.Trim();
  return bytes;
}

}  // namespace

PodRef::PodRef(const PodRef& other) : pod_(other.pod_) {
  // Whoever copies has a share already, so nothing needs to be ordered.
  if (pod_ != nullptr) pod_->shares_.fetch_add(1, std::memory_order_relaxed);
}

PodRef::~PodRef() {
  if (pod_ != nullptr) PodAtRest::Release(pod_);
}

PodAtRest* PodAtRest::Allocate(size_t wire_bytes) {
  void* memory = ::operator new(sizeof(PodAtRest) + wire_bytes);
  return new (memory) PodAtRest(wire_bytes);
}

void PodAtRest::Release(const PodAtRest* pod) {
  // The last one to go must see all reads of the others as done.
  if (pod->shares_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  auto* memory = const_cast<PodAtRest*>(pod);
  memory->~PodAtRest();
  ::operator delete(memory);
}

Result<PodRef> PodAtRest::FromPieces(std::span<const std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  if (size > kPodBytesMax) return TooLarge();
  PodAtRest* pod = Allocate(size);
  PodRef ref(pod);
  char* to = pod->bytes();
  for (const std::string_view piece : pieces) to = std::ranges::copy(piece, to).out;
  const auto hot = ReadPodHotFields(pod->wire());
  if (!hot) return hot.error();
  pod->hot_ = *hot;
  return ref;
}

Result<PodRef> PodAtRest::FromWire(std::string_view wire) {
  if (wire.size() > kPodBytesMax) return TooLarge();
  size_t kept = 0;
  const Status counted =
      CopyWithoutManagedFields(wire, [&](std::string_view piece) { kept += piece.size(); });
  if (!counted) return counted.error();

  PodAtRest* pod = Allocate(kept);
  PodRef ref(pod);
  char* to = pod->bytes();
  const Status copied = CopyWithoutManagedFields(wire, [&](std::string_view piece) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  });
  if (!copied) return copied.error();

  const auto hot = ReadPodHotFields(pod->wire());
  if (!hot) return hot.error();
  pod->hot_ = *hot;
  return ref;
}

Result<PodRef> PodAtRest::FromPod(const core::Pod& pod) { return FromWire(Serialize(pod)); }

Result<std::unique_ptr<core::Pod>> PodAtRest::Parse() const {
  auto pod = std::make_unique<core::Pod>();
  if (const Status parsed = ParseInto(*pod); !parsed) return parsed.error();
  return pod;
}

Result<std::unique_ptr<core::Pod>> PodAtRest::ParseWithoutSpec() const {
  auto pod = std::make_unique<core::Pod>();
  if (const Status parsed = ParseWithoutSpecInto(*pod); !parsed) return parsed.error();
  return pod;
}

Status PodAtRest::ParseWithoutSpecInto(core::Pod& pod) const {
  std::string rest;
  WireReader reader(wire());
  for (WireField field; reader.Next(field);) {
    if (field.number != core::Pod::kSpecFieldNumber) rest += field.record;
  }
  if (reader.ok() && pod.ParseFromString(rest)) return Ok();
  return NotAPod();
}

Status PodAtRest::ParseInto(core::Pod& pod) const {
  if (pod.ParseFromArray(wire().data(), static_cast<int>(wire_bytes_))) return Ok();
  return NotAPod();
}

Error PodAtRest::NotAPod() const {
  return Error(ErrorCode::kCorrupt, "the bytes are not those of a pod")
      .With("parse pod", std::string(hot_.ns) + "/" + std::string(hot_.name));
}

}  // namespace denselet::kube
