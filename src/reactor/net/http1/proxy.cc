#include "reactor/net/http1/proxy.h"

#include <string>
#include <utility>

#include "reactor/net/http1/client.h"
#include "reactor/net/loop_owned.h"

namespace denselet::net {
namespace {

class Tunnel final : public LoopOwned, private HttpClientCall {
 public:
  Tunnel(reactor::Loop& loop, std::unique_ptr<Stream> proxy,
         reactor::Done<std::unique_ptr<Stream>> done)
      : client_(loop, std::move(proxy), {}, [](Http1Client::State) {}), done_(std::move(done)) {}

  void Start(const Context& context, std::string_view authority, const Headers& headers) {
    HttpRequest request;
    request.method = "CONNECT";
    request.authority = authority;
    request.target = authority;
    request.headers = headers;
    authority_ = authority;
    exchange_ = client_.Start(context, request, RequestBody::kNone, *this);
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
    LetGo();
    auto done = std::move(done_);
    done(std::move(result));
  }

  Http1Client client_;
  reactor::Done<std::unique_ptr<Stream>> done_;
  std::string authority_;
  std::unique_ptr<HttpExchange> exchange_;
};

}  // namespace

void ConnectThroughProxy(reactor::Loop& loop, const Context& context, std::unique_ptr<Stream> proxy,
                         std::string_view authority, const Headers& headers,
                         reactor::Done<std::unique_ptr<Stream>> done) {
  auto& tunnel =
      LoopOwned::Keep(loop, std::make_unique<Tunnel>(loop, std::move(proxy), std::move(done)));
  tunnel.Start(context, authority, headers);
}

}  // namespace denselet::net
