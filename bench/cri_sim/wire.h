// Protobuf's wire format, written by hand where answers are large: a list of twenty thousand
// containers is made without twenty thousand messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace denselet::cri_sim {

inline void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Strings, bytes and messages; an empty one too, for messages and elements of lists.
inline void AppendBytes(std::string& out, int field, std::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | 2);
  AppendVarint(out, bytes.size());
  out += bytes;
}

// A string that is left out when it is empty, as proto3 does.
inline void AppendText(std::string& out, int field, std::string_view text) {
  if (!text.empty()) AppendBytes(out, field, text);
}

inline void AppendNumber(std::string& out, int field, int64_t value) {
  if (value == 0) return;
  AppendVarint(out, static_cast<uint64_t>(field) << 3);
  AppendVarint(out, static_cast<uint64_t>(value));
}

}  // namespace denselet::cri_sim
