#include "kube/client/api_connection.h"

#include <optional>
#include <span>
#include <utility>

namespace denselet::kube {
namespace {

// What the kubeconfig says goes before what the environment says.
Result<std::optional<Proxy>> ProxyTo(const ServerUrl& server, const ClusterAccess& access,
                                     std::span<const std::string> environment) {
  if (access.proxy_url.empty()) return ProxyFromEnvironment(environment, server);
  Result<Proxy> proxy = ParseProxy(access.proxy_url);
  if (!proxy) return proxy.error().With("proxy-url");
  return std::optional<Proxy>(*std::move(proxy));
}

}  // namespace

// One GET, from the credentials to the answer's end.
class ApiConnection::HealthCheck final : private net::HttpClientCall {
 public:
  HealthCheck(ApiConnection& home, const Context& context, reactor::Done<Unit> done)
      : home_(home),
        context_(context),
        done_(std::move(done)),
        self_(std::make_shared<HealthCheck*>(this)) {
    timer_ = home_.loop_.Arm(context_.deadline, [this] {
      const Error late(ErrorCode::kUnavailable, "the API server did not answer in time");
      const std::optional<Error>& unreachable = home_.transport_.contact().unreachable();
      Finish(unreachable ? unreachable->With(late.message()) : late);
    });
    Authorize();
  }
  ~HealthCheck() {
    *self_ = nullptr;
    home_.loop_.Disarm(timer_);
  }

 private:
  void Authorize() {
    if (const std::string* authorization = home_.credentials_.Authorization()) {
      return Start(*authorization);
    }
    home_.credentials_.WhenReady(context_, [self = self_](Status ready) {
      if (*self == nullptr) return;
      if (!ready) return (*self)->Finish(ready.error().With("credentials for the API server"));
      (*self)->Authorize();
    });
  }

  void Start(const std::string& authorization) {
    net::HttpRequest request;
    request.target = "/healthz";
    exchange_ = home_.transport_.Start(context_, ApiLane::kRequests, authorization,
                                       std::move(request), "", *this);
  }

  void OnHead(net::HttpResponseHead head) override {
    status_ = head.status;
    home_.transport_.contact().OnAnswer(status_);
  }
  void OnBody(std::span<const std::byte>) override {}
  void OnEnd() override {
    if (status_ == 200) return Finish(Ok());
    const Error error(
        status_ == 401 ? ErrorCode::kPermission : ErrorCode::kUnavailable,
        "the API server said " + std::to_string(status_) + " when asked for its health");
    if (status_ == 401) {
      home_.transport_.OnUnauthorized(error);
      home_.credentials_.Refused();
    }
    Finish(error.AsAnswer());
  }
  void OnFailed(const Error& reason) override { Finish(reason); }

  void Finish(Status status) {
    reactor::Done<Unit> done = std::move(done_);
    home_.health_checks_.erase(this);  // `this` is gone
    done(std::move(status));
  }

  ApiConnection& home_;
  const Context context_;
  reactor::Done<Unit> done_;
  const std::shared_ptr<HealthCheck*> self_;  // shared with the answer of the credentials
  reactor::TimerId timer_;
  std::unique_ptr<net::HttpExchange> exchange_;
  int status_ = 0;
};

Result<std::unique_ptr<ApiConnection>> ApiConnection::Make(const CredentialParts& parts,
                                                           Random& random, Lookup lookup,
                                                           ClusterAccess access,
                                                           ApiConnectionOptions options) {
  const Result<ServerUrl> server = ParseServerUrl(access.server);
  if (!server) return server.error();
  ApiDialerOptions dial;
  dial.server = *server;
  dial.server_name = access.server_name;
  Result<std::optional<Proxy>> proxy = ProxyTo(*server, access, options.credentials.environment);
  if (!proxy) return proxy.error();
  dial.proxy = *std::move(proxy);
  ApiTransportOptions transport;
  transport.scheme = server->scheme;
  transport.authority = server->Authority();
  transport.base_path = server->path;
  transport.user_agent = options.user_agent;
  transport.contact = {
      .log = parts.log, .server = access.server, .kubeconfig = access.kubeconfig_path};
  return std::unique_ptr<ApiConnection>(new ApiConnection(
      parts, random, std::move(access), std::move(options),
      ApiDialer(parts.loop, std::move(lookup), std::move(dial)), std::move(transport)));
}

ApiConnection::ApiConnection(const CredentialParts& parts, Random& random, ClusterAccess access,
                             ApiConnectionOptions options, ApiDialer dialer,
                             ApiTransportOptions transport)
    : loop_(parts.loop),
      uses_tls_(transport.scheme == "https"),
      dialer_(std::move(dialer)),
      credentials_(parts, std::move(access), std::move(options.credentials),
                   [this] { transport_.Renew(); }),
      transport_(parts.loop, random, std::move(transport), credentials_,
                 [this](const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
                   Dial(context, std::move(done));
                 }),
      client_(parts.loop, random, transport_, options.client) {}

ApiConnection::~ApiConnection() = default;

void ApiConnection::Dial(const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
  net::TlsClient* const tls = credentials_.tls();
  if (uses_tls_ && tls == nullptr) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kUnavailable, "there are no credentials yet"));
    });
    return;
  }
  dialer_.Dial(context, tls, std::move(done));
}

void ApiConnection::CheckHealth(const Context& context, reactor::Done<Unit> done) {
  auto check = std::make_unique<HealthCheck>(*this, context, std::move(done));
  HealthCheck* const key = check.get();
  health_checks_.emplace(key, std::move(check));
}

}  // namespace denselet::kube
