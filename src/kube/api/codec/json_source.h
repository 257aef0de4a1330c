// A parsed JSON text that still knows where things stood. Numbers are kept as they were written.
// For .cc files: it brings yyjson's header.
#pragma once

#include <yyjson.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/codec/yaml.h"
#include "kube/api/fault.h"

namespace denselet::kube {

class JsonSource {
 public:
  // As many as Go's decoder bears. Deeper texts are no JSON to us, also where nobody looks.
  static constexpr size_t kDepthMax = 10'000;

  // `text` is read for lines and must outlive this; `marks` too, if the JSON was made from another
  // text.
  explicit JsonSource(std::string_view text, const JsonText* origin = nullptr);

  size_t size() const { return text_.size(); }
  // Null: `fault()` says why.
  yyjson_val* root() const { return root_; }
  const Fault& fault() const { return fault_; }

  // Whether the JSON was made from another text.
  bool was_made() const { return origin_ != nullptr; }

  // Of a place within a key or a value, as yyjson points to it; 0 when it is null.
  uint32_t LineOf(const char* place) const;

  // Places in the text, as offsets. Objects, lists, truth values and null do not tell theirs
  // themselves: they are looked for from the key of the member in which they lie.
  uint32_t LineAt(size_t offset) const;
  size_t OffsetOf(const char* place) const { return static_cast<size_t>(place - buffer_.get()); }
  // Where the value of the member begins that has this key.
  size_t ValueBehind(yyjson_val* key) const;
  // That value as it was written.
  std::string_view TextBehind(yyjson_val* key) const;
  // Walks over the elements of a list.
  class Elements {
   public:
    // `list` is where it begins.
    Elements(const JsonSource& source, size_t list) : text_(source.text_), at_(list) {}
    // Where the next one begins; behind the last one: anywhere.
    size_t Next();

   private:
    std::string_view text_;
    size_t at_;  // the bracket, or the element that was told last
    bool begun_ = false;
  };

 private:
  struct Free {
    void operator()(yyjson_doc* doc) const { yyjson_doc_free(doc); }
  };

  std::string_view text_;
  const JsonText* origin_;
  std::unique_ptr<char[]> buffer_;  // the parser writes into it
  std::unique_ptr<yyjson_doc, Free> doc_;
  yyjson_val* root_ = nullptr;
  Fault fault_;
  mutable std::vector<size_t> line_ends_;  // of text_, made when first asked for
};

// Where a value stands, if the value itself tells: texts and numbers do.
inline const char* PlaceOf(yyjson_val* value) {
  if (yyjson_is_str(value)) return yyjson_get_str(value);
  if (yyjson_is_raw(value)) return yyjson_get_raw(value);
  return nullptr;
}

inline std::string_view TextOf(yyjson_val* value) {
  return {yyjson_get_str(value), yyjson_get_len(value)};
}
inline std::string_view NumberOf(yyjson_val* value) {
  return {yyjson_get_raw(value), yyjson_get_len(value)};
}

// Of a member; its key is always text.
inline std::string_view KeyOf(yyjson_val* key) {
  return {unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key)};
}

// For messages: `text "abc"`, `number 5`, `a list`; long ones are cut.
std::string Describe(yyjson_val* value);

}  // namespace denselet::kube
