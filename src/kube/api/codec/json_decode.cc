#include "kube/api/codec/json_decode.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include "kube/api/codec/json_scalars.h"
#include "kube/api/codec/wire_writer.h"

namespace denselet::kube {
namespace {

// How we came to a value; spelled out only for a fault.
struct Step {
  enum class Kind : uint8_t { kField, kElement, kKey };  // an element of a list, a key of a map

  const Step* parent = nullptr;
  Kind kind = Kind::kField;
  std::string_view name;  // of a field or key
  size_t index = 0;       // of an element
  const char* place = nullptr;

  const char* Place() const {
    for (const Step* step = this; step != nullptr; step = step->parent) {
      if (step->place != nullptr) return step->place;
    }
    return nullptr;
  }
};

std::string PathOf(const Step* step) {
  if (step == nullptr) return {};
  std::string path = PathOf(step->parent);
  switch (step->kind) {
    case Step::Kind::kField:
      if (!path.empty()) path += '.';
      return path.append(step->name);
    case Step::Kind::kElement:
      return path.append("[").append(std::to_string(step->index)).append("]");
    case Step::Kind::kKey:
      return path.append("[").append(step->name).append("]");
  }
  return path;
}

class Decoder {
 public:
  Decoder(const JsonSource& source, const DecodeOptions& options, DecodeReport& report,
          WireWriter& out)
      : source_(source), options_(options), report_(report), out_(out) {}

  void Root(const MessageSchema& schema) {
    yyjson_val* root = source_.root();
    if (!yyjson_is_obj(root)) return AddFault(nullptr, Wanted(root, "an object"));
    Object(schema, root, nullptr, Names::kAll);
  }

 private:
  using Seen = std::bitset<kFieldsMax>;
  // Whether an object's other names are a fault, or belong to the object around it.
  enum class Names : uint8_t { kAll, kInlined };
  struct Member {
    const FieldSchema* field = nullptr;
    yyjson_val* key = nullptr;
    yyjson_val* value = nullptr;
  };

  static std::string Wanted(yyjson_val* found, std::string_view wanted) {
    return "found " + Describe(found) + ", wanted " + std::string(wanted);
  }

  void AddFault(const Step* at, std::string message) {
    if (Full()) return;
    report_.faults.push_back({.path = PathOf(at),
                              .line = source_.LineOf(at == nullptr ? nullptr : at->Place()),
                              .message = std::move(message)});
  }

  void AddExtra(const Step& at, std::string message) {
    if (report_.faults.size() + report_.extras.size() >= options_.faults_max) return;
    auto& list = options_.extras == Extras::kRefused ? report_.faults : report_.extras;
    list.push_back({.path = PathOf(&at), .line = source_.LineOf(at.place), .message = message});
  }

  bool Full() const { return report_.faults.size() >= options_.faults_max; }

  // Nearly always no field comes twice, and each value can be written as it is met. Where one does,
  // what was written of the object is taken back. From then on names are looked at before values,
  // so that no object is decoded more often than it lies deep.
  void Object(const MessageSchema& schema, yyjson_val* object, const Step* parent, Names names) {
    const size_t written = out_.size();
    const size_t faults = report_.faults.size(), extras = report_.extras.size();
    if (!names_first_ && ObjectAsMet(schema, object, parent, names)) return;
    out_.Truncate(written);
    report_.faults.resize(faults);
    report_.extras.resize(extras);
    if (parent == nullptr && names == Names::kAll) report_.type = {};
    ObjectNamesFirst(schema, object, parent, names);
  }

  // False: a field comes twice.
  bool ObjectAsMet(const MessageSchema& schema, yyjson_val* object, const Step* parent,
                   Names names) {
    Seen seen, inlined;
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
      yyjson_val* value = yyjson_obj_iter_get_val(key);
      const MessageSchema::Name* name = schema.Find(KeyOf(key));
      if (name == nullptr) {
        Stranger(schema, StepTo(parent, key), value, names);
        continue;
      }
      const FieldSchema& field = *name->field;
      if (field.inlined) {
        inlined.set(field.index);
        continue;
      }
      if (seen.test(field.index)) {
        names_first_ = true;
        return false;
      }
      seen.set(field.index);
      Field(field, value, StepTo(parent, key));
    }
    Inlined(schema, object, parent, inlined);
    return true;
  }

  // Of a field that comes twice only the last value is looked at.
  void ObjectNamesFirst(const MessageSchema& schema, yyjson_val* object, const Step* parent,
                        Names names) {
    const size_t begin = members_.size();
    Seen seen, inlined;
    std::array<size_t, kFieldsMax> member_of;  // by index of the field, where seen
    ForEachMember(object, [&](yyjson_val* key, yyjson_val* value) {
      const MessageSchema::Name* name = schema.Find(KeyOf(key));
      if (name == nullptr) return Stranger(schema, StepTo(parent, key), value, names);
      const FieldSchema& field = *name->field;
      if (field.inlined) {
        inlined.set(field.index);
        return;
      }
      if (seen.test(field.index)) {
        AddExtra(StepTo(parent, key), std::string(kDuplicateField));
        members_[member_of[field.index]].value = nullptr;
      }
      seen.set(field.index);
      member_of[field.index] = members_.size();
      members_.push_back({&field, key, value});
    });
    const size_t end = members_.size();
    for (size_t i = begin; i < end; ++i) {
      const Member member = members_[i];
      if (member.value != nullptr) Field(*member.field, member.value, StepTo(parent, member.key));
    }
    members_.resize(begin);
    Inlined(schema, object, parent, inlined);
  }

