// Logging, as the kubelet logs:
//
//   log.Info("Started container", Pod(ref), Uid(uid), Container(id));
//   log.V(4).Info("Computed next step", KV("stage", StageName(stage)));
//   log.Error(err, "Could not start container", Pod(ref));
//
// A line is formatted at once, on the stack of its thread, and handed to the sink of that thread;
// nothing here waits, takes a lock or throws. A line that the verbosity suppresses costs one load
// and a few stores.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/log_format.h"
#include "base/log_level.h"
#include "base/log_value.h"

namespace denselet {

namespace internal {
// Never defined: a call in a constant expression is a compile error that names the rule.
void LogMessageMustStartWithACapitalAndEndWithoutFullStop();
}  // namespace internal

// A constant, and the place it is written at. What varies belongs in pairs, so that messages can be
// counted and searched for.
class LogMessage {
 public:
  consteval LogMessage(const char* text,  // implicit: callers write a literal
                       std::source_location where = std::source_location::current())
      : text_(text), file_(PathFromSrc(where.file_name())), line_(where.line()) {
    const bool lower = text_.empty() || (text_[0] >= 'a' && text_[0] <= 'z');
    if (lower || text_.back() == '.') {
      internal::LogMessageMustStartWithACapitalAndEndWithoutFullStop();
    }
  }

  constexpr std::string_view text() const { return text_; }
  constexpr std::string_view file() const { return file_; }
  constexpr uint32_t line() const { return line_; }

 private:
  std::string_view text_;
  std::string_view file_;
  uint32_t line_;
};

// Where the lines of one thread go. Must not block and must not throw; when it has no room it drops
// the line and counts it.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // `line` ends with '\n' and is borrowed for the call.
  virtual void Write(std::string_view line, Severity severity) noexcept = 0;
};

// What all loggers of one thread share. Owned by that thread's shard (or by main), and outlives
// them; `format` may be changed on that thread, when the time zone's offset changes.
struct LogOutput {
  LogFormat format;
  const Clock& clock;
  const LogVerbosity& verbosity;
  LogSink& sink;
};

struct LogContext;  // name and pairs that a child logger carries

inline constexpr size_t kLoggerNameBytesMax = 128;

// What a log call takes behind its message.
template <class... Pairs>
concept LogPairs = (std::same_as<Pairs, LogPair> && ...) && sizeof...(Pairs) <= kPairsMax;

// A small value, given to constructors and copied freely within its thread. Level 0 is always on.
class Logger {
 public:
  explicit Logger(const LogOutput& output) : output_(&output) {}

  // A child whose lines carry these pairs too; it owns copies of their strings. A key that is
  // carried already gets the new value.
  template <class... Pairs>
  requires LogPairs<Pairs...>
  [[nodiscard]] Logger WithValues(const Pairs&... pairs) const { return Carrying({pairs...}); }
  // A child called "parent.name", in the key `logger`. A part that would make the name longer than
  // kLoggerNameBytesMax is left off.
  [[nodiscard]] Logger WithName(LogKey name) const;

  template <class... Pairs>
  requires LogPairs<Pairs...>
  void Info(const LogMessage& message, const Pairs&... pairs) const {
    Write(Severity::kInfo, 0, message, nullptr, {pairs...});
  }
  template <class... Pairs>
  requires LogPairs<Pairs...>
  void Warning(const LogMessage& message, const Pairs&... pairs) const {
    Write(Severity::kWarning, 0, message, nullptr, {pairs...});
  }
  template <class... Pairs>
  requires LogPairs<Pairs...>
  void Error(const denselet::Error& error, const LogMessage& message, const Pairs&... pairs) const {
    Write(Severity::kError, 0, message, &error, {pairs...});
  }
  // Something went wrong and no Error says what.
  template <class... Pairs>
  requires LogPairs<Pairs...>
  void Error(const LogMessage& message, const Pairs&... pairs) const {
    Write(Severity::kError, 0, message, nullptr, {pairs...});
  }

  // The lines behind a level of -v or --vmodule. Made for one statement: log.V(4).Info(...).
  class Leveled {
   public:
    template <class... Pairs>
    requires LogPairs<Pairs...>
    void Info(const LogMessage& message, const Pairs&... pairs) const {
      if (!logger_.output_->verbosity.Enabled(level_, message.file())) return;
      logger_.Write(Severity::kInfo, level_, message, nullptr, {pairs...});
    }
    // For values that cost something to make.
    bool Enabled(std::source_location here = std::source_location::current()) const {
      return logger_.output_->verbosity.Enabled(level_, here.file_name());
    }

   private:
    friend class Logger;
    Leveled(const Logger& logger, int32_t level) : logger_(logger), level_(level) {}
    const Logger& logger_;
    int32_t level_;
  };
  Leveled V(int32_t level) const { return Leveled(*this, level); }

 private:
  void Write(Severity severity, int32_t verbosity, const LogMessage& message,
             const denselet::Error* error, std::initializer_list<LogPair> pairs) const;
  Logger Carrying(std::initializer_list<LogPair> pairs) const;

  const LogOutput* output_;
  // Shared: children and copies live on in any order, and what they carry never changes.
  std::shared_ptr<const LogContext> context_;
};

}  // namespace denselet
