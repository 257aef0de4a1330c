#include "reactor/net/http1/fetch.h"

#include <algorithm>
#include <utility>

#include "reactor/net/connect.h"
#include "reactor/net/loop_owned.h"

namespace denselet::net {
namespace {

class FetchOperation final : public LoopOwned, private HttpClientCall {
 public:
  FetchOperation(reactor::Loop& loop, const Context& context, HttpRequest request, std::string body,
                 const FetchOptions& options, reactor::Done<HttpResponse> done)
      : loop_(loop),
        context_(context),
        request_(std::move(request)),
        request_body_(std::move(body)),
        options_(options),
        done_(std::move(done)) {
    request_.headers.Set("Connection", "close");
  }

  template <class SomeStream>
  void OnConnected(Result<std::unique_ptr<SomeStream>> stream) {
    if (!stream) return Answer(stream.error());
    client_ = std::make_unique<Http1Client>(loop_, std::move(*stream), options_.client,
                                            [](Http1Client::State) {});
    exchange_ = client_->Start(context_, request_, request_body_, *this);
  }

 private:
  void OnHead(HttpResponseHead head) override {
    response_.status = head.status;
    response_.headers = std::move(head.headers);
  }

  void OnBody(std::span<const std::byte> data) override {
    const size_t room = options_.body_bytes_max - response_.body.size();
    response_.body.append(reinterpret_cast<const char*>(data.data()), std::min(room, data.size()));
    if (data.size() <= room) return;
    if (options_.long_body == LongBody::kIsCut) return OnEnd();
    Answer(ErrorOf(Http1Fault::kBodyTooLarge, {}).With("answer"));
  }

  void OnEnd() override { Answer(std::move(response_)); }
  void OnFailed(const Error& reason) override { Answer(reason); }

  void Answer(Result<HttpResponse> result) {
    exchange_.reset();
    if (client_ != nullptr) client_->Close();
    LetGo();
    auto done = std::move(done_);
    done(std::move(result));
  }

  reactor::Loop& loop_;
  const Context context_;
  HttpRequest request_;
  const std::string request_body_;
  const FetchOptions options_;
  reactor::Done<HttpResponse> done_;
  std::unique_ptr<Http1Client> client_;
  std::unique_ptr<HttpExchange> exchange_;
  HttpResponse response_;
};

}  // namespace

void Fetch(reactor::Loop& loop, const Context& context, const Address& address, HttpRequest request,
           std::string body, const FetchOptions& options, reactor::Done<HttpResponse> done) {
  auto& operation = LoopOwned::Keep(
      loop, std::make_unique<FetchOperation>(loop, context, std::move(request), std::move(body),
                                             options, std::move(done)));
  Connect(loop, context, address, [&operation](Result<std::unique_ptr<Socket>> socket) {
    operation.OnConnected(std::move(socket));
  });
}

void Fetch(reactor::Loop& loop, const Context& context, StreamFactory open, HttpRequest request,
           std::string body, const FetchOptions& options, reactor::Done<HttpResponse> done) {
  auto& operation = LoopOwned::Keep(
      loop, std::make_unique<FetchOperation>(loop, context, std::move(request), std::move(body),
                                             options, std::move(done)));
  open(context, [&operation](Result<std::unique_ptr<Stream>> stream) {
    operation.OnConnected(std::move(stream));
  });
}

}  // namespace denselet::net
