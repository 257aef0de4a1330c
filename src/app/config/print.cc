#include "app/config/print.h"

#include <algorithm>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/json_source.h"
#include "kube/api/codec/json_text.h"
#include "kube/api/codec/schema.h"
#include "kube/api/codec/yaml.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using kube::FieldSchema;
using kube::MessageSchema;
using kube::Repeats;
using kube::Shape;

constexpr size_t kCommentColumn = 60;

std::string EncodedConfig(const kube::config::KubeletConfiguration& config) {
  return kube::EncodeJson(
      config, {.api_version = std::string(kConfigApiVersion), .kind = std::string(kConfigKind)});
}

// In quotes, as JSON has it; but what JSON may hold plainly and YAML may not is escaped: DEL, the
// controls U+0080 to U+009F, and the marks U+FEFF, U+FFFE and U+FFFF.
std::string QuotedText(std::string_view text) {
  std::string json, quoted;
  kube::AppendJsonText(text, json);
  const auto at = [&](size_t i) { return i < json.size() ? static_cast<uint8_t>(json[i]) : 0; };
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (size_t i = 0; i < json.size(); ++i) {
    if (at(i) == 0x7f) {
      quoted += "\\u007F";
    } else if (at(i) == 0xc2 && at(i + 1) < 0xa0) {
      const auto low = static_cast<size_t>(at(++i));
      quoted.append("\\u00") += {kDigits[low >> 4], kDigits[low & 15]};
    } else if (json.compare(i, 3, "\xef\xbb\xbf") == 0) {
      quoted += "\\uFEFF";
      i += 2;
    } else if (json.compare(i, 2, "\xef\xbf") == 0 && at(i + 2) >= 0xbe) {
      quoted += at(i + 2) == 0xbe ? "\\uFFFE" : "\\uFFFF";
      i += 2;
    } else {
      quoted += json[i];
    }
  }
  return quoted;
}

// On one line.
std::string YamlText(std::string_view text) {
  const std::string quoted = QuotedText(text);
  const auto yaml = kube::JsonToYaml(quoted);
  if (!yaml) return quoted;
  std::string line = yaml->substr(0, yaml->find_last_not_of('\n') + 1);
  return line.empty() || line.find('\n') != line.npos ? quoted : line;
}

// Lists and objects as flow collections, which are JSON but for texts that need no quotes.
std::string Flow(yyjson_val* value) {
  if (yyjson_is_str(value)) return YamlText(kube::TextOf(value));
  if (yyjson_is_raw(value)) return std::string(kube::NumberOf(value));
  if (yyjson_is_bool(value)) return yyjson_get_bool(value) ? "true" : "false";
  std::string text;
  const auto quoted = [](yyjson_val* inner) {
    return yyjson_is_str(inner) ? QuotedText(kube::TextOf(inner)) : Flow(inner);
  };
  if (yyjson_is_arr(value)) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    while (yyjson_val* element = yyjson_arr_iter_next(&iter)) {
      text.append(text.empty() ? "" : ", ").append(quoted(element));
    }
    return "[" + text + "]";
  }
  if (!yyjson_is_obj(value)) return "null";
  yyjson_obj_iter iter = yyjson_obj_iter_with(value);
  while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
    text.append(text.empty() ? "" : ", ").append(QuotedText(kube::TextOf(key))).append(": ");
    text.append(quoted(yyjson_obj_iter_get_val(key)));
  }
  return "{" + text + "}";
}

// What stands for a field that JSON leaves out since it is empty.
std::string EmptyValue(const FieldSchema& field) {
  if (field.repeats == Repeats::kList) return "[]";
  if (field.repeats == Repeats::kMap) return "{}";
  switch (field.shape) {
    case Shape::kBool:
      return "false";
    case Shape::kInt32:
    case Shape::kInt64:
    case Shape::kUint32:
    case Shape::kUint64:
    case Shape::kDouble:
      return "0";
    case Shape::kString:
    case Shape::kBytes:
    case Shape::kMessage:
    case Shape::kQuantity:
    case Shape::kIntOrString:
    case Shape::kTime:
    case Shape::kMicroTime:
    case Shape::kDuration:
    case Shape::kTextOrDuration:
    case Shape::kRawJson:
    case Shape::kStringList:
      break;
  }
  return "\"\"";
}

// Absent and empty differ.
bool IsOptional(const FieldSchema& field) {
  if (field.repeats != Repeats::kOnce) return false;
  return field.pointer || field.shape == Shape::kMessage || field.shape == Shape::kDuration;
}

class Printer {
 public:
  explicit Printer(const Origins& origins) : origins_(origins) {}

