#include "kube/api/codec/json_decode.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <utility>

#include "kube/api/codec/json_scalars.h"
#include "kube/api/codec/wire_writer.h"

namespace denselet::kube {
namespace {

// How we came to a value; spelled out only for a fault.
struct Step {
  enum class Kind : uint8_t { kField, kElement, kKey };  // an element of a list, a key of a map

  const Step* parent = nullptr;
  yyjson_val* key = nullptr;  // of a field, or of a map; an element has none
  size_t index = 0;           // of an element
  Kind kind = Kind::kField;
};

std::string PathOf(const Step* step) {
  if (step == nullptr) return {};
  std::string path = PathOf(step->parent);
  switch (step->kind) {
    case Step::Kind::kField:
      if (!path.empty()) path += '.';
      return path.append(KeyOf(step->key));
    case Step::Kind::kElement:
      return path.append("[").append(std::to_string(step->index)).append("]");
    case Step::Kind::kKey:
      return path.append("[").append(KeyOf(step->key)).append("]");
  }
  return path;
}

// Where the step's key stands, or the element.
size_t OffsetOf(const Step& step, const JsonSource& source) {
  if (step.kind != Step::Kind::kElement) return source.OffsetOf(unsafe_yyjson_get_str(step.key));
  const Step& list = *step.parent;
  JsonSource::Elements elements(source, list.kind == Step::Kind::kElement
                                            ? OffsetOf(list, source)
                                            : source.ValueBehind(list.key));
  size_t offset = elements.Next();
  for (size_t i = 0; i < step.index; ++i) offset = elements.Next();
  return offset;
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
  // In Go's JSON a field that comes again is laid over what it was; an object is then several.
  using Objects = std::span<yyjson_val* const>;
  static constexpr size_t kNone = SIZE_MAX;
  struct Member {
    const FieldSchema* field = nullptr;
    yyjson_val* key = nullptr;
    yyjson_val* value = nullptr;
    size_t next = kNone;  // of the same field, in members_
    bool first = true;
  };

  static std::string Wanted(yyjson_val* found, std::string_view wanted) {
    return "found " + Describe(found) + ", wanted " + std::string(wanted);
  }

  uint32_t LineOf(const Step* at) const {
    return at == nullptr ? 0 : source_.LineAt(OffsetOf(*at, source_));
  }

  void AddFault(const Step* at, std::string message) {
    if (report_.faults.size() >= options_.faults_max) {
      ++report_.further_faults;
      return;
    }
    report_.faults.push_back(
        {.path = PathOf(at), .line = LineOf(at), .message = std::move(message)});
  }

  void AddExtra(const Step& at, std::string_view message) {
    if (options_.extras == Extras::kRefused) return AddFault(&at, std::string(message));
    if (report_.extras.size() >= options_.faults_max) {
      ++report_.further_extras;
      return;
    }
    report_.extras.push_back(
        {.path = PathOf(&at), .line = LineOf(&at), .message = std::string(message)});
  }

  // Nearly always no field comes twice, and each value can be written as it is met. Where one does,
  // what was written of the object is taken back. From then on names are looked at before values,
  // so that no object is decoded more often than it lies deep.
  void Object(const MessageSchema& schema, yyjson_val* object, const Step* parent, Names names) {
    if (names_first_) return ObjectNamesFirst(schema, {&object, 1}, parent, names);
    const size_t written = out_.size();
    const ReportSize before = SizeOfReport();
    if (ObjectAsMet(schema, object, parent, names)) return;
    out_.Truncate(written);
    TakeBack(before);
    if (parent == nullptr && names == Names::kAll) report_.type = {};
    ObjectNamesFirst(schema, {&object, 1}, parent, names);
  }

  // False: a field comes twice.
  bool ObjectAsMet(const MessageSchema& schema, yyjson_val* object, const Step* parent,
                   Names names) {
    Seen seen, inlined;
    yyjson_val* key = unsafe_yyjson_get_first(object);
    yyjson_val* value = nullptr;
    for (size_t left = unsafe_yyjson_get_len(object); left > 0;
         --left, key = unsafe_yyjson_get_next(value)) {
      value = key + 1;
      const MessageSchema::Name* name = schema.Find(KeyOf(key));
      if (name == nullptr) {
        Stranger(schema, StepTo(parent, key), value, names);
        continue;
      }
      const FieldSchema& field = *name->field;
      if (field.inlined) {
        inlined[field.index] = true;
        continue;
      }
      if (seen[field.index]) {
        names_first_ = true;
        return false;
      }
      seen[field.index] = true;
      // Most values are text, and nothing can be wrong with that.
      if (field.shape == Shape::kString && field.repeats == Repeats::kOnce &&
          unsafe_yyjson_is_str(value)) {
        out_.Bytes(field.number, KeyOf(value));
        continue;
      }
      Field(field, value, StepTo(parent, key));
    }
    if (inlined.any()) Inlined(schema, {&object, 1}, parent, inlined);
    return true;
  }

  void ObjectNamesFirst(const MessageSchema& schema, Objects objects, const Step* parent,
                        Names names) {
    const size_t begin = members_.size();
    Seen inlined;
    GatherMembers(schema, objects, parent, names, inlined);
    const size_t end = members_.size();
    for (size_t i = begin; i < end; ++i) {
      const Member member = members_[i];
      if (!member.first) continue;
      if (member.next == kNone) {
        Field(*member.field, member.value, StepTo(parent, member.key));
      } else {
        FieldOfMany(*member.field, ValuesFrom(i), parent);
      }
    }
    members_.resize(begin);
    Inlined(schema, objects, parent, inlined);
  }

  void GatherMembers(const MessageSchema& schema, Objects objects, const Step* parent, Names names,
                     Seen& inlined) {
    Seen before;
    std::array<size_t, kFieldsMax> member_of;  // by index of the field, where seen before
    for (yyjson_val* object : objects) {
      Seen here;
      ForEachMember(object, [&](yyjson_val* key, yyjson_val* value) {
        const MessageSchema::Name* name = schema.Find(KeyOf(key));
        if (name == nullptr) return Stranger(schema, StepTo(parent, key), value, names);
        const FieldSchema& field = *name->field;
        if (field.inlined) {
          inlined[field.index] = true;
          return;
        }
        if (here[field.index]) AddExtra(StepTo(parent, key), kDuplicateField);
        Member member{.field = &field, .key = key, .value = value};
        if (before[field.index]) {
          members_[member_of[field.index]].next = members_.size();
          member.first = false;
        }
        here[field.index] = before[field.index] = true;
        member_of[field.index] = members_.size();
        members_.push_back(member);
      });
    }
  }

  static Step StepTo(const Step* parent, yyjson_val* key) { return {.parent = parent, .key = key}; }
  static Step KeyStep(const Step& map, yyjson_val* key) {
    return {.parent = &map, .key = key, .kind = Step::Kind::kKey};
  }
  static Step ElementStep(const Step& list, size_t index) {
    return {.parent = &list, .index = index, .kind = Step::Kind::kElement};
  }

  // The fields that stand in this object but belong to a message within: they are gathered there,
  // so that the wire has that message once.
  void Inlined(const MessageSchema& schema, Objects objects, const Step* parent,
               const Seen& inlined) {
    if (inlined.none()) return;
    for (const FieldSchema& field : schema.fields) {
      if (!inlined[field.index]) continue;
      const size_t begin = out_.Begin(field.number);
      if (objects.size() == 1) {
        Object(*field.message, objects[0], parent, Names::kInlined);
      } else {
        ObjectNamesFirst(*field.message, objects, parent, Names::kInlined);
      }
      out_.End(begin);
    }
  }

  void Stranger(const MessageSchema& schema, const Step& at, yyjson_val* value, Names names) {
    if (names == Names::kInlined) return;
    const std::string_view name = KeyOf(at.key);
    if (schema.has_type_meta && (name == "kind" || name == "apiVersion")) {
      return TakeTypeMeta(at, value);
    }
    AddExtra(at, "unknown field");
  }

  void TakeTypeMeta(const Step& at, yyjson_val* value) {
    if (yyjson_is_null(value)) return;
    if (!yyjson_is_str(value)) return AddFault(&at, Wanted(value, "text"));
    if (at.parent != nullptr) return;  // of an object within a list: what it is we know
    std::string& into = KeyOf(at.key) == "kind" ? report_.type.kind : report_.type.api_version;
    if (!into.empty()) AddExtra(at, kDuplicateField);
    into = TextOf(value);
  }

  void Field(const FieldSchema& field, yyjson_val* value, const Step& at) {
    if (unsafe_yyjson_is_null(value)) return Null(field, value, at);
    switch (field.repeats) {
      case Repeats::kOnce:
        return Element(field, field.number, value, at);
      case Repeats::kList:
        return List(field, value, at);
      case Repeats::kMap:
        return Map(field, value, at);
    }
  }

  // As if it were not there; but Go's durations have no null, unless there is a pointer to them.
  void Null(const FieldSchema& field, yyjson_val* null, const Step& at) {
    if (field.shape == Shape::kDuration && field.repeats == Repeats::kOnce && !HasNil(field)) {
      AddFault(&at, Wanted(null, "a duration such as 1m30s"));
    }
  }

  // Whether the Go field can be nil, so that null takes back what it was.
  static bool HasNil(const FieldSchema& field) {
    if (field.repeats != Repeats::kOnce || field.pointer) return true;
    return field.shape >= Shape::kMessage && !field.always && !field.omit_zero;
  }

  void List(const FieldSchema& field, yyjson_val* list, const Step& at) {
    if (!yyjson_is_arr(list)) return AddFault(&at, Wanted(list, "a list"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; yyjson_val* value = yyjson_arr_iter_next(&iter); ++i) {
      Element(field, field.number, value, ElementStep(at, i));
    }
  }

  void Map(const FieldSchema& field, yyjson_val* map, const Step& at) {
    if (!yyjson_is_obj(map)) return AddFault(&at, Wanted(map, "an object"));
    FindDuplicateKeys(map, at);
    ForEachMember(map, [&](yyjson_val* key, yyjson_val* value) {
      const size_t begin = out_.Begin(field.number);
      out_.Bytes(1, KeyOf(key));
      Element(field, 2, value, KeyStep(at, key));
      out_.End(begin);
    });
  }

  // In a map the last one counts by itself: protobuf reads entries that way.
  void FindDuplicateKeys(yyjson_val* map, const Step& at) {
    keys_.clear();
    ForEachMember(map, [&](yyjson_val* key, yyjson_val*) { keys_.push_back(key); });
    if (AllDiffer(keys_)) return;
    std::ranges::sort(keys_, [](yyjson_val* a, yyjson_val* b) {
      return std::pair(KeyOf(a), a) < std::pair(KeyOf(b), b);
    });
    for (size_t i = 1; i < keys_.size(); ++i) {
      if (KeyOf(keys_[i]) == KeyOf(keys_[i - 1])) AddExtra(KeyStep(at, keys_[i]), kDuplicateField);
    }
  }

  // Looks at every pair, so only at few keys: nearly every map has few. False: they may differ.
  static bool AllDiffer(const std::vector<yyjson_val*>& keys) {
    constexpr size_t kFew = 16;
    if (keys.size() > kFew) return false;
    for (size_t i = 1; i < keys.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (MessageSchema::SameText(KeyOf(keys[i]), KeyOf(keys[j]))) return false;
      }
    }
    return true;
  }

  // `null` within a list or a map is the empty value, and so is there what could not be decoded:
  // what stands behind it keeps its place.
  void Element(const FieldSchema& field, uint32_t number, yyjson_val* value, const Step& at) {
    if (field.shape == Shape::kMessage) return Message(field, number, value, at);
    if (field.shape == Shape::kString && unsafe_yyjson_is_str(value)) {
      return out_.Bytes(number, KeyOf(value));
    }
    if (field.shape == Shape::kBool && unsafe_yyjson_is_bool(value)) {
      return out_.Number(number, unsafe_yyjson_get_bool(value) ? 1 : 0);
    }
    const size_t written = out_.size();
    if (Status status = ScalarToWire(field.shape, number, value, out_); !status) {
      AddFault(&at, status.error().message());
      out_.Truncate(written);
      yyjson_val null{.tag = YYJSON_TYPE_NULL, .uni = {}};
      if (at.kind != Step::Kind::kField) status = ScalarToWire(field.shape, number, &null, out_);
    }
  }

  void Message(const FieldSchema& field, uint32_t number, yyjson_val* value, const Step& at) {
    const bool object = unsafe_yyjson_is_obj(value);
    if (!object && !unsafe_yyjson_is_null(value)) {
      AddFault(&at, Wanted(value, "an object"));
      if (at.kind == Step::Kind::kField) return;
    }
    const size_t begin = out_.Begin(number);
    if (object) Object(*field.message, value, &at, Names::kAll);
    out_.End(begin);
  }

  std::vector<Member> ValuesFrom(size_t member) const {
    std::vector<Member> values;
    do {
      values.push_back(members_[member]);
      member = members_[member].next;
    } while (member != kNone);
    return values;
  }

  // Looks for faults only.
  template <class Function>
  void Unwritten(Function function) {
    const size_t written = out_.size();
    function();
    out_.Truncate(written);
  }

  // A field that comes more than once. YAML's last one counts, the others are not looked at. JSON's
  // are read as Go reads them: one after the other into the same variable.
  void FieldOfMany(const FieldSchema& field, std::vector<Member> values, const Step* parent) {
    if (source_.was_made()) values.erase(values.begin(), values.end() - 1);
    std::vector<Member> kept;
    for (const Member& member : values) {
      if (!unsafe_yyjson_is_null(member.value)) {
        kept.push_back(member);
        continue;
      }
      Null(field, member.value, StepTo(parent, member.key));
      if (!HasNil(field)) continue;
      Unwritten([&] { FieldOfValues(field, kept, parent); });
      kept.clear();
    }
    FieldOfValues(field, kept, parent);
  }

  // None of them null.
  void FieldOfValues(const FieldSchema& field, const std::vector<Member>& values,
                     const Step* parent) {
    if (values.empty()) return;
    const bool replaced = field.repeats == Repeats::kOnce && field.shape != Shape::kMessage;
    if (field.repeats == Repeats::kMap || replaced) {
      for (size_t i = 0; i < values.size(); ++i) {
        const auto take = [&] { Field(field, values[i].value, StepTo(parent, values[i].key)); };
        // The keys of maps come together.
        if (replaced && i + 1 < values.size()) {
          Unwritten(take);
        } else {
          take();
        }
      }
      return;
    }
    const Step at = StepTo(parent, values.back().key);
    std::vector<yyjson_val*> all;
    for (const Member& member : values) {
      const bool list = field.repeats == Repeats::kList;
      if (list ? yyjson_is_arr(member.value) : yyjson_is_obj(member.value)) {
        all.push_back(member.value);
      } else {
        const Step own = StepTo(parent, member.key);
        AddFault(&own, Wanted(member.value, list ? "a list" : "an object"));
      }
    }
    if (all.empty()) return;
    if (field.repeats == Repeats::kList) return Lists(field, all, at);
    Elements(field, all, at);
  }

  // The length is that of the last list; its elements lie over those that were there. An empty list
  // leaves nothing.
  void Lists(const FieldSchema& field, const std::vector<yyjson_val*>& lists, const Step& at) {
    size_t begin = lists.size();
    while (begin > 0 && yyjson_arr_size(lists[begin - 1]) > 0) --begin;
    std::vector<yyjson_arr_iter> iters;
    for (size_t i = begin; i < lists.size(); ++i) {
      iters.push_back(yyjson_arr_iter_with(lists[i]));
    }
    const size_t size = yyjson_arr_size(lists.back());
    std::vector<yyjson_val*> elements;
    for (size_t i = 0;; ++i) {
      elements.clear();
      for (yyjson_arr_iter& iter : iters) {
        if (yyjson_val* value = yyjson_arr_iter_next(&iter)) elements.push_back(value);
      }
      if (elements.empty()) break;
      const Step element = ElementStep(at, i);
      if (i < size) {
        Elements(field, elements, element);
      } else {
        Unwritten([&] { Elements(field, elements, element); });
      }
    }
    Unwritten([&] {
      for (size_t i = 0; i < begin; ++i) List(field, lists[i], at);
    });
  }

  // Of a message all of them, of anything else the last one that is not null.
  void Elements(const FieldSchema& field, const std::vector<yyjson_val*>& values, const Step& at) {
    std::vector<yyjson_val*> all;
    for (yyjson_val* value : values) {
      if (!yyjson_is_null(value)) all.push_back(value);
    }
    if (all.size() <= 1) {
      return Element(field, field.number, all.empty() ? values.back() : all.back(), at);
    }
    if (field.shape != Shape::kMessage) {
      Unwritten([&] {
        for (size_t i = 0; i + 1 < all.size(); ++i) Element(field, field.number, all[i], at);
      });
      return Element(field, field.number, all.back(), at);
    }
    for (yyjson_val* value : all) {
      if (!yyjson_is_obj(value)) return AddFault(&at, Wanted(value, "an object"));
    }
    const size_t begin = out_.Begin(field.number);
    ObjectNamesFirst(*field.message, all, &at, Names::kAll);
    out_.End(begin);
  }

  struct ReportSize {
    size_t faults = 0, extras = 0, further_faults = 0, further_extras = 0;
  };
  ReportSize SizeOfReport() const {
    if (report_.faults.empty() && report_.extras.empty()) return {};
    return {report_.faults.size(), report_.extras.size(), report_.further_faults,
            report_.further_extras};
  }
  void TakeBack(const ReportSize& to) {
    report_.faults.resize(to.faults);
    report_.extras.resize(to.extras);
    report_.further_faults = to.further_faults;
    report_.further_extras = to.further_extras;
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
  bool names_first_ = false;       // a field came twice
  std::vector<yyjson_val*> keys_;  // of the map that is looked at
  std::vector<Member> members_;    // of the objects being decoded, the outermost first
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
