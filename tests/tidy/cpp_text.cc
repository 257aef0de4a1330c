#include "tests/tidy/cpp_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

std::string BlankCopy(std::string_view source) {
  std::string blank(source);
  for (char& c : blank) {
    if (c != '\n') c = ' ';
  }
  return blank;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsRawStringPrefix(std::string_view word) {
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

class Splitter {
 public:
  explicit Splitter(std::string_view source)
      : source_(source), result_{BlankCopy(source), BlankCopy(source)} {}

  CppText Run() {
    while (at_ < source_.size()) Token();
    return std::move(result_);
  }

 private:
  void Token() {
    const std::string_view rest = source_.substr(at_);
    if (rest.starts_with("//")) {
      LineComment();
    } else if (rest.starts_with("/*")) {
      BlockComment();
    } else if (rest[0] == '"' || rest[0] == '\'') {
      Quoted();
    } else if (IsDigit(rest[0])) {
      Number();
    } else if (IsWordCharacter(rest[0])) {
      Word();
    } else {
      KeepUntil(at_ + 1, result_.code);
    }
  }

  void KeepUntil(size_t end, std::string& half) {
    end = std::min(end, source_.size());
    half.replace(at_, end - at_, source_.substr(at_, end - at_));
    at_ = end;
  }

  void LineComment() {
    size_t end = source_.find('\n', at_);
    while (end != std::string_view::npos && source_[end - 1] == '\\') {
      end = source_.find('\n', end + 1);
    }
    KeepUntil(end, result_.comments);
  }

  void BlockComment() {
    const size_t end = source_.find("*/", at_ + 2);
    KeepUntil(end == std::string_view::npos ? end : end + 2, result_.comments);
  }

  void Quoted() {
    const char quote = source_[at_];
    KeepUntil(at_ + 1, result_.code);
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
      at_ += source_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, source_.size());
    if (at_ < source_.size() && source_[at_] == quote) KeepUntil(at_ + 1, result_.code);
  }

  // The apostrophe of 1'000 opens no character literal.
  void Number() {
    size_t end = at_;
    while (end < source_.size() && (IsWordCharacter(source_[end]) || IsDigitSeparator(end))) ++end;
    KeepUntil(end, result_.code);
  }

  bool IsDigitSeparator(size_t i) const {
    return source_[i] == '\'' && i + 1 < source_.size() && IsWordCharacter(source_[i + 1]);
  }

  void Word() {
    size_t end = at_;
    while (end < source_.size() && IsWordCharacter(source_[end])) ++end;
    const std::string_view word = source_.substr(at_, end - at_);
    KeepUntil(end, result_.code);
    if (end < source_.size() && source_[end] == '"' && IsRawStringPrefix(word)) RawString();
  }

  void RawString() {
    const size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) return Quoted();
    const std::string_view delimiter = source_.substr(at_ + 1, open - at_ - 1);
    const std::string closer = ")" + std::string(delimiter) + "\"";
    KeepUntil(at_ + 1, result_.code);
    const size_t close = source_.find(closer, open + 1);
    at_ = close == std::string_view::npos ? source_.size() : close + closer.size() - 1;
    KeepUntil(at_ + 1, result_.code);
  }

  const std::string_view source_;
  CppText result_;
  size_t at_ = 0;
};

}  // namespace

CppText SplitCppText(std::string_view source) { return Splitter(source).Run(); }

}  // namespace denselet::tidy
