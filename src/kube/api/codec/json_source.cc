#include "kube/api/codec/json_source.h"

#include <algorithm>
#include <cstring>

namespace denselet::kube {
namespace {

constexpr size_t kShownBytesMax = 60;

std::string Shorten(std::string_view text) {
  if (text.size() <= kShownBytesMax) return std::string(text);
  size_t end = kShownBytesMax;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

constexpr std::string_view kBlanks = " \t\r\n";

// These walk over a text that is known to be JSON; where it ends too early, so do they.
size_t SkipBlanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// From behind the opening quote to behind the closing one.
size_t SkipText(std::string_view text, size_t at) {
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

size_t SkipCollection(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '"') {
      at = SkipText(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at;
    }
  }
  return at;
}

// Where the text is deeper than JsonSource::kDepthMax; npos: nowhere.
size_t FindTooDeep(std::string_view text) {
  if (text.size() < 2 * JsonSource::kDepthMax) return text.npos;  // as nearly all are
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c == '"') {
      at = SkipText(text, at);
    } else if (c == '{' || c == '[') {
      if (++depth > JsonSource::kDepthMax) return at - 1;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return text.npos;
}

size_t SkipValue(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return SkipText(text, at + 1);
  if (text[at] == '{' || text[at] == '[') return SkipCollection(text, at);
  return std::min(text.find_first_of(",]} \t\r\n", at), text.size());
}

}  // namespace

JsonSource::JsonSource(std::string_view text, const JsonText* origin)
    : text_(text),
      origin_(origin),
      buffer_(std::make_unique_for_overwrite<char[]>(text.size() + YYJSON_PADDING_SIZE)) {
  std::memcpy(buffer_.get(), text.data(), text.size());
  std::memset(buffer_.get() + text.size(), 0, YYJSON_PADDING_SIZE);
  yyjson_read_err error{};
  doc_.reset(yyjson_read_opts(buffer_.get(), text.size(),
                              YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW, nullptr, &error));
  root_ = doc_ == nullptr ? nullptr : yyjson_doc_get_root(doc_.get());
  if (root_ == nullptr) {
    const char* why = error.msg == nullptr ? "not JSON" : error.msg;
    fault_ = {.path = {}, .line = LineAt(error.pos), .message = std::string("not JSON: ") + why};
  } else if (const size_t deep = FindTooDeep(text_); deep != text_.npos) {
    root_ = nullptr;
    fault_ = {.path = {},
              .line = LineAt(deep),
              .message = "nested deeper than " + std::to_string(kDepthMax) + " levels"};
  }
}

uint32_t JsonSource::LineOf(const char* place) const {
  if (place == nullptr) return 0;
  return LineAt(static_cast<size_t>(place - buffer_.get()));
}

size_t JsonSource::ValueBehind(yyjson_val* key) const {
  const size_t colon = SkipBlanks(text_, SkipText(text_, OffsetOf(unsafe_yyjson_get_str(key))));
  return SkipBlanks(text_, colon + 1);
}

std::string_view JsonSource::TextBehind(yyjson_val* key) const {
  const size_t begin = ValueBehind(key);
  return text_.substr(begin, SkipValue(text_, begin) - begin);
}

size_t JsonSource::Elements::Next() {
  const bool first = at_ < text_.size() && !begun_;
  begun_ = true;
  if (!first) at_ = SkipBlanks(text_, SkipValue(text_, at_));  // to the comma
  at_ = SkipBlanks(text_, at_ + 1);
  return at_;
}

uint32_t JsonSource::LineAt(size_t offset) const {
  if (origin_ != nullptr) return origin_->LineAt(offset);
  if (line_ends_.empty()) {
    for (size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1)) {
      line_ends_.push_back(at);
    }
    line_ends_.push_back(text_.size());
  }
  const auto line = std::ranges::lower_bound(line_ends_, std::min(offset, text_.size()));
  return 1 + static_cast<uint32_t>(line - line_ends_.begin());
}

std::string Describe(yyjson_val* value) {
  if (yyjson_is_str(value)) return "text \"" + Shorten(TextOf(value)) + "\"";
  if (yyjson_is_raw(value)) return "number " + Shorten(NumberOf(value));
  if (yyjson_is_bool(value)) return yyjson_get_bool(value) ? "true" : "false";
  if (yyjson_is_arr(value)) return "a list";
  if (yyjson_is_obj(value)) return "an object";
  return "null";
}

}  // namespace denselet::kube
