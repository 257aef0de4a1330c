#include "tests/tls/tls_server.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "reactor/net/tls/tls_pem.h"

namespace denselet::net {
namespace {

// The accepted protocols in the form of the wire, kept as long as the context.
int ProtocolsIndex() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* wire, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<std::string*>(wire);
      });
  return index;
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                   unsigned in_size, void* arg) {
  const auto& wire = *static_cast<std::string*>(arg);
  unsigned char* chosen = nullptr;
  const int result =
      SSL_select_next_proto(&chosen, size, reinterpret_cast<const unsigned char*>(wire.data()),
                            static_cast<unsigned>(wire.size()), in, in_size);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void AcceptProtocols(SSL_CTX* context, const std::vector<std::string>& protocols) {
  auto wire = std::make_unique<std::string>();
  for (const std::string& protocol : protocols) {
    *wire += static_cast<char>(protocol.size());
    *wire += protocol;
  }
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, wire.get());
  SSL_CTX_set_ex_data(context, ProtocolsIndex(), wire.release());
}

}  // namespace

SslContextPtr MakeServerContext(const Identity& identity, const TlsServerOptions& options) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  const int version = options.version == TlsVersion::k13 ? TLS1_3_VERSION : TLS1_2_VERSION;
  SSL_CTX_set_min_proto_version(context.get(), version);
  SSL_CTX_set_max_proto_version(context.get(), version);
  CHECK(SSL_CTX_use_certificate(context.get(), identity.certificate.get()) == 1);
  CHECK(SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) == 1);
  SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
  if (!options.client_authority.empty()) {
    auto authorities = ReadCertificates(options.client_authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authorities->front().get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (!options.protocols.empty()) AcceptProtocols(context.get(), options.protocols);
  if (options.record_bytes_max > 0) {
    SSL_CTX_set_max_send_fragment(context.get(), static_cast<long>(options.record_bytes_max));
  }
  return context;
}

TlsServer::TlsServer(std::unique_ptr<Stream> below, ssl_ctx_st* context)
    : below_(std::move(below)),
      ssl_(SSL_new(context)),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_accept_state(ssl_.get());
  below_->Use(*this);
}

TlsServer::~TlsServer() { below_->Close(); }

void TlsServer::OnReceived(std::span<const std::byte> data) {
  BIO_write(in_, data.data(), static_cast<int>(data.size()));
  Advance();
}

void TlsServer::Advance() {
  ERR_clear_error();
  if (!established_ && SSL_do_handshake(ssl_.get()) == 1) established_ = true;
  int error = SSL_ERROR_NONE;
  if (established_) {
    std::array<char, 16384> plain;
    int size = 0;
    while ((size = SSL_read(ssl_.get(), plain.data(), static_cast<int>(plain.size()))) > 0) {
      const std::string data(plain.data(), static_cast<size_t>(size));
      received_ += data;
      if (echo) SSL_write(ssl_.get(), data.data(), size);
    }
    error = SSL_get_error(ssl_.get(), size);
  }
  if (error == SSL_ERROR_ZERO_RETURN) ended_ = true;
  const unsigned long queued = ERR_peek_last_error();
  if (queued != 0) {
    broken_ = true;
    if (const char* reason = ERR_reason_error_string(queued)) failure_ = reason;
    ERR_clear_error();
  }
  Flush();
}

void TlsServer::Flush() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(out_, &data);
  if (size <= 0) return;
  std::string bytes(data, static_cast<size_t>(size));
  (void)BIO_reset(out_);
  if (tamper) bytes = tamper(std::move(bytes));
  if (!bytes.empty()) below_->Send(std::move(bytes));
}

void TlsServer::Write(const std::string& data) {
  const int size = static_cast<int>(data.size());
  if (SSL_write(ssl_.get(), data.data(), size) != size) {
    broken_ = true;
    ERR_clear_error();
  }
  Flush();
}

void TlsServer::WriteEnd() {
  SSL_shutdown(ssl_.get());
  Flush();
}

void TlsServer::UpdateKeys() { CHECK(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1); }

void TlsServer::AskToRenegotiate() {
  SSL_renegotiate(ssl_.get());
  SSL_do_handshake(ssl_.get());
  ERR_clear_error();
  Flush();
}

std::string TlsServer::server_name() const {
  const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

}  // namespace denselet::net
