#include "managers/hooks/hook_request.h"

#include <string>
#include <utility>

#include "reactor/net/connect.h"
#include "reactor/net/http1/fetch.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::managers {
namespace {

// What the server said beyond its first line is not read to the end.
constexpr size_t kAnswerBytesMax = 10 * 1024;

net::FetchOptions Options() {
  return {.client = {}, .body_bytes_max = kAnswerBytesMax, .long_body = net::LongBody::kIsCut};
}

net::StreamFactory Secured(reactor::Loop& loop, const net::Address& address,
                           std::shared_ptr<net::TlsClient> tls, std::string host) {
  return [&loop, address, tls = std::move(tls), host = std::move(host)](
             const Context& dial, reactor::Done<std::unique_ptr<net::Stream>> opened) mutable {
    net::Connect(loop, dial, address,
                 [&loop, dial, tls = std::move(tls), host = std::move(host),
                  opened = std::move(opened)](Result<std::unique_ptr<net::Socket>> socket) mutable {
                   if (!socket) return opened(socket.error());
                   net::TlsConnect(loop, dial, *std::move(socket), *tls, std::move(host),
                                   [tls, opened = std::move(opened)](
                                       Result<std::unique_ptr<net::TlsStream>> secured) mutable {
                                     if (!secured) return opened(secured.error());
                                     opened(std::unique_ptr<net::Stream>(*std::move(secured)));
                                   });
                 });
  };
}

// As TlsConnect tells it.
bool SpeaksPlainHttp(const Error& error) {
  return error.code() == ErrorCode::kCorrupt && error.answered();
}

std::string HostAndPort(const HttpHook& hook) {
  const bool is_v6 = hook.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + hook.host + "]" : hook.host) + ":" + std::to_string(hook.port);
}

// The hook over https failed with `why`, because nobody there speaks TLS.
void AskWithoutTls(reactor::Loop& loop, const Context& context, const net::Address& address,
                   HttpHook hook, const Error& why, reactor::Done<sync::HookOutcome> done) {
  hook.request.scheme = "http";
  hook.request.headers.Remove("Authorization");
  auto answered = [why, asked = HostAndPort(hook),
                   done = std::move(done)](const Result<net::HttpResponse>& answer) mutable {
    if (!answer) return done(why);
    done(sync::HookOutcome{.answered_without_tls = std::move(asked)});
  };
  net::Fetch(loop, context, address, std::move(hook.request), "", Options(), std::move(answered));
}

}  // namespace

void AskHook(reactor::Loop& loop, const Context& context, const net::Address& address,
             std::shared_ptr<net::TlsClient> tls, HttpHook hook,
             reactor::Done<sync::HookOutcome> done) {
  if (tls == nullptr) {
    auto answered = [done = std::move(done)](const Result<net::HttpResponse>& answer) mutable {
      if (!answer) return done(answer.error());
      done(sync::HookOutcome{});
    };
    return net::Fetch(loop, context, address, std::move(hook.request), "", Options(),
                      std::move(answered));
  }
  net::HttpRequest request = hook.request;
  net::StreamFactory open = Secured(loop, address, std::move(tls), hook.host);
  auto answered = [&loop, context, address, hook = std::move(hook),
                   done = std::move(done)](const Result<net::HttpResponse>& answer) mutable {
    if (answer) return done(sync::HookOutcome{});
    if (!SpeaksPlainHttp(answer.error())) return done(answer.error());
    AskWithoutTls(loop, context, address, std::move(hook), answer.error(), std::move(done));
  };
  net::Fetch(loop, context, std::move(open), std::move(request), "", Options(),
             std::move(answered));
}

}  // namespace denselet::managers
