// The bounds of one HTTP/2 connection.
//
// Memory: what a caller holds back of an answer is at most stream_window_bytes for each stream, so
// a connection holds at most streams_max * stream_window_bytes for callers that all hold. Heads
// are bounded by header_list_bytes_max each; output by Stream::kRoomBytes and the largest frame
// (16 KiB); request bodies by what callers give beyond unsent().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace denselet::net {

struct Http2Options {
  // Exchanges at once, however many the server allows. One more is refused with kOverloaded.
  uint32_t streams_max = 256;
  // What is assumed of the server until its SETTINGS have come.
  uint32_t streams_before_settings_max = 100;

  // What the server may send on one stream beyond what its caller has taken.
  uint32_t stream_window_bytes = 256 * 1024;
  // The same for all streams together; given back as bytes arrive, so that a caller that holds its
  // stream does not hold the others.
  uint32_t connection_window_bytes = 16 * 1024 * 1024;
  // Of an answer's head or trailers, counted as SETTINGS_MAX_HEADER_LIST_SIZE counts; more fails
  // the exchange with kOverloaded.
  size_t header_list_bytes_max = 64 * 1024;

  // Until the server's SETTINGS have come.
  Duration settings_timeout = Seconds(15);
  // While exchanges are open: after so long without a byte the server is asked for one ...
  Duration ping_idle = Seconds(30);
  // ... and has so long for it.
  Duration ping_timeout = Seconds(15);
  // A request, or the part of its body at hand, that the server does not let us send (no free
  // stream, no window) for so long fails.
  Duration progress_timeout = Seconds(60);
  // Without any exchange for so long, the connection is closed. Duration::max(): never.
  Duration idle_timeout = Seconds(90);

  // Frames that bring nothing (SETTINGS, PING, RST_STREAM, empty DATA, 1xx, ...): so many at once,
  // and so many a second in the long run. More break the connection.
  uint32_t idle_frames_max = 2000;
  uint32_t idle_frames_per_second_max = 500;
};

}  // namespace denselet::net
