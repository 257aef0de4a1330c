#include "reactor/net/http1/proxy.h"

#include <string>
#include <utility>

#include "reactor/net/http1/client.h"

namespace denselet::net {
namespace {

// Owns itself until it has answered.
class Tunnel final : public reactor::Deletable, private HttpClientCall {
 public:
  Tunnel(reactor::Loop& loop, std::unique_ptr<Stream> proxy,
         reactor::Done<std::unique_ptr<Stream>> done)
      : loop_(loop),
        client_(loop, std::move(proxy), {}, [](Http1Client::State) {}),
        done_(std::move(done)) {}

  static void Start(std::unique_ptr<Tunnel> tunnel, const Context& context,
                    std::string_view authority, const Headers& headers) {
    Tunnel& self = *tunnel;
    HttpRequest request;
    request.method = "CONNECT";
    request.authority = authority;
    request.target = authority;
    request.headers = headers;
    self.authority_ = authority;
    self.exchange_ = self.client_.Start(context, request, RequestBody::kNone, self);
    self.self_ = std::move(tunnel);
  }

 private:
  void OnHead(HttpResponseHead head) override {
    if (client_.state() == Http1Client::State::kUpgraded) return Answer(client_.TakeStream());
    const std::string status = std::to_string(head.status);
    const ErrorCode code = head.status == 407 ? ErrorCode::kPermission : ErrorCode::kUnavailable;
    Answer(Error(code, "the proxy answered " + status));
  }
  void OnBody(std::span<const std::byte>) override {}
  void OnEnd() override {}
  void OnFailed(const Error& reason) override {
    if (reason.code() != ErrorCode::kUnknownOutcome) return Answer(reason);
    Answer(Error(ErrorCode::kUnavailable, reason.message()));
  }

  void Answer(Result<std::unique_ptr<Stream>> result) {
    exchange_.reset();
    if (!result) {
      client_.Close();
      result = result.error().With("connect through the proxy to", authority_);
    }
    loop_.DeferDelete(std::move(self_));
    auto done = std::move(done_);
    done(std::move(result));
  }

  reactor::Loop& loop_;
  Http1Client client_;
  reactor::Done<std::unique_ptr<Stream>> done_;
  std::string authority_;
  std::unique_ptr<Tunnel> self_;
  std::unique_ptr<HttpExchange> exchange_;
};

}  // namespace

void ConnectThroughProxy(reactor::Loop& loop, const Context& context, std::unique_ptr<Stream> proxy,
                         std::string_view authority, const Headers& headers,
                         reactor::Done<std::unique_ptr<Stream>> done) {
  Tunnel::Start(std::make_unique<Tunnel>(loop, std::move(proxy), std::move(done)), context,
                authority, headers);
}

}  // namespace denselet::net
