// The HTTP proxy on the way to the API server: the kubeconfig's proxy-url, or what the environment
// says, by the rules of Go's http.ProxyFromEnvironment, which the kubelet follows.
//
// Pure functions, on any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/client/kubeconfig.h"
#include "reactor/net/http/message.h"

namespace denselet::kube {

struct Proxy {
  ServerUrl url;         // of http
  net::Headers headers;  // of its CONNECT: who we are, when the URL says
};

// "[http://][USER[:PASSWORD]@]HOST[:PORT]". kUnsupported: a proxy of another kind (https, socks5).
// Errors show no password.
Result<Proxy> ParseProxy(std::string_view url);

// `environment` is "NAME=VALUE" each: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in small letters.
// Nothing: the server is reached without a proxy. The error names the variable.
Result<std::optional<Proxy>> ProxyFromEnvironment(std::span<const std::string> environment,
                                                  const ServerUrl& server);

// Whether NO_PROXY leaves the host to the proxy. Its entries, separated by commas: "*", a CIDR, an
// address, a domain with its subdomains ("x.test"), only these (".x.test", "*.x.test"); all but the
// first two may end with a port. This machine itself is never reached through a proxy.
bool IsProxied(std::string_view no_proxy, std::string_view host, uint16_t port);

}  // namespace denselet::kube
