#include "kube/api/codec/list_frames.h"

#include <algorithm>

#include "kube/api/codec/meta_view.h"

namespace denselet::kube {
namespace {

constexpr std::string_view kPrefix("k8s\0", 4);
constexpr uint32_t kEnvelopeRaw = 2;
constexpr uint32_t kListMetadata = 1, kListItems = 2;
constexpr size_t kHeaderBytesMax = 15;  // a tag of five bytes and a length of ten
constexpr uint64_t kBytesType = 2;

// Bytes of the varint at `offset`; 0: it does not end there. More than ten is a fault.
size_t ReadVarint(std::string_view bytes, size_t offset, uint64_t& value) {
  value = 0;
  for (size_t i = 0; offset + i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[offset + i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

}  // namespace

void ListFrames::Feed(std::string_view piece) { piece_ = piece; }

std::string_view ListFrames::Peek(size_t least, size_t most) {
  if (held_.empty()) {
    if (piece_.size() >= least) return piece_.substr(0, most);
    held_ = piece_;
    piece_ = {};
    return {};
  }
  if (held_.size() < least) {
    const size_t missing = std::min(least - held_.size(), piece_.size());
    held_ += piece_.substr(0, missing);
    piece_.remove_prefix(missing);
  }
  return held_.size() < least ? std::string_view() : std::string_view(held_).substr(0, most);
}

void ListFrames::Drop(size_t size) {
  if (level_ == Level::kList) list_left_ -= std::min<uint64_t>(size, list_left_);
  if (held_.empty()) {
    piece_.remove_prefix(size);
  } else {
    dropped_ = size;
  }
}

Error ListFrames::Fail(Error error) {
  error_ = error;
  return error;
}

Result<std::optional<ListFrames::Header>> ListFrames::PeekHeader() {
  // As much as there is, but no more than a header can have: what follows may be large.
  for (size_t wanted = 1; wanted <= kHeaderBytesMax; ++wanted) {
    const std::string_view bytes = Peek(wanted, kHeaderBytesMax);
    if (bytes.empty()) return std::optional<Header>();
    uint64_t tag = 0;
    Header header;
    const size_t tag_size = ReadVarint(bytes, 0, tag);
    const size_t size_size = tag_size == 0 ? 0 : ReadVarint(bytes, tag_size, header.size);
    if (tag_size != 0 && (tag & 7) != kBytesType) {
      return Fail(Error(ErrorCode::kCorrupt, "list: a field has the wrong type"));
    }
    if (size_size == 0) {
      wanted = std::max(wanted, bytes.size());
      continue;
    }
    header.number = static_cast<uint32_t>(tag >> 3);
    header.header_size = tag_size + size_size;
    return std::optional(header);
  }
  return Fail(Error(ErrorCode::kCorrupt, "list: a field has no valid length"));
}

Result<std::optional<std::string_view>> ListFrames::ReadField(const Header& header) {
  if (header.size > item_bytes_max_) {
    return Fail(Error(ErrorCode::kOverloaded, "list: an item has " + std::to_string(header.size) +
                                                  " bytes, more than " +
                                                  std::to_string(item_bytes_max_)));
  }
  const size_t size = header.header_size + header.size;
  if (level_ == Level::kList && size > list_left_) {
    return Fail(Error(ErrorCode::kCorrupt, "list: an item goes beyond the list's end"));
  }
  const std::string_view field = Peek(size, size);
  if (field.empty()) return std::optional<std::string_view>();
  Drop(size);
  return std::optional(field.substr(header.header_size));
}

Result<std::optional<std::string_view>> ListFrames::Next() {
  if (error_) return *error_;
  held_.erase(0, std::exchange(dropped_, 0));
  while (true) {
    if (level_ == Level::kPrefix) {
      const std::string_view prefix = Peek(kPrefix.size(), kPrefix.size());
      if (prefix.empty()) return std::optional<std::string_view>();
      if (prefix != kPrefix) return Fail(Error(ErrorCode::kInvalid, "list: not in protobuf"));
      Drop(prefix.size());
      level_ = Level::kEnvelope;
    } else if (level_ == Level::kList && list_left_ == 0) {
      level_ = Level::kEnvelope;
    } else {
      const Result<std::optional<Header>> header = PeekHeader();
      if (!header) return header.error();
      if (!*header) return std::optional<std::string_view>();
      if (level_ == Level::kEnvelope && (*header)->number == kEnvelopeRaw) {
        Drop((*header)->header_size);
        list_left_ = (*header)->size;
        level_ = Level::kList;
        list_seen_ = true;
      } else {
        const bool in_list = level_ == Level::kList;
        const Result<std::optional<std::string_view>> field = ReadField(**header);
        if (!field) return field.error();
        if (!*field) return std::optional<std::string_view>();
        if (in_list && (*header)->number == kListItems) return field;
        if (in_list && (*header)->number == kListMetadata) {
          if (Status taken = TakeMetadata(**field); !taken) return Fail(taken.error());
        }
      }
    }
    held_.erase(0, std::exchange(dropped_, 0));
  }
}

Status ListFrames::TakeMetadata(std::string_view metadata) {
  const Result<ListMetaView> view = ReadListMeta(metadata);
  if (!view) return view.error();
  resource_version_ = view->resource_version;
  continue_token_ = view->continue_token;
  return Ok();
}

Status ListFrames::Finish() const {
  if (error_) return *error_;
  const bool inside = !list_seen_ || list_left_ > 0 || pending_bytes() > 0;
  if (inside) return Error(ErrorCode::kCorrupt, "list: the answer was cut off");
  return Ok();
}

}  // namespace denselet::kube
