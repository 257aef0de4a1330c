#include <yaml.h>
#include <yyjson.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "kube/api/codec/yaml.h"
#include "kube/api/codec/yaml_order.h"
#include "kube/api/codec/yaml_scalar.h"
#include "kube/api/codec/yaml_tree.h"
#include "kube/api/values/float_text.h"

namespace denselet::kube {
namespace {

struct DocumentDeleter {
  void operator()(yyjson_doc* document) const { yyjson_doc_free(document); }
};

std::string_view TextOf(yyjson_val* value) {
  return {yyjson_get_str(value), yyjson_get_len(value)};
}

struct Member {
  std::string_view key;
  yyjson_val* value;
};

std::vector<Member> SortedMembers(yyjson_val* object) {
  std::vector<Member> members;
  yyjson_obj_iter iterator = yyjson_obj_iter_with(object);
  while (yyjson_val* key = yyjson_obj_iter_next(&iterator)) {
    members.push_back({TextOf(key), yyjson_obj_iter_get_val(key)});
  }
  // The last one of those that are the same: from the back it is the first. Before the sort, which
  // may leave something between them where YAML's order is none.
  std::ranges::stable_sort(members, {}, &Member::key);
  std::ranges::reverse(members);
  const auto same = [](const Member& x, const Member& y) { return x.key == y.key; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  SortYamlKeys(members, [](const Member& member) { return member.key; });
  return members;
}

// A number as it would be read: whole if it is, otherwise as Go writes a double; one that no double
// can hold stays as it is.
std::string NumberText(std::string_view json) {
  const Result<YamlScalar> number = ResolveYamlScalar({}, YamlStyle::kPlain, json);
  if (!number) return std::string(json);
  if (const auto* integer = std::get_if<int64_t>(&*number)) return std::to_string(*integer);
  if (const auto* large = std::get_if<uint64_t>(&*number)) return std::to_string(*large);
  if (const auto* real = std::get_if<double>(&*number)) return GoFloatText(*real);
  return std::string(json);
}

// Beyond ASCII these break lines too, or are taken for the mark at the front of a text: between
// quotes, and escaped there, they are what they are for every reader.
bool NeedsEscapes(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; })) {
    return false;
  }
  for (const std::string_view odd : {"\u0085", "\u2028", "\u2029", "\ufeff"}) {
    if (text.find(odd) != text.npos) return true;
  }
  return false;
}

// Owns libyaml's emitter for the length of one call. What it is told is in order, so it fails only
// for want of memory, which ends the process elsewhere too.
class YamlWriter {
 public:
  YamlWriter() {
    CHECK(yaml_emitter_initialize(&emitter_) == 1);
    yaml_emitter_set_output(&emitter_, &YamlWriter::Append, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;
  ~YamlWriter() { yaml_emitter_delete(&emitter_); }

  Result<std::string> Write(yyjson_val* root);

 private:
  static int Append(void* out, unsigned char* bytes, size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }

  // False: nested too deeply.
  bool Value(yyjson_val* value, int depth);
  bool Object(yyjson_val* object, int depth);
  bool Array(yyjson_val* array, int depth);
  void Text(std::string_view text);
  void Scalar(std::string_view text, yaml_scalar_style_t style);
  void Emit(int initialized);

  std::string out_;
  yaml_emitter_t emitter_{};
  yaml_event_t event_{};
};

void YamlWriter::Emit(int initialized) {
  CHECK(initialized == 1);
  CHECK(yaml_emitter_emit(&emitter_, &event_) == 1);
}

void YamlWriter::Scalar(std::string_view text, yaml_scalar_style_t style) {
  Emit(yaml_scalar_event_initialize(&event_, nullptr, nullptr,
                                    reinterpret_cast<const yaml_char_t*>(text.data()),
                                    static_cast<int>(text.size()), 1, 1, style));
}

void YamlWriter::Text(std::string_view text) {
  if (NeedsEscapes(text)) return Scalar(text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  if (text.find('\n') != text.npos) return Scalar(text, YAML_LITERAL_SCALAR_STYLE);
  Scalar(text, IsPlainYamlText(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

bool YamlWriter::Object(yyjson_val* object, int depth) {
  Emit(yaml_mapping_start_event_initialize(&event_, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE));
  for (const Member& member : SortedMembers(object)) {
    Text(member.key);
    if (!Value(member.value, depth + 1)) return false;
  }
  Emit(yaml_mapping_end_event_initialize(&event_));
  return true;
}

bool YamlWriter::Array(yyjson_val* array, int depth) {
  Emit(yaml_sequence_start_event_initialize(&event_, nullptr, nullptr, 1,
                                            YAML_BLOCK_SEQUENCE_STYLE));
  yyjson_arr_iter iterator = yyjson_arr_iter_with(array);
  while (yyjson_val* element = yyjson_arr_iter_next(&iterator)) {
    if (!Value(element, depth + 1)) return false;
  }
  Emit(yaml_sequence_end_event_initialize(&event_));
  return true;
}

bool YamlWriter::Value(yyjson_val* value, int depth) {
  if (depth > kYamlDepthMax) return false;
  if (yyjson_is_obj(value)) return Object(value, depth);
  if (yyjson_is_arr(value)) return Array(value, depth);
  if (yyjson_is_str(value)) {
    Text(TextOf(value));
  } else if (yyjson_is_bool(value)) {
    Scalar(yyjson_get_bool(value) ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
  } else if (yyjson_is_raw(value)) {
    Scalar(NumberText({yyjson_get_raw(value), yyjson_get_len(value)}), YAML_PLAIN_SCALAR_STYLE);
  } else {
    Scalar("null", YAML_PLAIN_SCALAR_STYLE);
  }
  return true;
}

Result<std::string> YamlWriter::Write(yyjson_val* root) {
  Emit(yaml_stream_start_event_initialize(&event_, YAML_UTF8_ENCODING));
  Emit(yaml_document_start_event_initialize(&event_, nullptr, nullptr, nullptr, 1));
  if (!Value(root, 0)) {
    return Error(ErrorCode::kInvalid,
                 "nested too deeply: more than " + std::to_string(kYamlDepthMax) + " levels");
  }
  // Text with newlines at its end would otherwise be followed by "...", which nobody needs behind a
  // single document.
  emitter_.open_ended = 0;
  Emit(yaml_document_end_event_initialize(&event_, 1));
  emitter_.open_ended = 0;
  Emit(yaml_stream_end_event_initialize(&event_));
  return std::move(out_);
}

}  // namespace

Result<std::string> JsonToYaml(std::string_view json) {
  yyjson_read_err error{};
  const std::unique_ptr<yyjson_doc, DocumentDeleter> document(yyjson_read_opts(
      const_cast<char*>(json.data()), json.size(), YYJSON_READ_NUMBER_AS_RAW, nullptr, &error));
  if (document == nullptr) {
    return Error(ErrorCode::kInvalid, "not valid JSON: " + std::string(error.msg) + " at byte " +
                                          std::to_string(error.pos));
  }
  return YamlWriter().Write(yyjson_doc_get_root(document.get()));
}

}  // namespace denselet::kube
