// A watch of the API server is one endless response; this cuts it into its events, however the
// network cut it into pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet::kube {

enum class WatchEventType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

std::string_view WatchEventTypeName(WatchEventType type);

struct WatchEvent {
  WatchEventType type;
  // A JSON document, or an envelope. Valid until the next call of WatchFrames, and as long as the
  // piece it came in.
  std::string_view object;
};

// Json: documents one after the other. Protobuf: a length of four bytes, most significant first,
// and a metav1.WatchEvent.
enum class WatchEncoding : uint8_t { kJson, kProtobuf };

// As the clients of upstream have it.
inline constexpr size_t kWatchFrameBytesMax = 16 << 20;

// Owned by the request that watches, on its shard. After each Feed the events are taken until there
// is none:
//
//   frames.Feed(piece);
//   for (;;) {
//     auto event = frames.Next();
//     if (!event) return Stop(event.error());  // this stream cannot be read on
//     if (!*event) break;
//     Apply(**event);
//   }
//
// An event that lies whole inside one piece is not copied. An object is not looked into: what is
// wrong inside it is for its decoder to find.
class WatchFrames {
 public:
  explicit WatchFrames(WatchEncoding encoding, size_t frame_bytes_max = kWatchFrameBytesMax)
      : encoding_(encoding), frame_bytes_max_(frame_bytes_max) {}

  // The next piece of the stream; it must live until Next has found no further event.
  void Feed(std::string_view piece);

  // Nothing: more of the stream is needed. After an error, the same error again.
  Result<std::optional<WatchEvent>> Next();

  // The stream has ended; an error when it ended inside an event.
  Status Finish() const;

  // What is kept of an event that has not come whole.
  size_t pending_bytes() const { return frame_taken_ ? 0 : held_.size(); }

 private:
  // How far the JSON document at the front of the stream has been read. Offsets count from its
  // start.
  struct JsonScan {
    struct Range {
      size_t begin, end;
    };
    size_t depth = 0;
    bool in_text = false;
    bool escaped = false;
    size_t member_begin = 0;
    std::vector<Range> members;  // objects and lists that are members of the document itself
  };

  // How much of piece_ belongs to the frame at the front of the stream, if that ends there.
  Result<std::optional<size_t>> FindEnd();
  Result<std::optional<size_t>> FindProtobufEnd() const;
  Result<std::optional<size_t>> FindJsonEnd();
  // Keeps what has come of a frame for the pieces to come.
  void Hold();
  std::string_view TakeFrame(size_t end);
  void DropTaken();
  Error Fail(Error error);
  Result<WatchEvent> ReadEvent(std::string_view frame);
  static Result<WatchEvent> ReadJsonEvent(std::string_view frame, const JsonScan& scan);

  const WatchEncoding encoding_;
  const size_t frame_bytes_max_;
  std::string_view piece_;    // what is left of it
  std::string held_;          // the beginning of a frame that earlier pieces brought
  bool frame_taken_ = false;  // held_ is what the last event lies in
  JsonScan scan_;
  std::optional<Error> error_;
};

}  // namespace denselet::kube
