#include "kube/api/hash/manifest.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/json_source.h"
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
  ManifestPlace found;
  if (yyjson_is_obj(value_)) {
    size_t i = 0, count = 0;
    yyjson_val *key = nullptr, *element = nullptr;
    yyjson_obj_foreach(value_, i, count, key, element) {
      if (KeyOf(key) == name) found = ManifestPlace(*source_, element, key);
    }
  }
  return found;
}

std::vector<ManifestPlace> ManifestPlace::Elements() const {
  std::vector<ManifestPlace> elements;
  if (!IsList()) return elements;
  size_t i = 0, count = 0;
  yyjson_val* element = nullptr;
  yyjson_arr_foreach(value_, i, count, element) elements.emplace_back(*source_, element);
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
      fields[KeyOf(key)] = ManifestPlace(*source_, element);
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

std::string_view ManifestPlace::Source() const {
  CHECK(key_ != nullptr);
  return source_->TextBehind(key_);
}

Manifest::Manifest(std::unique_ptr<JsonSource> source) : source_(std::move(source)) {}
Manifest::Manifest(Manifest&&) noexcept = default;
Manifest::~Manifest() = default;

Result<Manifest> Manifest::Parse(std::string_view json) {
  auto source = std::make_unique<JsonSource>(json);
  if (source->root() == nullptr) {
    return Error(ErrorCode::kInvalid, "the manifest is " + source->fault().message);
  }
  return Manifest(std::move(source));
}

ManifestPlace Manifest::root() const { return {*source_, source_->root()}; }

}  // namespace denselet::kube
