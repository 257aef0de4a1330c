// Owners of OpenSSL's objects that need none of its headers: those stay in .cc files.
#pragma once

#include <memory>

struct bio_st;
struct evp_pkey_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;
struct x509_st;

namespace denselet::net {

struct OpensslFree {
  void operator()(bio_st* bio) const;
  void operator()(evp_pkey_st* key) const;
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_session_st* session) const;
  void operator()(ssl_st* ssl) const;
  void operator()(x509_st* certificate) const;
};

using BioPtr = std::unique_ptr<bio_st, OpensslFree>;
using KeyPtr = std::unique_ptr<evp_pkey_st, OpensslFree>;
using SslContextPtr = std::unique_ptr<ssl_ctx_st, OpensslFree>;
using SslPtr = std::unique_ptr<ssl_st, OpensslFree>;
using SslSessionPtr = std::unique_ptr<ssl_session_st, OpensslFree>;
using X509Ptr = std::unique_ptr<x509_st, OpensslFree>;

}  // namespace denselet::net
