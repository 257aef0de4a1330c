// What OpenSSL calls a TlsStream for: bytes in and out, the server's certificate, a new session.
// None of it calls a user.
#pragma once

#include "reactor/net/tls/openssl_ptr.h"

struct x509_store_ctx_st;

namespace denselet::net {

class TlsStream;

struct TlsCallbacks {
  static void Install(ssl_ctx_st* context);
  // Makes `stream` the one that is called for `ssl`; false: no memory.
  static bool Connect(ssl_st* ssl, TlsStream& stream);

  static int Read(bio_st* bio, char* into, int size);
  static int Write(bio_st* bio, const char* from, int size);
  static int CheckServer(x509_store_ctx_st* check, void*);
  static int KeepSession(ssl_st* ssl, ssl_session_st* session);
};

}  // namespace denselet::net
