// Command lines in tests: words, or a golden table's column with one word a line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/flags/parsed_flags.h"

namespace denselet::app {

inline FlagResult Parse(const std::vector<std::string>& words) {
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  return ParseFlags(args);
}

inline FlagResult ParseLines(const std::string& lines) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    words.push_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return Parse(words);
}

}  // namespace denselet::app
