#include "reactor/net/tls/tls_verify.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "reactor/net/tls/tls_words.h"

namespace denselet::net {
namespace {

constexpr size_t kNameBytesMax = 253;

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

int64_t ToSeconds(WallTime t) { return std::chrono::floor<Seconds>(t.time_since_epoch()).count(); }

std::string At(const ASN1_TIME* time) {
  const auto wall = ToWallTime(time);
  return wall ? FormatRfc3339(*wall, 0) : "an unreadable time";
}

std::string Whose(const X509* certificate, int depth) {
  if (depth == 0) return "the server's certificate";
  return "the certificate " + Subject(certificate) + " of the server's chain";
}

std::string WrongName(const X509* certificate, std::string_view name) {
  const std::string names = ServerNames(certificate);
  if (names.empty()) {
    return "the server's certificate names no server at all (no subject alternative name), so "
           "not " +
           Quoted(name) + "; its subject is " + Subject(certificate);
  }
  return "the server's certificate is for " + names + ", not for " + Quoted(name);
}

}  // namespace

Result<ServerNameKind> ClassifyServerName(std::string_view name) {
  if (name.empty()) return ServerNameKind::kNone;
  const std::string text(name);
  unsigned char address[16];
  if (text.find('\0') == text.npos && (::inet_pton(AF_INET, text.c_str(), address) == 1 ||
                                       ::inet_pton(AF_INET6, text.c_str(), address) == 1)) {
    return ServerNameKind::kIp;
  }
  // A dot in front would make OpenSSL accept every name below it.
  if (name.size() > kNameBytesMax || name.front() == '.' ||
      !std::all_of(name.begin(), name.end(), IsNameByte)) {
    return Error(ErrorCode::kInvalid, "neither a DNS name nor an IP address: " + Quoted(name));
  }
  return ServerNameKind::kDns;
}

Status ExpectServer(ssl_st* ssl, const std::string& name, ServerNameKind kind, WallTime now) {
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_time(param, ToSeconds(now));
  // Every certificate among the authorities is trusted, as clients written in Go do it: clusters
  // hand out bundles with intermediates, or with the server's own certificate.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  bool taken = true;
  switch (kind) {
    case ServerNameKind::kNone:
      break;
    case ServerNameKind::kIp:
      taken = X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1;
      break;
    case ServerNameKind::kDns: {
      // "a.example." is the same name; neither the wire nor certificates have the last dot.
      const std::string plain = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
      taken = SSL_set_tlsext_host_name(ssl, plain.c_str()) == 1 &&
              X509_VERIFY_PARAM_set1_host(param, plain.c_str(), plain.size()) == 1;
      break;
    }
  }
  if (taken) return Ok();
  return Error(ErrorCode::kInvalid, "server name " + Quoted(name) + ": " + LastReason());
}

std::string DescribeRefusal(x509_store_ctx_st* check, std::string_view name, WallTime now) {
  const int error = X509_STORE_CTX_get_error(check);
  const int depth = X509_STORE_CTX_get_error_depth(check);
  const X509* certificate = X509_STORE_CTX_get_current_cert(check);
  if (certificate == nullptr) certificate = X509_STORE_CTX_get0_cert(check);
  if (certificate == nullptr) return X509_verify_cert_error_string(error);
  const std::string whose = Whose(certificate, depth);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return whose + " expired on " + At(X509_get0_notAfter(certificate)) + ", and it is " +
             FormatRfc3339(now, 0);
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return whose + " is not valid before " + At(X509_get0_notBefore(certificate)) +
             ", and it is " + FormatRfc3339(now, 0);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return WrongName(certificate, name);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "the server's certificate is self-signed: " + Subject(certificate);
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "the server's certificate is signed by an unknown authority: " + Subject(certificate);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return whose + " is signed by an unknown authority: issuer " + Issuer(certificate);
    case X509_V_ERR_INVALID_PURPOSE:
      return whose + " is not made for servers: " + Subject(certificate);
    default:
      return whose + " was refused: " + X509_verify_cert_error_string(error) + ": " +
             Subject(certificate);
  }
}

}  // namespace denselet::net
