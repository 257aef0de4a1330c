// Keeps the lines of a logger, for tests that look at them. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace denselet {

class CapturingLogSink final : public LogSink {
 public:
  struct Line {
    std::string text;  // with its '\n'
    Severity severity;
  };

  void Write(std::string_view line, Severity severity) noexcept override {
    lines_.push_back({std::string(line), severity});
  }

  const std::vector<Line>& lines() const { return lines_; }

  // Everything since the last call, as it would be on the terminal.
  std::string Take() {
    std::string all;
    for (const Line& line : lines_) all += line.text;
    lines_.clear();
    return all;
  }

 private:
  std::vector<Line> lines_;
};

}  // namespace denselet
