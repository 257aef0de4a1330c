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
  }
}

uint32_t JsonSource::LineOf(const char* place) const {
  if (place == nullptr) return 0;
  return LineAt(static_cast<size_t>(place - buffer_.get()));
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
