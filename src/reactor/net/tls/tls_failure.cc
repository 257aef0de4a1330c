#include "reactor/net/tls/tls_failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "reactor/net/tls/tls_words.h"

namespace denselet::net {
namespace {

constexpr int kAlertMax = 255;

std::string AlertName(int alert) {
  // Those that OpenSSL 3.0 has no name for.
  if (alert == SSL_AD_CERTIFICATE_REQUIRED) return "certificate required";
  if (alert == SSL_AD_MISSING_EXTENSION) return "missing extension";
  const std::string name = SSL_alert_desc_string_long(alert);
  return name == "unknown" ? "alert " + std::to_string(alert) : name;
}

// The peer's alert, as OpenSSL turned it into a reason.
Error AlertFailure(int alert) {
  const std::string name = AlertName(alert);
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return Error(ErrorCode::kPermission, "the server refused our certificate: " + name);
    case SSL_AD_ACCESS_DENIED:
      return Error(ErrorCode::kPermission, "the server refused us: " + name);
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_INSUFFICIENT_SECURITY:
    case SSL_AD_UNRECOGNIZED_NAME:
    case SSL_AD_UNSUPPORTED_EXTENSION:
    case SSL_AD_MISSING_EXTENSION:
      return Error(ErrorCode::kUnsupported, "the server refused our terms: " + name);
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return Error(ErrorCode::kUnsupported, "the server refused our terms: " + name).AsAnswer();
    case SSL_AD_INTERNAL_ERROR:
    case SSL_AD_USER_CANCELLED:
      return Error(ErrorCode::kUnavailable, "the server gave up: " + name);
    default:
      return Error(ErrorCode::kCorrupt, "the server ended the connection with an alert: " + name);
  }
}

Error ProtocolFailure(unsigned long error, const TlsFailureFacts& facts) {
  const int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_WRONG_SSL_VERSION:
      return Error(ErrorCode::kUnsupported, "the server speaks no version of TLS that we accept");
    default:
      break;
  }
  if (facts.handshaking && facts.first_bytes.starts_with("HTTP/")) {
    return Error(ErrorCode::kCorrupt, "the server speaks plain HTTP, not TLS").AsAnswer();
  }
  if (facts.handshaking && reason == SSL_R_WRONG_VERSION_NUMBER) {
    return Error(ErrorCode::kCorrupt,
                 "the server does not speak TLS: it began with " + Quoted(facts.first_bytes));
  }
  const char* const text = ERR_reason_error_string(error);
  return Error(ErrorCode::kCorrupt, std::string("the server broke the TLS protocol: ") +
                                        (text == nullptr ? "no reason given" : text));
}

}  // namespace

Error TakeTlsFailure(const TlsFailureFacts& facts) {
  const unsigned long first = ERR_peek_error();
  const unsigned long last = ERR_peek_last_error();
  if (!facts.refusal.empty()) {
    ERR_clear_error();
    return Error(ErrorCode::kPermission, facts.refusal);
  }
  if (first == 0 || ERR_GET_LIB(last) != ERR_LIB_SSL) {
    // Of a library below: a damaged certificate, a signature that is none.
    return Error(ErrorCode::kCorrupt, "the server broke the TLS protocol: " + LastReason());
  }
  ERR_clear_error();
  const int reason = ERR_GET_REASON(last);
  // Above them are reasons that all of OpenSSL's libraries share.
  if (reason >= SSL_AD_REASON_OFFSET && reason <= SSL_AD_REASON_OFFSET + kAlertMax) {
    return AlertFailure(reason - SSL_AD_REASON_OFFSET);
  }
  return ProtocolFailure(last, facts);
}

}  // namespace denselet::net