  void Line(int depth, const std::string& text, const std::string& comment) {
    std::string line(static_cast<size_t>(depth) * 2, ' ');
    line += text;
    if (!comment.empty()) {
      line.append(line.size() < kCommentColumn ? kCommentColumn - line.size() : 2, ' ');
      line += "# " + comment;
    }
    out_ += line + "\n";
  }

  void Message(const MessageSchema& schema, yyjson_val* object, const std::string& path,
               int depth) {
    for (const FieldSchema& field : schema.fields) {
      if (field.inlined) {
        Message(*field.message, object, path, depth);
        continue;
      }
      yyjson_val* value = yyjson_obj_getn(object, field.name.data(), field.name.size());
      const std::string inner = path.empty() ? field.name : path + "." + field.name;
      if (value == nullptr) {
        Absent(field, inner, depth);
      } else {
        Field(field, value, inner, depth);
      }
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  std::string OriginOf(const std::string& path) const { return ToString(origins_.Of(path)); }

  void Absent(const FieldSchema& field, const std::string& path, int depth) {
    if (IsOptional(field)) return Line(depth, "# " + field.name + ":", "not set");
    has_values_ = true;
    Line(depth, field.name + ": " + EmptyValue(field), OriginOf(path));
  }

  void Field(const FieldSchema& field, yyjson_val* value, const std::string& path, int depth) {
    has_values_ = true;
    if (field.repeats == Repeats::kList) return List(field, value, path, depth);
    if (field.repeats == Repeats::kMap) return Map(field, value, path, depth);
    if (field.shape != Shape::kMessage) {
      return Line(depth, field.name + ": " + Flow(value), OriginOf(path));
    }
    Printer inner(origins_);
    inner.Message(*field.message, value, path, depth + 1);
    // With comments only below it, it would be null.
    Line(depth, field.name + (inner.has_values_ ? ":" : ": {}"), "");
    out_ += inner.out_;
  }

  void List(const FieldSchema& field, yyjson_val* list, const std::string& path, int depth) {
    Line(depth, field.name + ":", OriginOf(path));
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    while (yyjson_val* element = yyjson_arr_iter_next(&iter)) {
      Line(depth, "- " + Flow(element), "");
    }
  }

  void Map(const FieldSchema& field, yyjson_val* map, const std::string& path, int depth) {
    Line(depth, field.name + ":", "");
    yyjson_obj_iter iter = yyjson_obj_iter_with(map);
    while (yyjson_val* key = yyjson_obj_iter_next(&iter)) {
      const std::string name(kube::TextOf(key));
      Line(depth + 1, YamlText(name) + ": " + Flow(yyjson_obj_iter_get_val(key)),
           OriginOf(path + "[" + name + "]"));
    }
  }

  const Origins& origins_;
  std::string out_;
  bool has_values_ = false;  // there are not only comments
};

std::string PrintSettings(const LoadedSettings& own) {
  Printer printer(own.origins);
  printer.Line(0, "apiVersion: " + std::string(kSettingsApiVersion), "");
  printer.Line(0, "kind: " + std::string(kSettingsKind), "");
  std::string folder;
  for (const ShownSetting& setting : own.Shown()) {
    const size_t dot = setting.path.find('.');
    const bool inside = dot != setting.path.npos;
    if (inside && folder != setting.path.substr(0, dot)) {
      folder = setting.path.substr(0, dot);
      printer.Line(0, folder + ":", "");
    }
    const std::string name = inside ? setting.path.substr(dot + 1) : setting.path;
    printer.Line(inside ? 1 : 0,
                 name + ": " + (setting.is_plain ? setting.value : YamlText(setting.value)),
                 ToString(own.origins.Of(setting.path)));
  }
  return printer.Take();
}

}  // namespace

std::string PrintConfig(const LoadedConfig& loaded, const LoadedSettings& own) {
  const std::string json = EncodedConfig(*loaded.config);
  const kube::JsonSource source(json);
  Printer printer(loaded.origins);
  printer.Line(0, "apiVersion: " + std::string(kConfigApiVersion), "");
  printer.Line(0, "kind: " + std::string(kConfigKind), "");
  printer.Message(kube::SchemaOf(*kube::config::KubeletConfiguration::descriptor()), source.root(),
                  "", 0);
  return printer.Take() + "---\n" + PrintSettings(own);
}

std::string PrintConfigz(const LoadedConfig& loaded) {
  kube::config::KubeletConfiguration config = *loaded.config;
  config.set_seccompdefault(loaded.shown_seccomp_default);
  return "{\"kubeletconfig\":" + EncodedConfig(config) + "}\n";
}

}  // namespace denselet::app
