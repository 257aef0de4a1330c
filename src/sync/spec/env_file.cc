#include "sync/spec/env_file.h"

#include <optional>

namespace denselet::sync {
namespace {

constexpr size_t kLineMax = 64 * 1024;  // as upstream's reader of lines

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> Next() {
    if (rest_.empty() || too_long_) return std::nullopt;
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.size() >= kLineMax) {
      too_long_ = true;
      return std::nullopt;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return line;
  }
  size_t number() const { return number_; }
  bool too_long() const { return too_long_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
  bool too_long_ = false;
};

std::string_view WithoutLeading(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

Error Bad(const Lines& lines, const std::string& why) {
  return Error(ErrorCode::kInvalid, "invalid environment variable format at line " +
                                        std::to_string(lines.number()) + ": " + why);
}

// From behind the opening quote to the closing one, over as many lines as it takes.
Result<std::string> QuotedValue(Lines& lines, std::string_view rest) {
  std::string value;
  for (;;) {
    const size_t close = rest.find('\'');
    if (close != std::string_view::npos) {
      value += rest.substr(0, close);
      const std::string_view behind = WithoutLeading(rest.substr(close + 1));
      if (!behind.empty() && behind.front() != '#') {
        return Bad(lines, "unexpected content after closing quote");
      }
      return value;
    }
    value += rest;
    value += '\n';
    const std::optional<std::string_view> next = lines.Next();
    if (!next) return Bad(lines, "unclosed single quote");
    rest = *next;
  }
}

}  // namespace

Result<std::string> ValueInEnvFile(std::string_view text, std::string_view name) {
  Lines lines(text);
  while (const std::optional<std::string_view> next = lines.Next()) {
    const std::string_view line = WithoutLeading(*next);
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return Bad(lines, "missing '='");
    const std::string_view own = line.substr(0, equals);
    if (own.find_first_not_of(" \t") == std::string_view::npos) {
      return Bad(lines, "empty variable name");
    }
    if (own.ends_with(' ') || own.ends_with('\t')) {
      return Bad(lines, "whitespace before '=' is not allowed");
    }
    const std::string_view value = line.substr(equals + 1);
    if (value.starts_with(' ') || value.starts_with('\t')) {
      // To a shell the name is empty, and what follows is a command.
      if (own == name) return std::string();
      continue;
    }
    if (!value.starts_with('\'')) return Bad(lines, "value must be enclosed in single quotes");
    Result<std::string> quoted = QuotedValue(lines, value.substr(1));
    if (!quoted || own == name) return quoted;
  }
  if (lines.too_long()) return Bad(lines, "a line is too long");
  return std::string();
}

}  // namespace denselet::sync
