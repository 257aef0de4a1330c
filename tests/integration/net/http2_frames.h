// HTTP/2 frames by hand, for peers that say what no library would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace denselet::net::frames {

enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

enum Flag : uint8_t { kNone = 0, kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8 };

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr size_t kHeadBytes = 9;

inline std::string Number(uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

inline std::string Frame(uint8_t type, int flags, uint32_t stream, std::string_view payload) {
  return Number(payload.size(), 3) + Number(type, 1) + Number(static_cast<uint64_t>(flags), 1) +
         Number(stream, 4) + std::string(payload);
}

inline std::string Settings(std::string_view entries = {}) {
  return Frame(kSettings, kNone, 0, entries);
}
inline std::string Setting(uint16_t id, uint32_t value) { return Number(id, 2) + Number(value, 4); }
inline std::string StreamsMax(uint32_t value) { return Settings(Setting(3, value)); }
inline std::string WindowSize(uint32_t value) { return Settings(Setting(4, value)); }
inline std::string SettingsAck() { return Frame(kSettings, kAck, 0, {}); }
inline std::string Ping() { return Frame(kPing, kNone, 0, "12345678"); }
inline std::string Reset(uint32_t stream, uint32_t error) {
  return Frame(kReset, kNone, stream, Number(error, 4));
}
inline std::string GoAway(uint32_t last_stream, uint32_t error, std::string_view debug_data = {}) {
  return Frame(kGoAway, kNone, 0,
               Number(last_stream, 4) + Number(error, 4) + std::string(debug_data));
}
inline std::string WindowUpdate(uint32_t stream, uint32_t by) {
  return Frame(kWindowUpdate, kNone, stream, Number(by, 4));
}
inline std::string Data(uint32_t stream, std::string_view bytes, int flags = kNone) {
  return Frame(kData, flags, stream, bytes);
}

// A header without the tables, short name and value.
inline std::string Literal(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + Number(name.size(), 1) + std::string(name) +
         Number(value.size(), 1) + std::string(value);
}
inline const std::string kStatus200 = "\x88";
inline std::string Ok200(uint32_t stream, int flags = kNone) {
  return Frame(kHeaders, flags | kEndHeaders, stream, kStatus200);
}

inline uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

// A frame as it came.
struct Seen {
  uint8_t type;
  uint8_t flags;
  uint32_t stream;
  std::string payload;
};

// Takes a whole frame off the front; false when there is none yet.
inline bool TakeFrame(std::string& bytes, Seen& frame) {
  if (bytes.size() < kHeadBytes) return false;
  const std::string_view view = bytes;
  const size_t size = ReadNumber(view.substr(0, 3));
  if (bytes.size() < kHeadBytes + size) return false;
  frame = {static_cast<uint8_t>(view[3]), static_cast<uint8_t>(view[4]),
           ReadNumber(view.substr(5, 4)), std::string(view.substr(kHeadBytes, size))};
  bytes.erase(0, kHeadBytes + size);
  return true;
}

}  // namespace denselet::net::frames
