#include "reactor/net/tls/openssl_ptr.h"

#include <openssl/ssl.h>

namespace denselet::net {

void OpensslFree::operator()(bio_st* bio) const { BIO_free(bio); }
void OpensslFree::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }
void OpensslFree::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void OpensslFree::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }
void OpensslFree::operator()(ssl_st* ssl) const { SSL_free(ssl); }
void OpensslFree::operator()(x509_st* certificate) const { X509_free(certificate); }

}  // namespace denselet::net
