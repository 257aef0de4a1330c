#include "reactor/net/tls/tls_client.h"

#include <utility>

#include "reactor/net/tls/tls_settings.h"

namespace denselet::net {

Result<TlsClient> TlsClient::Make(const TlsClientOptions& options) {
  auto settings = MakeTlsSettings(options);
  if (!settings) return settings.error();
  return TlsClient(*std::move(settings));
}

Status TlsClient::Replace(const TlsClientOptions& options) {
  auto settings = MakeTlsSettings(options);
  if (!settings) return settings.error();
  settings_ = *std::move(settings);
  return Ok();
}

std::optional<WallTime> TlsClient::client_certificate_not_after() const {
  return settings_->certificate_not_after;
}

}  // namespace denselet::net