  static Step StepTo(const Step* parent, yyjson_val* key) {
    return {.parent = parent, .name = KeyOf(key), .place = unsafe_yyjson_get_str(key)};
  }
  static Step KeyStep(const Step& map, std::string_view key) {
    return {.parent = &map, .kind = Step::Kind::kKey, .name = key, .place = key.data()};
  }

  // The fields that stand in this object but belong to a message within: they are gathered there,
  // so that the wire has that message once.
  void Inlined(const MessageSchema& schema, yyjson_val* object, const Step* parent,
               const Seen& inlined) {
    if (inlined.none()) return;
    for (const FieldSchema& field : schema.fields) {
      if (!inlined.test(field.index)) continue;
      const size_t begin = out_.Begin(field.number);
      Object(*field.message, object, parent, Names::kInlined);
      out_.End(begin);
    }
  }

  void Stranger(const MessageSchema& schema, const Step& at, yyjson_val* value, Names names) {
    if (names == Names::kInlined) return;
    if (schema.has_type_meta && (at.name == "kind" || at.name == "apiVersion")) {
      return TakeTypeMeta(at, value);
    }
    AddExtra(at, "unknown field");
  }

  void TakeTypeMeta(const Step& at, yyjson_val* value) {
    if (yyjson_is_null(value)) return;
    if (!yyjson_is_str(value)) return AddFault(&at, Wanted(value, "text"));
    if (at.parent != nullptr) return;  // of an object within a list: what it is we know
    std::string& into = at.name == "kind" ? report_.type.kind : report_.type.api_version;
    if (!into.empty()) AddExtra(at, std::string(kDuplicateField));
    into = TextOf(value);
  }

  void Field(const FieldSchema& field, yyjson_val* value, const Step& at) {
    if (yyjson_is_null(value) || Full()) return;
    switch (field.repeats) {
      case Repeats::kOnce:
        return Element(field, field.number, value, at);
      case Repeats::kList:
        return List(field, value, at);
      case Repeats::kMap:
        return Map(field, value, at);
    }
  }

  void List(const FieldSchema& field, yyjson_val* list, const Step& at) {
    if (!yyjson_is_arr(list)) return AddFault(&at, Wanted(list, "a list"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; yyjson_val* value = yyjson_arr_iter_next(&iter); ++i) {
      const Step element{.parent = &at,
                         .kind = Step::Kind::kElement,
                         .name = {},
                         .index = i,
                         .place = PlaceOf(value)};
      Element(field, field.number, value, element);
    }
  }

  void Map(const FieldSchema& field, yyjson_val* map, const Step& at) {
    if (!yyjson_is_obj(map)) return AddFault(&at, Wanted(map, "an object"));
    FindDuplicateKeys(map, at);
    ForEachMember(map, [&](yyjson_val* key, yyjson_val* value) {
      const Step entry = KeyStep(at, KeyOf(key));
      const size_t begin = out_.Begin(field.number);
      out_.Bytes(1, entry.name);
      Element(field, 2, value, entry);
      out_.End(begin);
    });
  }

  // In a map the last one counts by itself: protobuf reads entries that way.
  void FindDuplicateKeys(yyjson_val* map, const Step& at) {
    keys_.clear();
    ForEachMember(map, [&](yyjson_val* key, yyjson_val*) { keys_.push_back(KeyOf(key)); });
    if (AllDiffer(keys_)) return;
    std::ranges::sort(keys_, [](std::string_view a, std::string_view b) {
      return std::pair(a, a.data()) < std::pair(b, b.data());
    });
    for (size_t i = 1; i < keys_.size(); ++i) {
      if (keys_[i] == keys_[i - 1]) AddExtra(KeyStep(at, keys_[i]), std::string(kDuplicateField));
    }
  }

  // Looks at every pair, so only at few keys: nearly every map has few. False: they may differ.
  static bool AllDiffer(const std::vector<std::string_view>& keys) {
    constexpr size_t kFew = 16;
    if (keys.size() > kFew) return false;
    for (size_t i = 1; i < keys.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (keys[i] == keys[j]) return false;
      }
    }
    return true;
  }

  // `null` within a list or a map is the empty value.
  void Element(const FieldSchema& field, uint32_t number, yyjson_val* value, const Step& at) {
    if (field.shape == Shape::kMessage) {
      const bool empty = yyjson_is_null(value);
      if (!empty && !yyjson_is_obj(value)) return AddFault(&at, Wanted(value, "an object"));
      const size_t begin = out_.Begin(number);
      if (!empty) Object(*field.message, value, &at, Names::kAll);
      return out_.End(begin);
    }
    // Most values are text, and nothing can be wrong with that.
    if (field.shape == Shape::kString && yyjson_is_str(value)) {
      return out_.Bytes(number, TextOf(value));
    }
    if (Status status = ScalarToWire(field.shape, number, value, out_); !status) {
      AddFault(&at, status.error().message());
    }
  }

  template <class Function>
  static void ForEachMember(yyjson_val* object, Function function) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
      function(key, yyjson_obj_iter_get_val(key));
    }
  }

  const JsonSource& source_;
  const DecodeOptions& options_;
  DecodeReport& report_;
  WireWriter& out_;
  bool names_first_ = false;            // a field came twice
  std::vector<std::string_view> keys_;  // of the map that is looked at
  std::vector<Member> members_;         // of the objects being decoded, the outermost first
};

}  // namespace

DecodeReport JsonToWire(const JsonSource& source, const MessageSchema& schema,
                        const DecodeOptions& options, WireWriter& out) {
  DecodeReport report;
  if (source.root() == nullptr) {
    report.faults.push_back(source.fault());
    return report;
  }
  Decoder(source, options, report, out).Root(schema);
  return report;
}

}  // namespace denselet::kube
