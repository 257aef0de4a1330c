// One generation of a TlsClient's options in OpenSSL's form, with the sessions that were made under
// it. Shared by the client and its connections: these outlive a TlsClient::Replace, and then their
// generation lives on without being offered to new ones.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reactor/net/tls/openssl_ptr.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_sessions.h"

namespace denselet::net {

struct TlsSettings {
  SslContextPtr context;
  TlsSessions sessions;
  TlsVerification verification;
  std::vector<std::string> protocols;
  Duration handshake_time_max;
  std::optional<WallTime> certificate_not_after;
};

Result<std::shared_ptr<TlsSettings>> MakeTlsSettings(const TlsClientOptions& options);

}  // namespace denselet::net
