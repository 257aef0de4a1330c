#include "kube/api/codec/meta_view.h"

#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

// Numbers of fields, the same in every kind.
constexpr uint32_t kMetadata = 1;
constexpr uint32_t kName = 1, kNamespace = 3, kUid = 5, kResourceVersion = 6, kAnnotations = 12;
constexpr uint32_t kListResourceVersion = 2, kListContinue = 3;

bool IsInitialEventsEnd(std::string_view entry) {
  WireReader reader(entry);
  std::string_view key, value;
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  return key == "k8s.io/initial-events-end" && value == "true";
}

Status ReadMetadata(std::string_view metadata, MetaView& view) {
  WireReader reader(metadata);
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case kName:
        view.name = field.bytes;
        break;
      case kNamespace:
        view.ns = field.bytes;
        break;
      case kUid:
        view.uid = field.bytes;
        break;
      case kResourceVersion:
        view.resource_version = field.bytes;
        break;
      case kAnnotations:
        view.initial_events_end = view.initial_events_end || IsInitialEventsEnd(field.bytes);
        break;
      default:
        break;
    }
  }
  return reader.ToStatus("metadata");
}

}  // namespace

Result<MetaView> ReadMeta(std::string_view object) {
  MetaView view;
  WireReader reader(object);
  for (WireField field; reader.Next(field);) {
    if (field.number != kMetadata || !Expect(reader, field, WireField::Type::kBytes)) continue;
    if (Status read = ReadMetadata(field.bytes, view); !read) return read.error();
  }
  if (Status read = reader.ToStatus("object"); !read) return read.error();
  return view;
}

Result<ListMetaView> ReadListMeta(std::string_view metadata) {
  ListMetaView view;
  WireReader reader(metadata);
  for (WireField field; reader.Next(field);) {
    if (field.number == kListResourceVersion) view.resource_version = field.bytes;
    if (field.number == kListContinue) view.continue_token = field.bytes;
  }
  if (Status read = reader.ToStatus("list metadata"); !read) return read.error();
  return view;
}

}  // namespace denselet::kube
