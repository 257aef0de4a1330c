#include "app/config/document.h"

#include <algorithm>
#include <set>

#include "kube/api/codec/json_source.h"
#include "kube/api/codec/json_text.h"
#include "kube/api/codec/yaml.h"

namespace denselet::app {
namespace {

using kube::FieldSchema;
using kube::JsonSource;
using kube::MessageSchema;
using Kind = Document::Value::Kind;

// Deeper ones belong to no configuration; the decoder refuses them in its own words.
constexpr int kDepthMax = 100;

Kind KindOf(yyjson_val* value) {
  if (yyjson_is_null(value)) return Kind::kNull;
  if (yyjson_is_arr(value)) return Kind::kList;
  if (yyjson_is_obj(value)) return Kind::kObject;
  return Kind::kScalar;
}

std::string ScalarJson(yyjson_val* value) {
  if (yyjson_is_raw(value)) return std::string(kube::NumberOf(value));
  if (yyjson_is_bool(value)) return yyjson_get_bool(value) ? "true" : "false";
  std::string json;
  if (yyjson_is_str(value)) kube::AppendJsonText(kube::TextOf(value), json);
  return json;
}

const FieldSchema* FindField(const MessageSchema* schema, std::string_view name) {
  while (schema != nullptr) {
    const MessageSchema::Name* found = schema->Find(name);
    if (found == nullptr) return nullptr;
    if (!found->field->inlined) return found->field;
    schema = found->field->message;
  }
  return nullptr;
}

class Walker {
 public:
  Walker(const JsonSource& source, Document& into) : source_(source), into_(into) {}

  void Object(yyjson_val* object, const MessageSchema* schema, const std::string& path, int depth) {
    ForEachMember(object, [&](yyjson_val* key, yyjson_val* value) {
      const std::string_view name = kube::TextOf(key);
      if (path.empty()) TakeType(name, value);
      const std::string inner = path.empty() ? std::string(name) : path + "." + std::string(name);
      Value(value, FindField(schema, name), inner, PlaceOf(key, value), depth);
    });
  }

 private:
  template <class Function>
  static void ForEachMember(yyjson_val* object, Function function) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
      function(key, yyjson_obj_iter_get_val(key));
    }
  }

  // Where a value stands: its line, and where its text begins, if that will be asked for.
  struct Place {
    uint32_t line = 0;
    size_t offset = 0;
  };
  Place PlaceOf(yyjson_val* key, yyjson_val* value) const {
    return {source_.LineOf(kube::PlaceOf(key)),
            yyjson_is_arr(value) ? source_.ValueBehind(key) : size_t{0}};
  }

  void TakeType(std::string_view name, yyjson_val* value) {
    if (!yyjson_is_str(value)) return;
    if (name == "kind") into_.type.kind = kube::TextOf(value);
    if (name == "apiVersion") into_.type.api_version = kube::TextOf(value);
  }

  void Value(yyjson_val* value, const FieldSchema* field, const std::string& path, Place place,
             int depth) {
    if (!seen_.insert(path).second) {
      into_.twice.push_back({.path = path, .line = place.line, .message = "comes more than once"});
    }
    into_.values.push_back({.path = path,
                            .line = place.line,
                            .kind = KindOf(value),
                            .empty = yyjson_is_ctn(value) && yyjson_get_len(value) == 0,
                            .json = ScalarJson(value)});
    if (depth >= kDepthMax) return;
    if (yyjson_is_arr(value)) return List(value, field, path, place, depth + 1);
    if (!yyjson_is_obj(value)) return;
    if (field != nullptr && field->repeats == kube::Repeats::kMap) {
      return Map(value, field, path, depth + 1);
    }
    Object(value, field == nullptr ? nullptr : field->message, path, depth + 1);
  }

  void List(yyjson_val* list, const FieldSchema* field, const std::string& path, Place place,
            int depth) {
    JsonSource::Elements places(source_, place.offset);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; yyjson_val* value = yyjson_arr_iter_next(&iter); ++i) {
      const size_t offset = places.Next();
      Element(value, field, path + "[" + std::to_string(i) + "]",
              {.line = source_.LineAt(offset), .offset = offset}, depth);
    }
  }

  void Map(yyjson_val* map, const FieldSchema* field, const std::string& path, int depth) {
    ForEachMember(map, [&](yyjson_val* key, yyjson_val* value) {
      const std::string inner = path + "[" + std::string(kube::TextOf(key)) + "]";
      Element(value, field, inner, PlaceOf(key, value), depth);
    });
  }

  // Of a list or a map: a value of the field's type, which is not a list or a map again.
  void Element(yyjson_val* value, const FieldSchema* field, const std::string& path, Place place,
               int depth) {
    if (field == nullptr || field->repeats == kube::Repeats::kOnce) {
      return Value(value, nullptr, path, place, depth);
    }
    FieldSchema element = *field;
    element.repeats = kube::Repeats::kOnce;
    Value(value, &element, path, place, depth);
  }

  const JsonSource& source_;
  Document& into_;
  std::set<std::string> seen_;
};

void Fill(const JsonSource& source, const MessageSchema* schema, Document& into) {
  if (source.root() == nullptr) {
    into.faults.push_back(source.fault());
    return;
  }
  if (yyjson_is_obj(source.root()))
    return Walker(source, into).Object(source.root(), schema, "", 0);
  const bool nothing = yyjson_is_null(source.root());
  into.faults.push_back({.path = {},
                         .line = nothing ? 0 : source.LineAt(0),
                         .message = "found " +
                                    (nothing ? "nothing" : kube::Describe(source.root())) +
                                    ", wanted an object"});
}

bool LooksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

}  // namespace

const Document::Value* Document::Find(std::string_view path) const {
  const auto found = std::find_if(values.rbegin(), values.rend(),
                                  [&](const Value& value) { return value.path == path; });
  return found == values.rend() ? nullptr : &*found;
}

// A brace in front makes it JSON, also for the kubelet, though YAML has such mappings too.
Document ReadDocument(std::string_view text, const MessageSchema* schema) {
  if (LooksLikeJson(text)) {
    Document document;
    document.json = text;
    Fill(JsonSource(text), schema, document);
    return document;
  }
  kube::YamlResult yaml = kube::YamlToJson(text);
  Document document;
  document.is_yaml = true;
  document.json = yaml.text.json;
  document.second_line = yaml.second_line;
  document.faults = std::move(yaml.faults);
  if (document.faults.empty()) Fill(JsonSource(yaml.text.json, &yaml.text), schema, document);
  return document;
}

void WarnOfSecondDocument(const Document& document, const std::string& file,
                          std::vector<std::string>& warnings) {
  if (document.second_line == 0) return;
  warnings.push_back(file + ": only the first YAML document is read; what begins on line " +
                     std::to_string(document.second_line) + " is ignored");
}

}  // namespace denselet::app
