#include "base/log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace denselet {

struct LogContext {
  std::string name;
  std::vector<LogPair> pairs;
  std::unique_ptr<char[]> text;  // what the pairs' values point to
};

namespace {

const LogPair* Find(const std::vector<LogPair>& pairs, std::string_view key) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const LogPair& pair) { return pair.key == key; });
  return found == pairs.end() ? nullptr : &*found;
}

// As klog places them: an equal pair stays where it is, a changed one moves to the end. Keys are
// constants of the program, each is carried once, and so the bound is one the program respects or
// breaks in its first test.
void Merge(std::vector<LogPair>& pairs, const LogPair& added) {
  const LogPair* known = Find(pairs, added.key);
  if (known != nullptr && known->value == added.value) return;
  std::erase_if(pairs, [&](const LogPair& pair) { return pair.key == added.key; });
  CHECK(pairs.size() < kCarriedPairsMax);
  pairs.push_back(added);
}

// Moves the values of `pairs` from the caller's strings to copies in the context.
std::shared_ptr<const LogContext> Own(std::string name, std::vector<LogPair> pairs) {
  size_t bytes = 0;
  for (const LogPair& pair : pairs) bytes += pair.value.ns().size() + pair.value.text().size();
  auto context = std::make_shared<LogContext>();
  context->text = std::make_unique<char[]>(bytes);
  char* at = context->text.get();
  const auto copy = [&at](std::string_view text) {
    char* const start = std::exchange(at, std::copy(text.begin(), text.end(), at));
    return std::string_view(start, text.size());
  };
  for (LogPair& pair : pairs) {
    const std::string_view ns = copy(pair.value.ns());
    pair.value = pair.value.WithStrings(ns, copy(pair.value.text()));
  }
  context->name = std::move(name);
  context->pairs = std::move(pairs);
  return context;
}

}  // namespace

Logger Logger::Carrying(std::initializer_list<LogPair> pairs) const {
  std::vector<LogPair> carried;
  if (context_ != nullptr) carried = context_->pairs;
  for (const LogPair& pair : pairs) Merge(carried, pair);
  Logger child = *this;
  child.context_ = Own(context_ == nullptr ? std::string() : context_->name, std::move(carried));
  return child;
}

Logger Logger::WithName(LogKey name) const {
  std::string full = context_ == nullptr ? std::string() : context_->name;
  if (full.size() + 1 + name.text().size() > kLoggerNameBytesMax) return *this;
  if (!full.empty()) full += '.';
  full += name.text();
  Logger child = *this;
  child.context_ =
      Own(std::move(full), context_ == nullptr ? std::vector<LogPair>() : context_->pairs);
  return child;
}

void Logger::Write(Severity severity, int32_t verbosity, const LogMessage& message,
                   const denselet::Error* error, std::initializer_list<LogPair> pairs) const {
  LogRecord record;
  record.time = output_->clock.WallNow();
  record.severity = severity;
  record.verbosity = verbosity;
  record.file = message.file();
  record.line = message.line();
  record.message = message.text();
  record.error = error;
  record.pairs = {pairs.begin(), pairs.size()};
  if (context_ != nullptr) {
    record.logger = context_->name;
    record.carried = context_->pairs;
  }
  char buffer[kLineBytesMax];
  output_->sink.Write(FormatLine(output_->format, record, buffer), severity);
}

}  // namespace denselet
