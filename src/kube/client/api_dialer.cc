#include "kube/client/api_dialer.h"

#include <utility>

#include "reactor/net/connect.h"
#include "reactor/net/http1/proxy.h"
#include "reactor/net/loop_owned.h"

namespace denselet::kube {

struct ApiDialer::Shared {
  reactor::Loop& loop;
  Lookup lookup;
  ApiDialerOptions options;

  // Where the socket goes.
  const ServerUrl& First() const { return options.proxy ? options.proxy->url : options.server; }
  std::string CertificateName() const {
    return options.server_name.empty() ? options.server.host : options.server_name;
  }
};

// One attempt: the host's addresses one after the other until one answers.
class ApiDialer::Operation final : public net::LoopOwned {
 public:
  Operation(std::shared_ptr<Shared> shared, const Context& context, net::TlsClient* tls,
            reactor::Done<std::unique_ptr<net::Stream>> done)
      : shared_(std::move(shared)), context_(context), tls_(tls), done_(std::move(done)) {}

  void Start() {
    shared_->lookup(context_, shared_->First().host, shared_->First().port,
                    [this](Result<std::vector<net::Address>> addresses) {
                      if (!addresses) return Finish(addresses.error());
                      addresses_ = *std::move(addresses);
                      TryNext(Error(ErrorCode::kNotFound, "the host has no address"));
                    });
  }

 private:
  void TryNext(const Error& last) {
    if (tried_ == addresses_.size()) return Finish(last);
    // One that falls silent must leave time for those behind it.
    const TimePoint now = shared_->loop.Now();
    const auto left = static_cast<int64_t>(addresses_.size() - tried_);
    attempt_ = context_.deadline == kNever ? context_
                                           : context_.WithTimeout(now, context_.Left(now) / left);
    const net::Address& address = addresses_[tried_++];
    net::Connect(shared_->loop, attempt_, address,
                 [this](Result<std::unique_ptr<net::Socket>> socket) {
                   if (!socket) return TryNext(socket.error());  // which names the address
                   if (shared_->options.proxy) return Tunnel(std::move(*socket));
                   Secure(std::move(*socket));
                 });
  }

  void Tunnel(std::unique_ptr<net::Stream> stream) {
    net::ConnectThroughProxy(shared_->loop, attempt_, std::move(stream),
                             shared_->options.server.Authority(), shared_->options.proxy->headers,
                             [this](Result<std::unique_ptr<net::Stream>> tunnel) {
                               if (!tunnel) return TryNext(tunnel.error().With("proxy", Place()));
                               Secure(*std::move(tunnel));
                             });
  }

  void Secure(std::unique_ptr<net::Stream> stream) {
    if (tls_ == nullptr) return Finish(std::move(stream));
    net::TlsConnect(shared_->loop, attempt_, std::move(stream), *tls_, shared_->CertificateName(),
                    [this](Result<std::unique_ptr<net::TlsStream>> secured) {
                      if (!secured && IsWithoutHttp2(secured.error())) return Finish(NoHttp2());
                      if (!secured) return TryNext(secured.error().With("connect to", Place()));
                      if ((*secured)->protocol() != "h2") return Finish(NoHttp2());
                      Finish(std::unique_ptr<net::Stream>(*std::move(secured)));
                    });
  }

  // It refuses what it is offered; others take the connection and choose nothing.
  static bool IsWithoutHttp2(const Error& error) {
    return error.code() == ErrorCode::kUnsupported && error.answered();
  }
  Error NoHttp2() const {
    return Error(
        ErrorCode::kUnsupported,
        Place() +
            " does not speak HTTP/2, which is needed: it, or a gateway in front of the API "
            "server, offers no \"h2\" over TLS (ALPN)");
  }
  std::string Place() const { return addresses_[tried_ - 1].ToString(); }

  void Finish(Result<std::unique_ptr<net::Stream>> result) {
    LetGo();
    done_(std::move(result));
  }

  const std::shared_ptr<Shared> shared_;
  const Context context_;
  Context attempt_;  // with its share of the time
  net::TlsClient* const tls_;
  reactor::Done<std::unique_ptr<net::Stream>> done_;
  std::vector<net::Address> addresses_;
  size_t tried_ = 0;
};

ApiDialer::ApiDialer(reactor::Loop& loop, Lookup lookup, ApiDialerOptions options)
    : shared_(std::make_shared<Shared>(Shared{loop, std::move(lookup), std::move(options)})) {}

void ApiDialer::Dial(const Context& context, net::TlsClient* tls,
                     reactor::Done<std::unique_ptr<net::Stream>> done) {
  net::LoopOwned::Keep(shared_->loop,
                       std::make_unique<Operation>(shared_, context, tls, std::move(done)))
      .Start();
}

}  // namespace denselet::kube
