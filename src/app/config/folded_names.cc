#include "app/config/folded_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace denselet::app {
namespace {

using kube::FieldSchema;
using kube::Json;
using kube::MessageSchema;
using kube::Repeats;

bool SameButForCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// A name that is spelt right comes before one that is nearly so.
const MessageSchema::Name* FindName(const MessageSchema& schema, std::string_view name) {
  if (const MessageSchema::Name* exact = schema.Find(name)) return exact;
  const auto found = std::ranges::find_if(schema.slots, [&](const MessageSchema::Name& each) {
    return each.field != nullptr && SameButForCase(each.name, name);
  });
  return found == schema.slots.end() ? nullptr : &*found;
}

// Of the object itself, or of one inlined further down.
const FieldSchema* FieldOf(const MessageSchema::Name& name) {
  const MessageSchema::Name* at = &name;
  while (at->field->inlined) {
    at = at->field->message->Find(name.name);
    if (at == nullptr) return nullptr;
  }
  return at->field;
}

// Where a value stood, as Document writes paths, and where it belongs.
struct Place {
  std::string was, is;
  bool known = true;  // spelt right so far: only then does Document tell maps from objects

  Place Member(std::string_view name, std::string_view real, bool of_map) const {
    const auto join = [](const std::string& outer, std::string_view inner, bool map) {
      if (map) return outer + "[" + std::string(inner) + "]";
      return outer.empty() ? std::string(inner) : outer + "." + std::string(inner);
    };
    return {join(was, name, of_map && known), join(is, real, of_map), known && name == real};
  }
  Place Element(size_t index) const {
    const std::string number = "[" + std::to_string(index) + "]";
    return {was + number, is + number, known};
  }
};

class Folder {
 public:
  explicit Folder(Origins& origins) : origins_(origins) {}

  void Object(const MessageSchema& schema, Json& value, const Place& place) {
    if (value.object() == nullptr) return Leaf(place);
    Json::Object folded;
    for (auto& [name, member] : *value.object()) {
      const MessageSchema::Name* known = FindName(schema, name);
      const std::string real(known == nullptr ? std::string_view(name) : known->name);
      const FieldSchema* field = known == nullptr ? nullptr : FieldOf(*known);
      // Spelt right it comes later, and is no object that this one would be a part of.
      const auto right = value.object()->find(real);
      const bool loses =
          name < real && right != value.object()->end() && right->second.object() == nullptr;
      if (loses) continue;
      if (field != nullptr) Value(*field, member, place.Member(name, real, false));
      Put(std::move(member), folded[real]);
    }
    value = Json(std::move(folded));
  }

 private:
  void Value(const FieldSchema& field, Json& value, const Place& place) {
    switch (field.repeats) {
      case Repeats::kOnce:
        return One(field, value, place);
      case Repeats::kList:
        if (value.list() == nullptr) return Leaf(place);
        Leaf(place);
        for (size_t i = 0; i < value.list()->size(); ++i) {
          One(field, (*value.list())[i], place.Element(i));
        }
        return;
      case Repeats::kMap:
        if (value.object() == nullptr) return Leaf(place);
        for (auto& [key, entry] : *value.object()) One(field, entry, place.Member(key, key, true));
        return;
    }
  }
  void One(const FieldSchema& field, Json& value, const Place& place) {
    if (field.message == nullptr) return Leaf(place);
    Object(*field.message, value, place);
  }
  void Leaf(const Place& place) {
    if (place.was != place.is) origins_.Set(place.is, origins_.Of(place.was));
  }

  // What comes later counts, and objects are put together.
  static void Put(Json value, Json& into) {
    if (value.object() == nullptr || into.object() == nullptr) {
      into = std::move(value);
      return;
    }
    for (auto& [name, member] : *value.object()) Put(std::move(member), (*into.object())[name]);
  }

  Origins& origins_;
};

}  // namespace

void FoldNames(const MessageSchema& schema, Json& document, Origins& origins) {
  Folder(origins).Object(schema, document, {});
}

bool IsOtherSpelling(const MessageSchema& schema, std::string_view path) {
  const MessageSchema* at = &schema;
  while (true) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    const MessageSchema::Name* name = FindName(*at, path.substr(0, end));
    if (name == nullptr) return false;
    if (end == path.size()) return name->name != path;
    const size_t next = path[end] == '.' ? end : path.find("].", end);
    if (next == std::string_view::npos) return false;
    path.remove_prefix(next + (path[next] == ']' ? 2 : 1));
    const FieldSchema* field = FieldOf(*name);
    if (field == nullptr || field->message == nullptr) return false;
    at = field->message;
  }
}

}  // namespace denselet::app
