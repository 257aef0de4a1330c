#include "managers/hooks/hook_runner.h"

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "managers/hooks/hook_request.h"

namespace denselet::managers {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What a command that failed is told with, and what it wrote.
Error ExecFailure(ErrorCode code, std::string error, std::string_view output) {
  return Error(code, std::move(error) +
                         ", message: " + GoQuoted(output.substr(0, HookRunner::kOutputBytesMax)));
}

reactor::Done<sync::HookOutcome> InWords(std::string title, reactor::Done<sync::HookOutcome> done) {
  return [title = std::move(title),
          done = std::move(done)](Result<sync::HookOutcome> outcome) mutable {
    if (!outcome) return done(outcome.error().With(title));
    done(std::move(outcome));
  };
}

}  // namespace

HookRunner::HookRunner(reactor::Loop& loop, sync::Runtime& runtime, HookLookup lookup)
    : loop_(loop), runtime_(runtime), lookup_(std::move(lookup)), sleeps_(kSleepsMax) {}

HookRunner::~HookRunner() {
  sleeps_.ForEach([this](SlotKey, Sleep& sleep) { loop_.Disarm(sleep.timer); });
}

void HookRunner::Run(const Context& context, sync::HookKind kind, const kube::PodRef& pod,
                     const std::string& container, const ContainerId& id,
                     const std::vector<std::string>& pod_ips,
                     reactor::Done<sync::HookOutcome> done) {
  const Result<std::unique_ptr<kube::core::Pod>> parsed = pod->Parse();
  if (!parsed) return AnswerSoon(std::move(done), parsed.error());
  done = InWords(HookFailureTitle(**parsed, container, kind), std::move(done));
  Result<HookHandler> handler = HandlerOf(**parsed, container, kind, pod_ips);
  if (!handler) return AnswerSoon(std::move(done), handler.error());
  HookHandler found = *std::move(handler);
  if (const auto* exec = std::get_if<ExecHook>(&found)) {
    return Exec(context, id, *exec, std::move(done));
  }
  if (auto* http = std::get_if<HttpHook>(&found)) {
    return Ask(context, std::move(*http), std::move(done));
  }
  Pause(context, std::get<SleepHook>(found), std::move(done));
}

void HookRunner::Exec(const Context& context, const ContainerId& container, const ExecHook& hook,
                      reactor::Done<sync::HookOutcome> done) {
  runtime_.Exec(context, container, hook.command, Duration::zero(),
                [command = Joined(hook.command),
                 done = std::move(done)](const Result<sync::ExecResult>& result) mutable {
                  if (!result) {
                    return done(ExecFailure(result.error().code(), result.error().message(), ""));
                  }
                  if (result->exit_code == 0) return done(sync::HookOutcome{});
                  const std::string_view output = result->output;
                  std::string error = "command '" + command + "' exited with " +
                                      std::to_string(result->exit_code) + ": ";
                  error += output.substr(result->errors_from).substr(0, kOutputBytesMax);
                  done(ExecFailure(ErrorCode::kConflict, std::move(error), output));
                });
}

void HookRunner::Ask(const Context& context, HttpHook hook, reactor::Done<sync::HookOutcome> done) {
  std::shared_ptr<net::TlsClient> tls;
  if (hook.secure) {
    Result<std::shared_ptr<net::TlsClient>> made = Tls();
    if (!made) return AnswerSoon(std::move(done), made.error());
    tls = *std::move(made);
  }
  const std::string host = hook.host;
  const uint16_t port = hook.port;
  auto ask = [&loop = loop_, context, tls, hook = std::move(hook),
              done = std::move(done)](Result<std::vector<net::Address>> addresses) mutable {
    if (!addresses) return done(addresses.error());
    if (addresses->empty()) return done(Error(ErrorCode::kNotFound, "the host has no address"));
    AskHook(loop, context, addresses->front(), std::move(tls), std::move(hook), std::move(done));
  };
  if (Result<net::Address> address = net::Address::Ip(host, port)) {
    loop_.Post([ask = std::move(ask), address = *std::move(address)]() mutable {
      ask(std::vector<net::Address>{std::move(address)});
    });
    return;
  }
  lookup_(context, host, port, std::move(ask));
}

void HookRunner::Pause(const Context& context, const SleepHook& hook,
                       reactor::Done<sync::HookOutcome> done) {
  if (context.cancel.cancelled()) {
    return AnswerSoon(std::move(done), Error(ErrorCode::kCancelled, "the hook is not wanted"));
  }
  Sleep sleep;
  sleep.done = std::move(done);
  const std::optional<SlotKey> key = sleeps_.Insert(std::move(sleep));
  if (!key) {
    return AnswerSoon(std::move(sleep.done), Error(ErrorCode::kOverloaded, "too many hooks sleep"));
  }
  const TimePoint end = After(loop_.Now(), hook.time);
  const bool is_cut = context.deadline < end;
  Sleep& kept = *sleeps_.Find(*key);
  kept.timer = loop_.Arm(is_cut ? context.deadline : end, [this, key = *key, is_cut] {
    EndPause(key, is_cut ? Status(Error(ErrorCode::kDeadlineExceeded,
                                        "container terminated before sleep hook finished"))
                         : Ok());
  });
  // Answers come in a later turn, so the timer does it; it goes with us.
  kept.cancelled = context.cancel.OnCancel([this, key = *key] {
    Sleep* sleeping = sleeps_.Find(key);
    if (sleeping == nullptr) return;
    loop_.Disarm(sleeping->timer);
    sleeping->timer = loop_.Arm(loop_.Now(), [this, key] {
      EndPause(key,
               Error(ErrorCode::kCancelled, "container terminated before sleep hook finished"));
    });
  });
}

void HookRunner::EndPause(SlotKey key, const Status& status) {
  std::optional<Sleep> sleep = sleeps_.Remove(key);
  if (!sleep) return;
  loop_.Disarm(sleep->timer);
  sleep->cancelled.Forget();
  if (!status) return sleep->done(status.error());
  sleep->done(sync::HookOutcome{});
}

void HookRunner::AnswerSoon(reactor::Done<sync::HookOutcome> done, Error error) {
  loop_.Post([done = std::move(done), error = std::move(error)]() mutable { done(error); });
}

Result<std::shared_ptr<net::TlsClient>> HookRunner::Tls() {
  if (tls_ == nullptr) {
    net::TlsClientOptions options;
    options.protocols = {"http/1.1"};
    options.verification = net::TlsVerification::kNone;
    Result<net::TlsClient> made = net::TlsClient::Make(options);
    if (!made) return made.error();
    tls_ = std::make_shared<net::TlsClient>(*std::move(made));
  }
  return tls_;
}

}  // namespace denselet::managers
