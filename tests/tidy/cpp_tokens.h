#pragma once

#include <string_view>
#include <vector>

namespace denselet::tidy {

struct CppToken {
  std::string_view text;  // an identifier or number, "::", "->", or one other character
  int line;
};

// Tokens of CppText::code (comments and literals are gone). Views into the argument.
std::vector<CppToken> TokenizeCpp(std::string_view code);

}  // namespace denselet::tidy
