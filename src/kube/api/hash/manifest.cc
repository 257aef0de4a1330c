#include "kube/api/hash/manifest.h"

#include <yyjson.h>

#include <map>

#include "kube/api/codec/json_text.h"

namespace denselet::kube {
namespace {

// More than the codec lets through.
constexpr int kDepthMax = 1000;

}  // namespace

bool ManifestPlace::IsList() const { return yyjson_is_arr(value_); }

bool ManifestPlace::IsObject() const { return yyjson_is_obj(value_); }

std::optional<std::string_view> ManifestPlace::Text() const {
  if (yyjson_is_str(value_)) {
    return std::string_view(yyjson_get_str(value_), yyjson_get_len(value_));
  }
  if (yyjson_is_raw(value_)) {
    return std::string_view(yyjson_get_raw(value_), yyjson_get_len(value_));
  }
  return std::nullopt;
}

ManifestPlace ManifestPlace::Field(std::string_view name) const {
  yyjson_val* found = nullptr;
  if (yyjson_is_obj(value_)) {
    size_t i = 0, count = 0;
    yyjson_val *key = nullptr, *element = nullptr;
    yyjson_obj_foreach(value_, i, count, key, element) {
      if (yyjson_equals_strn(key, name.data(), name.size())) found = element;
    }
  }
  return ManifestPlace(found);
}

std::vector<ManifestPlace> ManifestPlace::Elements() const {
  std::vector<ManifestPlace> elements;
  if (!IsList()) return elements;
  size_t i = 0, count = 0;
  yyjson_val* element = nullptr;
  yyjson_arr_foreach(value_, i, count, element) elements.emplace_back(element);
  return elements;
}

std::optional<std::string> ManifestPlace::GoJson() const {
  std::string out;
  if (!AppendGoJson(kDepthMax, out)) return std::nullopt;
  return out;
}

bool ManifestPlace::AppendGoJson(int depth_max, std::string& out) const {
  if (depth_max == 0) return false;
  if (yyjson_is_str(value_)) {
    AppendJsonText(*Text(), out);
  } else if (const auto number = Text()) {
    out += *number;
  } else if (yyjson_is_bool(value_)) {
    out += yyjson_get_bool(value_) ? "true" : "false";
  } else if (IsList()) {
    const auto elements = Elements();
    const char* separator = "[";
    for (const ManifestPlace& element : elements) {
      out += separator;
      if (!element.AppendGoJson(depth_max - 1, out)) return false;
      separator = ",";
    }
    out += elements.empty() ? "[]" : "]";
  } else if (IsObject()) {
    std::map<std::string_view, ManifestPlace> fields;
    size_t i = 0, count = 0;
    yyjson_val *key = nullptr, *element = nullptr;
    yyjson_obj_foreach(value_, i, count, key, element) {
      fields[*ManifestPlace(key).Text()] = ManifestPlace(element);
    }
    const char* separator = "{";
    for (const auto& [name, field] : fields) {
      out += separator;
      AppendJsonText(name, out);
      out += ':';
      if (!field.AppendGoJson(depth_max - 1, out)) return false;
      separator = ",";
    }
    out += fields.empty() ? "{}" : "}";
  } else {
    out += "null";
  }
  return true;
}

void Manifest::Free::operator()(yyjson_doc* doc) const { yyjson_doc_free(doc); }

Result<Manifest> Manifest::Parse(std::string_view json) {
  yyjson_read_err error{};
  // Without the flag for parsing in place the text is not written to.
  yyjson_doc* doc = yyjson_read_opts(const_cast<char*>(json.data()), json.size(),
                                     YYJSON_READ_NUMBER_AS_RAW, nullptr, &error);
  if (doc == nullptr) {
    return Error(ErrorCode::kInvalid, std::string("the manifest is not JSON: ") + error.msg);
  }
  return Manifest(doc);
}

ManifestPlace Manifest::root() const { return ManifestPlace(yyjson_doc_get_root(doc_.get())); }

}  // namespace denselet::kube
