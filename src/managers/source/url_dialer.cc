#include "managers/source/url_dialer.h"

#include <utility>

#include "reactor/net/connect.h"
#include "reactor/net/loop_owned.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::managers {

// One attempt: the host's addresses one after the other until one answers.
class UrlDialer::Operation final : public net::LoopOwned {
 public:
  Operation(reactor::Loop& loop, const Context& context, const ManifestUrl& url,
            net::TlsClient* tls, reactor::Done<std::unique_ptr<net::Stream>> done)
      : loop_(loop), context_(context), host_(url.host), tls_(tls), done_(std::move(done)) {}

  void OnAddresses(Result<std::vector<net::Address>> addresses) {
    if (!addresses) return Finish(addresses.error());
    addresses_ = *std::move(addresses);
    TryNext(Error(ErrorCode::kNotFound, "the host has no address"));
  }

 private:
  void TryNext(const Error& last) {
    if (tried_ == addresses_.size()) return Finish(last);
    const net::Address& address = addresses_[tried_++];
    net::Connect(loop_, context_, address, [this](Result<std::unique_ptr<net::Socket>> socket) {
      if (!socket) return TryNext(socket.error());  // which names the address
      if (tls_ == nullptr) return Finish(std::unique_ptr<net::Stream>(*std::move(socket)));
      Secure(*std::move(socket));
    });
  }

  void Secure(std::unique_ptr<net::Stream> stream) {
    net::TlsConnect(loop_, context_, std::move(stream), *tls_, host_,
                    [this](Result<std::unique_ptr<net::TlsStream>> secured) {
                      if (!secured) return TryNext(secured.error().With("connect to", Place()));
                      Finish(std::unique_ptr<net::Stream>(*std::move(secured)));
                    });
  }

  std::string Place() const { return addresses_[tried_ - 1].ToString(); }

  void Finish(Result<std::unique_ptr<net::Stream>> result) {
    LetGo();
    done_(std::move(result));
  }

  reactor::Loop& loop_;
  const Context context_;
  const std::string host_;
  net::TlsClient* const tls_;
  reactor::Done<std::unique_ptr<net::Stream>> done_;
  std::vector<net::Address> addresses_;
  size_t tried_ = 0;
};

UrlDialer::UrlDialer(reactor::Loop& loop, HostLookup lookup)
    : loop_(loop), lookup_(std::move(lookup)) {}

void UrlDialer::Dial(const Context& context, const ManifestUrl& url,
                     reactor::Done<std::unique_ptr<net::Stream>> done) {
  if (url.secure && tls_ == nullptr) {
    net::TlsClientOptions options;
    options.protocols = {"http/1.1"};
    auto made = net::TlsClient::Make(options);
    if (!made) {
      loop_.Post([done = std::move(done), error = made.error()]() mutable { done(error); });
      return;
    }
    tls_ = std::make_unique<net::TlsClient>(*std::move(made));
  }
  auto& operation = net::LoopOwned::Keep(
      loop_, std::make_unique<Operation>(loop_, context, url, url.secure ? tls_.get() : nullptr,
                                         std::move(done)));
  lookup_(context, url.host, url.port, [&operation](Result<std::vector<net::Address>> addresses) {
    operation.OnAddresses(std::move(addresses));
  });
}

}  // namespace denselet::managers
