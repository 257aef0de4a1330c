#include "tests/tidy/cpp_tokens.h"

#include <cstddef>

#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

size_t TokenLength(std::string_view rest) {
  size_t length = 0;
  while (length < rest.size() && IsWordCharacter(rest[length])) ++length;
  if (length > 0) return length;
  return rest.starts_with("::") || rest.starts_with("->") ? 2 : 1;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::vector<CppToken> TokenizeCpp(std::string_view code) {
  std::vector<CppToken> tokens;
  int line = 1;
  for (size_t at = 0; at < code.size();) {
    if (code[at] == '\n') ++line;
    if (IsBlank(code[at])) {
      ++at;
      continue;
    }
    const std::string_view token = code.substr(at, TokenLength(code.substr(at)));
    tokens.push_back({token, line});
    at += token.size();
  }
  return tokens;
}

}  // namespace denselet::tidy
