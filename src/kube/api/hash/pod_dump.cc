#include "kube/api/hash/pod_dump.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/api/codec/schema.h"
#include "kube/api/hash/internal_conversion.h"
#include "kube/api/hash/internal_types.h"
#include "kube/api/hash/resource_origins.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view kNil = "<nil>";

// Go counts from the year 1.
constexpr int64_t kUnixToGoSeconds = 62135596800;

// The location of the time zone that the process runs in, here: UTC, as /etc/localtime has it. Go
// prints all of it.
constexpr std::string_view kLocalZone =
    "{name:(string)Local zone:([]time.zone)[{name:(string)UTC offset:(int)0 isDST:(bool)false}] "
    "tx:([]time.zoneTrans)[{when:(int64)-9223372036854775808 index:(uint8)0 isstd:(bool)false "
    "isutc:(bool)false}] extend:(string)UTC0 cacheStart:(int64)-9223372036854775808 "
    "cacheEnd:(int64)9223372036854775807 cacheZone:(*time.zone){name:(string)UTC offset:(int)0 "
    "isDST:(bool)false}}";

class Dumper {
 public:
  Dumper(const core::Pod& pod, ManifestPlace manifest, WrittenAs written_as, TextSink& out)
      : pod_(pod), manifest_(manifest), written_as_(written_as), out_(out) {}

  Status Write() {
    out_.Add("(*core.Pod)");
    WriteStruct(InternalPod(), pod_, manifest_);
    return std::move(status_);
  }

 private:
  // Whose `resources` are being written: defaulting fills those of some.
  enum class ResourceOwner { kOther, kContainer, kPod };

  // Braces, brackets: go-spew counts them, and so do its marks of pointers.
  class Depth {
   public:
    explicit Depth(Dumper& dumper) : dumper_(dumper) { ++dumper_.depth_; }
    ~Depth() { --dumper_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Dumper& dumper_;
  };

  void WriteStruct(const InternalType& type, const Message& message, ManifestPlace place) {
    out_.Add("{");
    const Depth depth(*this);
    for (size_t i = 0; i < type.fields.size(); ++i) {
      if (i > 0) out_.Add(" ");
      const InternalField& field = type.fields[i];
      out_.Add(field.label);
      if (field.descriptor == nullptr) {
        WriteDerived(field);
      } else {
        WriteField(type, field, message, place);
      }
    }
    out_.Add("}");
  }

  // Fields that v1 has elsewhere, or not at all.
  void WriteDerived(const InternalField& field) {
    const core::PodSpec& spec = pod_.spec();
    if (field.name == "TypeMeta") return out_.Add("{Kind:(string) APIVersion:(string)}");
    if (field.name == "HostNetwork") return WriteBool(spec.hostnetwork());
    if (field.name == "HostPID") return WriteBool(spec.hostpid());
    if (field.name == "HostIPC") return WriteBool(spec.hostipc());
    PassPointer();
    if (field.name == "ShareProcessNamespace" && spec.has_shareprocessnamespace()) {
      return WriteBool(spec.shareprocessnamespace());
    }
    if (field.name == "HostUsers" && spec.has_hostusers()) return WriteBool(spec.hostusers());
    out_.Add(kNil);
  }

  void WriteField(const InternalType& owner, const InternalField& field, const Message& message,
                  ManifestPlace object) {
    const FieldDescriptor& descriptor = *field.descriptor;
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const ManifestPlace place = field.schema->inlined ? object : object.Field(field.schema->name);
    if (field.pointer) PassPointer();
    if (field.pointer && !reflection.HasField(message, &descriptor) &&
        !IsWrittenTime(field, place)) {
      return out_.Add(kNil);
    }
    if (descriptor.is_map()) return WriteMap(field, message, object, place);
    if (descriptor.is_repeated()) return WriteList(field, message, place);
    if (descriptor.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return WriteScalar(message, descriptor, -1);
    }
    if (field.go_type.ends_with("ResourceRequirements")) SetResourceOwner(owner);
    WriteMessage(field, reflection.GetMessage(message, &descriptor), place);
  }

  // Go's zero time comes back as none when a pod with its defaults was written and read again.
  static bool IsWrittenTime(const InternalField& field, ManifestPlace place) {
    return field.schema->shape == Shape::kTime && place.Text().has_value();
  }

  void SetResourceOwner(const InternalType& owner) {
    resource_owner_ = owner.name == "core.Container" ? ResourceOwner::kContainer
                      : owner.name == "core.PodSpec" ? ResourceOwner::kPod
                                                     : ResourceOwner::kOther;
  }

