#include "app/config/tls_names.h"

#include <algorithm>
#include <iterator>

namespace denselet::app {
namespace {

constexpr std::string_view kSecure[] = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
};

constexpr std::string_view kInsecure[] = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
};

// P-256, P-384, P-521, X25519, and these three with ML-KEM.
constexpr int32_t kCurves[] = {23, 24, 25, 29, 4587, 4588, 4589};

}  // namespace

bool IsInsecureCipherSuite(std::string_view name) {
  return std::ranges::find(kInsecure, name) != std::end(kInsecure);
}

bool IsCipherSuite(std::string_view name) {
  return std::ranges::find(kSecure, name) != std::end(kSecure) || IsInsecureCipherSuite(name);
}

std::string CipherSuiteList() {
  std::string list;
  for (const std::string_view name : kSecure) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

bool IsCurve(int32_t id) { return std::ranges::find(kCurves, id) != std::end(kCurves); }

std::string CurveList() {
  std::string list;
  for (const int32_t id : kCurves) list.append(list.empty() ? "" : ", ").append(std::to_string(id));
  return list;
}

}  // namespace denselet::app
