// Opens connections to where manifests are fetched from: name, address, TLS.
//
// Lives on the shard of its loop and outlives the connections that it opens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "managers/source/manifest_url.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/stream.h"
#include "reactor/net/tls/tls_client.h"

namespace denselet::managers {

// As net::Resolve, whose shard and pool the caller has.
using HostLookup = UniqueFunction<void(const Context&, const std::string& host, uint16_t port,
                                       reactor::Done<std::vector<net::Address>>)>;

class UrlDialer {
 public:
  // Servers of https are held to the system's authorities.
  UrlDialer(reactor::Loop& loop, HostLookup lookup);

  // Answers once, later: with a stream that speaks HTTP/1, or with the error of the address that
  // was tried last.
  void Dial(const Context& context, const ManifestUrl& url,
            reactor::Done<std::unique_ptr<net::Stream>> done);

 private:
  class Operation;

  reactor::Loop& loop_;
  HostLookup lookup_;
  std::unique_ptr<net::TlsClient> tls_;  // made when it is first needed: it reads the disk
};

}  // namespace denselet::managers
