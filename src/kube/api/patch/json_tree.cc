#include "kube/api/patch/json_tree.h"

#include <cstdlib>

#include "kube/api/codec/json_source.h"
#include "kube/api/codec/json_text.h"

namespace denselet::kube {
namespace {

// False: nested too deeply.
bool Read(yyjson_val* value, int depth, Json& into) {
  if (yyjson_is_str(value)) {
    into = Json(TextOf(value));
  } else if (yyjson_is_raw(value)) {
    into = Json(JsonNumber{std::string(NumberOf(value))});
  } else if (yyjson_is_bool(value)) {
    into = Json(yyjson_get_bool(value));
  } else if (yyjson_is_arr(value)) {
    if (depth == kJsonDepthMax) return false;
    Json::List list;
    list.reserve(yyjson_arr_size(value));
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    while (yyjson_val* element = yyjson_arr_iter_next(&iter)) {
      if (!Read(element, depth + 1, list.emplace_back())) return false;
    }
    into = Json(std::move(list));
  } else if (yyjson_is_obj(value)) {
    if (depth == kJsonDepthMax) return false;
    Json::Object object;
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
      Json& member = object[std::string(TextOf(key))];
      if (!Read(yyjson_obj_iter_get_val(key), depth + 1, member)) return false;
    }
    into = Json(std::move(object));
  } else {
    into = Json();
  }
  return true;
}

}  // namespace

bool operator==(const JsonNumber& a, const JsonNumber& b) {
  if (a.text == b.text) return true;
  if (a.IsWhole() || b.IsWhole()) return false;
  return std::strtod(a.text.c_str(), nullptr) == std::strtod(b.text.c_str(), nullptr);
}

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Result<Json> Json::Parse(std::string_view text) {
  const JsonSource source(text);
  if (source.root() == nullptr) {
    return Error(ErrorCode::kInvalid, kube::ToString(source.fault()));
  }
  Json json;
  if (!Read(source.root(), 0, json)) {
    return Error(ErrorCode::kInvalid,
                 "nested more than " + std::to_string(kJsonDepthMax) + " levels deep");
  }
  return json;
}

std::string Json::ToString() const {
  std::string text;
  AppendTo(text);
  return text;
}

void Json::AppendTo(std::string& out) const {
  switch (kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += std::get<bool>(value_) ? "true" : "false";
      return;
    case Kind::kNumber:
      out += number()->text;
      return;
    case Kind::kText:
      AppendJsonText(*text(), out);
      return;
    case Kind::kList: {
      char before = '[';
      for (const Json& element : *list()) {
        out += std::exchange(before, ',');
        element.AppendTo(out);
      }
      out += before == '[' ? "[]" : "]";
      return;
    }
    case Kind::kObject: {
      char before = '{';
      for (const auto& [key, member] : *object()) {
        out += std::exchange(before, ',');
        AppendJsonText(key, out);
        out += ':';
        member.AppendTo(out);
      }
      out += before == '{' ? "{}" : "}";
      return;
    }
  }
}

const Json* Json::Find(std::string_view key) const {
  if (object() == nullptr) return nullptr;
  const auto found = object()->find(key);
  return found == object()->end() ? nullptr : &found->second;
}

std::string_view Name(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return "true or false";
    case Json::Kind::kNumber:
      return "a number";
    case Json::Kind::kText:
      return "text";
    case Json::Kind::kList:
      return "a list";
    case Json::Kind::kObject:
      return "an object";
  }
  return "";
}

}  // namespace denselet::kube
