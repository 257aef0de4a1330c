// However a stream is cut into pieces, its events are the same, and so is where it becomes
// unreadable.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kube/api/codec/watch_frames.h"

namespace denselet::kube {
namespace {

constexpr size_t kFrameBytesMax = 4096;

struct Outcome {
  std::vector<std::pair<WatchEventType, std::string>> events;
  bool failed = false;
  bool ended_inside = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome ReadStream(WatchEncoding encoding, std::string_view stream, size_t piece_size) {
  WatchFrames frames(encoding, kFrameBytesMax);
  Outcome outcome;
  while (!stream.empty()) {
    const std::string piece(stream.substr(0, piece_size));
    stream.remove_prefix(piece.size());
    frames.Feed(piece);
    for (;;) {
      const auto event = frames.Next();
      if (!event) {
        outcome.failed = true;
        return outcome;
      }
      if (!*event) break;
      CHECK(!(*event)->object.empty());
      outcome.events.emplace_back((*event)->type, (*event)->object);
    }
    CHECK(frames.pending_bytes() <= kFrameBytesMax + 4);
  }
  outcome.ended_inside = !frames.Finish();
  return outcome;
}

}  // namespace
}  // namespace denselet::kube

// The first byte says how the stream is encoded and cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::kube;
  if (size == 0) return 0;
  const auto encoding = (data[0] & 1) != 0 ? WatchEncoding::kProtobuf : WatchEncoding::kJson;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = ReadStream(encoding, stream, std::max<size_t>(stream.size(), 1));
  CHECK(whole == ReadStream(encoding, stream, 1 + (data[0] >> 1)));
  CHECK(whole == ReadStream(encoding, stream, 1));
  return 0;
}
