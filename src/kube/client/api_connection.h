// Everything between a kubeconfig and a client of the API server: credentials, dialer, transport.
//
// Lives on the API shard. Destroyed, it calls nobody any more; list-watches must be gone by then.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "kube/client/api_client.h"
#include "kube/client/api_dialer.h"
#include "kube/client/api_transport.h"
#include "kube/client/kube_credentials.h"
#include "kube/client/kubeconfig.h"

namespace denselet::kube {

struct ApiConnectionOptions {
  std::string user_agent;
  ApiClientOptions client;
  KubeCredentialsOptions credentials;
};

class ApiConnection {
 public:
  // kInvalid: the server's or the proxy's URL cannot be used. What credentials point to is read
  // later.
  static Result<std::unique_ptr<ApiConnection>> Make(const CredentialParts& parts, Random& random,
                                                     Lookup lookup, ClusterAccess access,
                                                     ApiConnectionOptions options);
  ~ApiConnection();
  ApiConnection(const ApiConnection&) = delete;
  ApiConnection& operator=(const ApiConnection&) = delete;

  ApiClient& client() { return client_; }
  ApiTransport& transport() { return transport_; }
  KubeCredentials& credentials() { return credentials_; }

  // GET /healthz. Answers once, in a later turn; kUnavailable when it is not 200,
  // kPermission when it is 401.
  void CheckHealth(const Context& context, reactor::Done<Unit> done);

 private:
  class HealthCheck;

  ApiConnection(const CredentialParts& parts, Random& random, ClusterAccess access,
                ApiConnectionOptions options, ApiDialer dialer, ApiTransportOptions transport);
  void Dial(const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done);

  reactor::Loop& loop_;
  const bool uses_tls_;
  ApiDialer dialer_;
  KubeCredentials credentials_;
  ApiTransport transport_;
  ApiClient client_;
  std::map<HealthCheck*, std::unique_ptr<HealthCheck>> health_checks_;
};

}  // namespace denselet::kube
