// Makes connections to the API server: name, address, proxy, TLS.
//
// Lives on the API shard; connections under way outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/proxy.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/stream.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::kube {

// As net::Resolve, whose shard and pool the caller has.
using Lookup = UniqueFunction<void(const Context&, const std::string& host, uint16_t port,
                                   reactor::Done<std::vector<net::Address>>)>;

struct ApiDialerOptions {
  ServerUrl server;
  std::string server_name;     // in its certificate; empty: the host
  std::optional<Proxy> proxy;  // asked for a tunnel by CONNECT
};

class ApiDialer {
 public:
  ApiDialer(reactor::Loop& loop, Lookup lookup, ApiDialerOptions options);

  // `tls` is null for a server without TLS; it is used only in this call and until the handshake
  // has begun, so it must live as long as the dialer. Answers once, later: with a stream that
  // speaks HTTP/2, or with the error of the address that was tried last.
  void Dial(const Context& context, net::TlsClient* tls,
            reactor::Done<std::unique_ptr<net::Stream>> done);

 private:
  struct Shared;
  class Operation;
  const std::shared_ptr<Shared> shared_;  // with operations under way
};

}  // namespace denselet::kube
