#include "managers/hooks/hook_runner.h"

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "kube/api/types.h"
#include "reactor/net/connect.h"
#include "reactor/net/http1/fetch.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::managers {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Any answer will do; what the server said beyond its first line is not read to the end.
void OnAnswer(const Result<net::HttpResponse>& answer, reactor::Done<Unit>& done) {
  if (!answer) return done(answer.error());
  done(Ok());
}

}  // namespace

HookRunner::HookRunner(reactor::Loop& loop, sync::Runtime& runtime, HookLookup lookup)
    : loop_(loop), runtime_(runtime), lookup_(std::move(lookup)), sleeps_(kSleepsMax) {}

HookRunner::~HookRunner() {
  sleeps_.ForEach([this](SlotKey, Sleep& sleep) { loop_.Disarm(sleep.timer); });
}

void HookRunner::Run(const Context& context, sync::HookKind kind, const kube::PodRef& pod,
                     const std::string& container, const ContainerId& id,
                     const std::vector<std::string>& pod_ips, reactor::Done<Unit> done) {
  const Result<std::unique_ptr<kube::core::Pod>> parsed = pod->Parse();
  if (!parsed) return AnswerSoon(std::move(done), parsed.error());
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
                      reactor::Done<Unit> done) {
  runtime_.Exec(context, container, hook.command, Duration::zero(),
                [command = Joined(hook.command),
                 done = std::move(done)](Result<sync::ExecResult> result) mutable {
                  if (!result) return done(result.error());
                  if (result->exit_code == 0) return done(Ok());
                  std::string text = "command '" + command + "' exited with " +
                                     std::to_string(result->exit_code) + ": ";
                  text += std::string_view(result->output).substr(0, kOutputBytesMax);
                  done(Error(ErrorCode::kConflict, std::move(text)));
                });
}

void HookRunner::Ask(const Context& context, HttpHook hook, reactor::Done<Unit> done) {
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
    const net::FetchOptions options{
        .client = {}, .body_bytes_max = kAnswerBytesMax, .long_body = net::LongBody::kIsCut};
    auto answered = [done = std::move(done)](Result<net::HttpResponse> answer) mutable {
      OnAnswer(answer, done);
    };
    const net::Address address = addresses->front();
    if (tls == nullptr) {
      return net::Fetch(loop, context, address, std::move(hook.request), "", options,
                        std::move(answered));
    }
    auto open = [&loop, address, tls, host = hook.host](
                    const Context& dial,
                    reactor::Done<std::unique_ptr<net::Stream>> opened) mutable {
      net::Connect(loop, dial, address,
                   [&loop, dial, tls, host = std::move(host), opened = std::move(opened)](
                       Result<std::unique_ptr<net::Socket>> socket) mutable {
                     if (!socket) return opened(socket.error());
                     net::TlsConnect(loop, dial, *std::move(socket), *tls, std::move(host),
                                     [opened = std::move(opened)](
                                         Result<std::unique_ptr<net::TlsStream>> secured) mutable {
                                       if (!secured) return opened(secured.error());
                                       opened(std::unique_ptr<net::Stream>(*std::move(secured)));
                                     });
                   });
    };
    net::Fetch(loop, context, net::StreamFactory(std::move(open)), std::move(hook.request), "",
               options, std::move(answered));
  };
  if (Result<net::Address> address = net::Address::Ip(host, port)) {
    loop_.Post([ask = std::move(ask), address = *std::move(address)]() mutable {
      ask(std::vector<net::Address>{std::move(address)});
    });
    return;
  }
  lookup_(context, host, port, std::move(ask));
}

void HookRunner::Pause(const Context& context, const SleepHook& hook, reactor::Done<Unit> done) {
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
                                        "the container is to end before its hook has slept enough"))
                         : Ok());
  });
  // Answers come in a later turn, so the timer does it; it goes with us.
  kept.cancelled = context.cancel.OnCancel([this, key = *key] {
    Sleep* sleeping = sleeps_.Find(key);
    if (sleeping == nullptr) return;
    loop_.Disarm(sleeping->timer);
    sleeping->timer = loop_.Arm(loop_.Now(), [this, key] {
      EndPause(key, Error(ErrorCode::kCancelled, "the hook is not wanted any more"));
    });
  });
}

void HookRunner::EndPause(SlotKey key, Status status) {
  std::optional<Sleep> sleep = sleeps_.Remove(key);
  if (!sleep) return;
  loop_.Disarm(sleep->timer);
  sleep->cancelled.Forget();
  sleep->done(std::move(status));
}

void HookRunner::AnswerSoon(reactor::Done<Unit> done, Error error) {
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
