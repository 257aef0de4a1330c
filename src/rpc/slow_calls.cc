#include "rpc/slow_calls.h"

#include <utility>

namespace denselet::rpc {
namespace {

// Of a call that is made for one pod, which pod.
Logger Naming(const Logger& log, const Context& context) {
  if (context.pod == nullptr) return log;
  if (context.pod->ref.name.empty()) return log.WithValues(Uid(context.pod->uid));
  return log.WithValues(Pod(context.pod->ref), Uid(context.pod->uid));
}

}  // namespace

bool SlowCalls::Tell(const Method& method, const Context& context, Duration out, TimePoint now) {
  if (now >= After(minute_, Minutes(1))) {
    minute_ = now;
    lines_ = 0;
    unnamed_told_ = false;
  }
  if (lines_ >= kLinesMax) return false;
  ++lines_;
  Naming(*log_, context)
      .Warning("Call takes long", KV("endpoint", endpoint_), KV("method", method.name),
               KV("for", out));
  return true;
}

void SlowCalls::TellUnnamed(uint64_t calls) {
  if (std::exchange(unnamed_told_, true)) return;
  log_->Warning("Further calls take long", KV("endpoint", endpoint_), KV("calls", calls));
}

void SlowCalls::TellEnd(const Method& method, const Context& context, Duration took,
                        const std::optional<Error>& error) {
  const Logger log = Naming(*log_, context);
  if (error) {
    return log.Warning("Call that took long failed", KV("endpoint", endpoint_),
                       KV("method", method.name), KV("took", took), Err(*error));
  }
  log.Info("Call that took long was answered", KV("endpoint", endpoint_), KV("method", method.name),
           KV("took", took));
}

}  // namespace denselet::rpc
