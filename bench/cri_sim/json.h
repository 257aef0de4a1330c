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
    auto document = std::make_shared<Document>();
    document->text.reserve(text.size() + YYJSON_PADDING_SIZE);
    document->text = text;
    document->text.append(YYJSON_PADDING_SIZE, '\0');
    // In place, so that texts and keys tell where they stood.
    document->doc.reset(
        yyjson_read_opts(document->text.data(), text.size(), YYJSON_READ_INSITU, nullptr, nullptr));
    if (document->doc == nullptr) return Error(ErrorCode::kInvalid, "not JSON");
    Json json;
    json.value_ = yyjson_doc_get_root(document->doc.get());
    json.document_ = std::move(document);
    return json;
  }

  // Where in the text the walk over members and items stopped with an error: at the innermost key
  // or item that it concerns. Nothing: there was none.
  std::optional<size_t> fault_offset() const {
    if (document_->fault == nullptr) return std::nullopt;
    return static_cast<size_t>(document_->fault - document_->text.data());
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
      const Status done =
          seen.insert(name).second
              ? visit(name, With(yyjson_obj_iter_get_val(key)))
              : Status(Error(ErrorCode::kInvalid, "key \"" + name + "\" is there twice"));
      if (!done) return FaultAt(yyjson_get_str(key), done);
    }
    return Ok();
  }
  template <class Visit>
  Status ForEachItem(Visit visit) const {
    yyjson_arr_iter it;
    yyjson_arr_iter_init(value_, &it);
    while (yyjson_val* const item = yyjson_arr_iter_next(&it)) {
      if (Status done = visit(With(item)); !done) return FaultAt(PlaceOf(item), done);
    }
    return Ok();
  }

 private:
  struct Free {
    void operator()(yyjson_doc* doc) const { yyjson_doc_free(doc); }
  };
  struct Document {
    std::string text;  // the parser writes into it
    std::unique_ptr<yyjson_doc, Free> doc;
    const char* fault = nullptr;
  };

  // The innermost is told first and stays.
  Status FaultAt(const char* place, Status fault) const {
    if (document_->fault == nullptr) document_->fault = place;
    return fault;
  }
  // Of an item, which has no key: its own, or its first member's. Null: it does not tell.
  static const char* PlaceOf(yyjson_val* item) {
    if (yyjson_is_str(item)) return yyjson_get_str(item);
    yyjson_obj_iter it;
    yyjson_obj_iter_init(item, &it);
    return yyjson_get_str(yyjson_obj_iter_next(&it));
  }

  Json With(yyjson_val* value) const {
    Json json = *this;
    json.value_ = value;
    return json;
  }

  std::shared_ptr<Document> document_;  // shared: parts outlive the whole
  yyjson_val* value_ = nullptr;
};

// A string as JSON writes it, with its quotes.
std::string JsonQuote(std::string_view text);

}  // namespace denselet::cri_sim
