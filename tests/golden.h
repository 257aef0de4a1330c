// Tables of what a Go program printed (third_party/peers): rows of columns between tabs, texts
// quoted as Go quotes them; lines that begin with # are comments.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/source_dir.h"

namespace denselet::tests {

inline void AppendUtf8(std::string& out, uint32_t rune) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (rune < 0x80) return put(rune);
  if (rune < 0x800) return put(0xc0 | rune >> 6), put(0x80 | (rune & 63));
  if (rune < 0x10000) {
    return put(0xe0 | rune >> 12), put(0x80 | (rune >> 6 & 63)), put(0x80 | (rune & 63));
  }
  put(0xf0 | rune >> 18);
  put(0x80 | (rune >> 12 & 63));
  put(0x80 | (rune >> 6 & 63));
  put(0x80 | (rune & 63));
}

// The text in Go's quotes, as strconv.QuoteToASCII writes them; anything else is returned as it is.
inline std::string Unquoted(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"') return std::string(quoted);
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string out;
  const auto hex = [&](size_t& at, size_t digits) {
    const std::string number(quoted.substr(at + 1, digits));
    at += digits;
    return static_cast<uint32_t>(std::strtoul(number.c_str(), nullptr, 16));
  };
  constexpr std::string_view kNames = "abfnrtv\\\"";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\\"";
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    const char name = quoted[++i];
    if (name == 'x') {
      out += static_cast<char>(hex(i, 2));
    } else if (name == 'u' || name == 'U') {
      AppendUtf8(out, hex(i, name == 'u' ? 4 : 8));
    } else {
      out += kMeant.at(kNames.find(name));
    }
  }
  return out;
}

using GoldenRow = std::vector<std::string>;

// `path` from the top of the sources. Never empty: a table that cannot be read is a failure.
inline std::vector<GoldenRow> ReadGolden(std::string_view path) {
  std::vector<GoldenRow> rows;
  std::ifstream file(SourcePath(path));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    GoldenRow& row = rows.emplace_back();
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find('\t', begin), line.size());
      row.push_back(Unquoted(std::string_view(line).substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  EXPECT_FALSE(rows.empty()) << path;
  return rows;
}

}  // namespace denselet::tests