  void WriteList(const InternalField& field, const Message& message, ManifestPlace place) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, field.descriptor);
    if (size == 0) return out_.Add(place.IsList() ? "[]" : kNil);
    std::vector<ManifestPlace> places = place.Elements();
    places.resize(static_cast<size_t>(size));
    out_.Add("[");
    const Depth depth(*this);
    for (int i = 0; i < size; ++i) {
      if (i > 0) out_.Add(" ");
      if (field.descriptor->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        WriteScalar(message, *field.descriptor, i);
      } else {
        WriteMessage(field, reflection.GetRepeatedMessage(message, field.descriptor, i),
                     places[static_cast<size_t>(i)]);
      }
    }
    out_.Add("]");
  }

  // `object` is around it: defaulting fills a map from its neighbours.
  void WriteMap(const InternalField& field, const Message& message, ManifestPlace object,
                ManifestPlace place) {
    const google::protobuf::Descriptor& entry = *field.descriptor->message_type();
    const auto entries = SortedEntries(field, message);
    if (entries.empty()) return out_.Add(IsEmptyMap(field, object, place) ? "map[]" : kNil);
    out_.Add("map[");
    const Depth depth(*this);
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto& [key, value] = entries[i];
      if (i > 0) out_.Add(" ");
      out_.Add(key);
      out_.Add(":");
      if (field.schema->shape == Shape::kQuantity) {
        WriteEntry(field, key, *value, object, place);
      } else {
        WriteScalar(*value, *entry.map_value(), -1);
      }
    }
    out_.Add("]");
  }

  using Entry = std::pair<std::string, const Message*>;
  static std::vector<Entry> SortedEntries(const InternalField& field, const Message& message) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const FieldDescriptor* key = field.descriptor->message_type()->map_key();
    std::vector<Entry> entries;
    for (int i = 0; i < reflection.FieldSize(message, field.descriptor); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, field.descriptor, i);
      entries.emplace_back(entry.GetReflection()->GetString(entry, key), &entry);
    }
    std::ranges::sort(entries, {}, &Entry::first);
    return entries;
  }

  // Limits without any bring requests without any.
  bool IsEmptyMap(const InternalField& field, ManifestPlace object, ManifestPlace place) const {
    if (place.IsObject()) return true;
    return IsResourceList(field) && field.name == "Requests" &&
           resource_owner_ == ResourceOwner::kContainer && object.Field("limits").IsObject();
  }

  static bool IsResourceList(const InternalField& field) {
    return field.go_type == "core.ResourceList";
  }

  void WriteEntry(const InternalField& field, const std::string& key, const Message& entry,
                  ManifestPlace object, ManifestPlace place) {
    FoundQuantity found = FindQuantity(field, key, object, place);
    if (found && !found->has_value()) {
      const FieldDescriptor* value = field.descriptor->message_type()->map_value();
      const Message& message = entry.GetReflection()->GetMessage(entry, value);
      const auto parsed =
          GoQuantity::Parse(static_cast<const resource::Quantity&>(message).string());
      found = parsed ? FoundQuantity(std::optional(*parsed)) : FoundQuantity(parsed.error());
    }
    if (!found) return Fail(found.error().With("quantity", key));
    GoQuantity quantity = **std::move(found);
    if (IsResourceList(field)) quantity.RoundUpToMilli();
    WriteQuantity(quantity);
  }

  FoundQuantity FindQuantity(const InternalField& field, const std::string& key,
                             ManifestPlace object, ManifestPlace place) const {
    const ManifestPlace own = place.Field(key);
    if (own.IsWritten()) {
      const auto quantity = QuantityAt(own);
      return quantity ? FoundQuantity(std::optional(*quantity)) : FoundQuantity(quantity.error());
    }
    if (field.name != "Limits" && field.name != "Requests") return std::optional<GoQuantity>();
    const ResourceSide side =
        field.name == "Limits" ? ResourceSide::kLimits : ResourceSide::kRequests;
    switch (resource_owner_) {
      case ResourceOwner::kContainer:
        return ContainerQuantity(object, side, key);
      case ResourceOwner::kPod:
        return PodQuantity(manifest_.Field("spec"), side, key);
      case ResourceOwner::kOther:
        break;
    }
    return std::optional<GoQuantity>();
  }

  void WriteMessage(const InternalField& field, const Message& message, ManifestPlace place) {
    if (field.element != nullptr) return WriteStruct(*field.element, message, place);
    if (field.schema->shape == Shape::kQuantity) {
      const auto quantity = QuantityAt(place);
      return quantity ? WriteQuantity(*quantity) : Fail(quantity.error());
    }
    if (field.schema->shape == Shape::kIntOrString) {
      return WriteIntOrString(static_cast<const intstr::IntOrString&>(message));
    }
    if (field.schema->shape == Shape::kTime) return WriteTime(place);
    WriteRaw(place);
  }

  // Its parts are structs and a pointer as well, but none of them is met again.
  void WriteQuantity(const GoQuantity& quantity) {
    const Depth quantity_depth(*this), amount_depth(*this);
    PassPointer();
    out_.Add(quantity.Dump());
  }

  void WriteIntOrString(const intstr::IntOrString& value) {
    out_.Add("{Type:(intstr.Type)" + std::to_string(value.type()) + " IntVal:(int32)" +
             std::to_string(value.intval()) + " StrVal:(string)");
    out_.Add(value.strval());
    out_.Add("}");
  }

  void WriteTime(ManifestPlace place) {
    const Depth outer_depth(*this), inner_depth(*this);
    PassPointer();
    const auto text = place.Text();
    if (!text || text->empty()) {
      return out_.Add("{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
    }
    const auto time = ParseRfc3339(*text, Rfc3339Fraction::kAny);
    if (!time) return Fail(time.error());
    out_.Add("{Time:(time.Time){wall:(uint64)" + std::to_string(time->nanos) + " ext:(int64)" +
             std::to_string(time->seconds + kUnixToGoSeconds) + " loc:(*time.Location)");
    // go-spew takes a pointer that it knows from further out for a circle.
    out_.Add(zone_depth_ < depth_ ? "<shown>" : kLocalZone);
    if (zone_depth_ > depth_) zone_depth_ = depth_;
    out_.Add("}}");
  }

  // go-spew, at a pointer, forgets those that are as deep as it or deeper.
  void PassPointer() {
    if (zone_depth_ >= depth_) zone_depth_ = kZoneUnknown;
  }

  // An element of a list, or with -1 the field itself.
  void WriteScalar(const Message& message, const FieldDescriptor& field, int index) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const bool single = index < 0;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      std::string scratch;
      out_.Add(single ? reflection.GetStringReference(message, &field, &scratch)
                      : reflection.GetRepeatedStringReference(message, &field, index, &scratch));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      WriteBool(single ? reflection.GetBool(message, &field)
                       : reflection.GetRepeatedBool(message, &field, index));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      out_.Add(std::to_string(single ? reflection.GetInt32(message, &field)
                                     : reflection.GetRepeatedInt32(message, &field, index)));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      out_.Add(std::to_string(single ? reflection.GetInt64(message, &field)
                                     : reflection.GetRepeatedInt64(message, &field, index)));
    } else {
      Fail(Error(ErrorCode::kBug, "no pod has a field of such a type").With("field", field.name()));
    }
  }

  void WriteBool(bool value) { out_.Add(value ? "true" : "false"); }

  // Of managed fields Go keeps the bytes: those of the manifest, or those that YAML was turned
  // into.
  void WriteRaw(ManifestPlace place) {
    const std::optional<std::string> json =
        written_as_ == WrittenAs::kJson ? std::string(place.Source()) : place.GoJson();
    if (!json) return Fail(Error(ErrorCode::kInvalid, "fieldsV1 is nested too deeply"));
    std::string text = "{Raw:([]uint8)[";
    for (size_t i = 0; i < json->size(); ++i) {
      if (i > 0) text += ' ';
      text += std::to_string(static_cast<uint8_t>((*json)[i]));
    }
    out_.Add(text + "]}");
  }

  void Fail(Error error) {
    if (status_) status_ = std::move(error);
  }

  const core::Pod& pod_;
  ManifestPlace manifest_;
  WrittenAs written_as_;
  TextSink& out_;
  Status status_ = Ok();
  ResourceOwner resource_owner_ = ResourceOwner::kOther;

  static constexpr int kZoneUnknown = std::numeric_limits<int>::max();
  int depth_ = 0;
  int zone_depth_ = kZoneUnknown;  // where the time zone was shown
};

}  // namespace

Status DumpPod(const core::Pod& pod, ManifestPlace manifest, WrittenAs written_as, TextSink& out) {
  core::Pod internal = pod;
  ApplyInternalConversion(internal);
  return Dumper(internal, manifest, written_as, out).Write();
}

}  // namespace denselet::kube
