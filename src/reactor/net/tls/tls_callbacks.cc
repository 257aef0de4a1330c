#include "reactor/net/tls/tls_callbacks.h"

#include <openssl/ssl.h>

#include <utility>

#include "base/check.h"
#include "reactor/net/tls/tls_settings.h"
#include "reactor/net/tls/tls_stream.h"
#include "reactor/net/tls/tls_verify.h"

namespace denselet::net {
namespace {

long Control(BIO*, int command, long, void*) {
  // What was written is with the stream already. All else is not supported.
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int Create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* MakeMethod() {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
  CHECK(method != nullptr);
  BIO_meth_set_read(method, TlsCallbacks::Read);
  BIO_meth_set_write(method, TlsCallbacks::Write);
  BIO_meth_set_ctrl(method, Control);
  BIO_meth_set_create(method, Create);
  return method;
}

}  // namespace

void TlsCallbacks::Install(ssl_ctx_st* context) {
  SSL_CTX_set_cert_verify_callback(context, CheckServer, nullptr);
  SSL_CTX_sess_set_new_cb(context, KeepSession);
}

bool TlsCallbacks::Connect(ssl_st* ssl, TlsStream& stream) {
  static BIO_METHOD* const method = MakeMethod();  // for the life of the process
  BIO* const bio = BIO_new(method);
  if (bio == nullptr) return false;
  BIO_set_data(bio, &stream);
  SSL_set_bio(ssl, bio, bio);
  return SSL_set_app_data(ssl, &stream) == 1;
}

int TlsCallbacks::Read(bio_st* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
  const size_t taken =
      stream.TakeInput(std::as_writable_bytes(std::span(into, static_cast<size_t>(size))));
  if (taken > 0) return static_cast<int>(taken);
  // Never "the end": whether the stream below ended is the TlsStream's question.
  BIO_set_retry_read(bio);
  return -1;
}

int TlsCallbacks::Write(bio_st* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  static_cast<TlsStream*>(BIO_get_data(bio))->output_.append(from, static_cast<size_t>(size));
  return size;
}

int TlsCallbacks::CheckServer(x509_store_ctx_st* check, void*) {
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& stream = *static_cast<TlsStream*>(SSL_get_app_data(ssl));
  if (stream.settings_->verification == TlsVerification::kNone) return 1;
  if (X509_verify_cert(check) == 1) return 1;
  stream.refusal_ = std::make_unique<std::string>(
      DescribeRefusal(check, stream.server_name_, stream.loop_.WallNow()));
  return 0;
}

int TlsCallbacks::KeepSession(ssl_st* ssl, ssl_session_st* session) {
  const auto& stream = *static_cast<TlsStream*>(SSL_get_app_data(ssl));
  stream.settings_->sessions.Put(stream.server_name_, SslSessionPtr(session));
  return 1;  // the reference is ours
}

}  // namespace denselet::net
