// The answer to a list request in protobuf, cut into its items as it arrives: a list of ten
// thousand pods is never in memory as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::kube {

// Of one item: as much as a watch event may have.
inline constexpr size_t kListItemBytesMax = 16 << 20;

// Owned by the request that lists, on its shard. Used like WatchFrames: Feed a piece, take items
// with Next until there is none. What is wrong inside an item is for its decoder to find.
class ListFrames {
 public:
  explicit ListFrames(size_t item_bytes_max = kListItemBytesMax)
      : item_bytes_max_(item_bytes_max) {}

  // The next piece of the answer; it must live until Next has found no further item.
  void Feed(std::string_view piece);

  // An item's bytes, valid until the next call and as long as its piece. Nothing: more of the
  // answer is needed. After an error, the same error again.
  Result<std::optional<std::string_view>> Next();

  // The answer has ended; an error when it ended inside something.
  Status Finish() const;

  // Complete after Finish: the list's metadata may follow its items.
  const std::string& resource_version() const { return resource_version_; }
  const std::string& continue_token() const { return continue_token_; }

  // What is kept of an item that has not come whole.
  size_t pending_bytes() const { return held_.size() - dropped_; }

 private:
  // Where in the answer the next byte belongs.
  enum class Level : uint8_t { kPrefix, kEnvelope, kList };
  struct Header {
    uint32_t number = 0;
    uint64_t size = 0;       // of the field's bytes
    size_t header_size = 0;  // of tag and length
  };

  // The next bytes, one after the other in memory: at least `least` or nothing, at most `most`.
  std::string_view Peek(size_t least, size_t most);
  void Drop(size_t size);
  // Nothing: it has not come whole.
  Result<std::optional<Header>> PeekHeader();
  Result<std::optional<std::string_view>> ReadField(const Header& header);
  Status TakeMetadata(std::string_view metadata);
  Error Fail(Error error);

  const size_t item_bytes_max_;
  Level level_ = Level::kPrefix;
  bool list_seen_ = false;
  uint64_t list_left_ = 0;  // bytes of the list that are still to come
  std::string_view piece_;
  std::string held_;    // the beginning of a field that earlier pieces brought
  size_t dropped_ = 0;  // of held_: taken already, but its view may be in use
  std::string resource_version_, continue_token_;
  std::optional<Error> error_;
};

}  // namespace denselet::kube
