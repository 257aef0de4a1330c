#include "reactor/net/tls/tls_settings.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "reactor/net/tls/tls_callbacks.h"
#include "reactor/net/tls/tls_pem.h"
#include "reactor/net/tls/tls_words.h"

namespace denselet::net {
namespace {

constexpr size_t kProtocolBytesMax = 255;  // its length has one byte on the wire

// Every stage ends: "no limit" is not one of the choices.
constexpr Duration kHandshakeTimeMax = Hours(1);

Error Invalid(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

Status UseAuthorities(SSL_CTX* context, const TlsClientOptions& options) {
  if (options.verification == TlsVerification::kNone) return Ok();
  if (options.authorities.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return Ok();
    return Error(ErrorCode::kIo, "the system's authorities cannot be read");
  }
  auto authorities = ReadCertificates(options.authorities);
  if (!authorities) return authorities.error().With("authorities");
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const X509Ptr& authority : *authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) {
      return Invalid("authorities: " + Subject(authority.get()) + " cannot be used");
    }
  }
  return Ok();
}

Status UseCertificate(SSL_CTX* context, const TlsClientOptions& options, TlsSettings& settings) {
  if (options.certificate.empty() && options.key.empty()) return Ok();
  if (options.key.empty()) return Invalid("client certificate: it has no key");
  if (options.certificate.empty()) return Invalid("client key: it has no certificate");
  auto chain = ReadCertificates(options.certificate);
  if (!chain) return chain.error().With("client certificate");
  auto key = ReadKey(options.key);
  if (!key) return key.error().With("client key");
  X509* const own = chain->front().get();
  if (X509_check_private_key(own, key->get()) != 1) {
    return Invalid("client key: the key does not belong to the certificate");
  }
  if (SSL_CTX_use_certificate(context, own) != 1 ||
      SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Invalid("client certificate: " + LastReason());  // too weak for the security level
  }
  for (size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) != 1) {
      return Invalid("client certificate: its chain: " + LastReason());
    }
  }
  settings.certificate_not_after = ToWallTime(X509_get0_notAfter(own));
  return Ok();
}

Status UseProtocols(SSL_CTX* context, const TlsClientOptions& options) {
  std::string wire;
  for (const std::string& protocol : options.protocols) {
    if (protocol.empty() || protocol.size() > kProtocolBytesMax) {
      return Invalid("ALPN protocol " + Quoted(protocol) + ": not 1 to 255 bytes long");
    }
    wire += static_cast<char>(protocol.size());
    wire += protocol;
  }
  if (wire.empty()) return Ok();
  const auto* data = reinterpret_cast<const unsigned char*>(wire.data());
  if (SSL_CTX_set_alpn_protos(context, data, static_cast<unsigned>(wire.size())) != 0) {
    return Invalid("ALPN protocols: " + LastReason());
  }
  return Ok();
}

void SetModes(SSL_CTX* context, TlsVersion version_min) {
  SSL_CTX_set_min_proto_version(context,
                                version_min == TlsVersion::k13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  // A renegotiation would let a server change who it is in the middle of a connection.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // RELEASE_BUFFERS: a silent connection gives back 32 kB. The others: what is sent may move in
  // memory between two tries, and large data goes out record by record.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
}

}  // namespace

Result<std::shared_ptr<TlsSettings>> MakeTlsSettings(const TlsClientOptions& options) {
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Error(ErrorCode::kIo, "OpenSSL cannot start: " + LastReason());
  SSL_CTX* const raw = context.get();
  auto settings = std::make_shared<TlsSettings>(
      TlsSettings{std::move(context), TlsSessions(options.sessions_max), options.verification,
                  options.protocols,
                  std::min<Duration>(options.handshake_time_max, kHandshakeTimeMax), std::nullopt});
  SetModes(raw, options.version_min);
  TlsCallbacks::Install(raw);
  if (Status status = UseAuthorities(raw, options); !status) return status.error();
  if (Status status = UseCertificate(raw, options, *settings); !status) return status.error();
  if (Status status = UseProtocols(raw, options); !status) return status.error();
  ERR_clear_error();
  return settings;
}

}  // namespace denselet::net
