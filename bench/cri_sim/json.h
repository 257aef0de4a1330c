// Reading JSON of scenarios and commands: yyjson with the few questions that are asked here. For
// .cc files only.
#pragma once

#include <yyjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace denselet::cri_sim {

class Json {
 public:
  static Result<Json> Parse(std::string_view text) {
    yyjson_doc* const doc = yyjson_read(text.data(), text.size(), 0);
    if (doc == nullptr) return Error(ErrorCode::kInvalid, "not JSON");
    Json json;
    json.doc_.reset(doc, [](yyjson_doc* one) { yyjson_doc_free(one); });
    json.value_ = yyjson_doc_get_root(doc);
    return json;
  }

  bool exists() const { return value_ != nullptr && !yyjson_is_null(value_); }
  bool is_object() const { return yyjson_is_obj(value_); }
  bool is_array() const { return yyjson_is_arr(value_); }
  bool is_text() const { return yyjson_is_str(value_); }
  bool is_number() const { return yyjson_is_num(value_); }
  bool is_bool() const { return yyjson_is_bool(value_); }
  Json operator[](const char* key) const { return With(yyjson_obj_get(value_, key)); }
  std::string Text(std::string_view otherwise = {}) const {
    return is_text() ? std::string(yyjson_get_str(value_), yyjson_get_len(value_))
                     : std::string(otherwise);
  }
  double Number(double otherwise = 0) const {
    return is_number() ? yyjson_get_num(value_) : otherwise;
  }
  uint64_t Count(uint64_t otherwise = 0) const {
    return is_number() && yyjson_get_num(value_) >= 0
               ? static_cast<uint64_t>(yyjson_get_num(value_))
               : otherwise;
  }
  bool Bool(bool otherwise) const { return is_bool() ? yyjson_get_bool(value_) : otherwise; }
  size_t size() const { return yyjson_get_len(value_); }

  std::string ToText() const {
    char* const text = yyjson_val_write(value_, 0, nullptr);
    if (text == nullptr) return {};
    std::string out = text;
    free(text);
    return out;
  }

  // visit(key, value); stops at the first error. A key that comes twice is one.
  template <class Visit>
  Status ForEachMember(Visit visit) const {
    std::set<std::string> seen;
    yyjson_obj_iter it;
    yyjson_obj_iter_init(value_, &it);
    while (yyjson_val* const key = yyjson_obj_iter_next(&it)) {
      const std::string name(yyjson_get_str(key), yyjson_get_len(key));
      if (!seen.insert(name).second) {
        return Error(ErrorCode::kInvalid, "key \"" + name + "\" is there twice");
      }
      if (Status done = visit(name, With(yyjson_obj_iter_get_val(key))); !done) return done;
    }
    return Ok();
  }
  template <class Visit>
  Status ForEachItem(Visit visit) const {
    yyjson_arr_iter it;
    yyjson_arr_iter_init(value_, &it);
    while (yyjson_val* const item = yyjson_arr_iter_next(&it)) {
      if (Status done = visit(With(item)); !done) return done;
    }
    return Ok();
  }

 private:
  Json With(yyjson_val* value) const {
    Json json = *this;
    json.value_ = value;
    return json;
  }

  std::shared_ptr<yyjson_doc> doc_;  // shared: parts outlive the whole
  yyjson_val* value_ = nullptr;
};

// A string as JSON writes it, with its quotes.
std::string JsonQuote(std::string_view text);

}  // namespace denselet::cri_sim
