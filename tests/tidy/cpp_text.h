#pragma once

#include <string>
#include <string_view>

namespace denselet::tidy {

// A C++ source taken apart. Both halves have the length and the line breaks of the source, blanks
// where the other half has text, so an offset or a line number means the same in all three.
struct CppText {
  std::string code;      // without comments and without what stands between the quotes of literals
  std::string comments;  // with their openers
};

// A lexer's first phase, not a parser: knows comments, escapes, raw strings, digit separators and
// continued lines. A literal that nobody closed ends with its line, as the apostrophe of an
// `#error` text does.
CppText SplitCppText(std::string_view source);

}  // namespace denselet::tidy
