// Certificates made when a test needs them: good ones, and wrong in every way a client must notice.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "reactor/net/tls/openssl_ptr.h"

namespace denselet::net {

// A certificate with its key; `pem` is the certificate alone.
struct Identity {
  std::string pem;
  std::string key_pem;
  X509Ptr certificate;
  KeyPtr key;
};

struct CertificateSpec {
  std::string common_name = "server";
  std::vector<std::string> names = {};  // as OpenSSL writes them: "DNS:a.example", "IP:127.0.0.1"
  WallTime not_before = WallTime(Hours(24 * 365 * 50));  // about 2019
  WallTime not_after = WallTime(Hours(24 * 365 * 100));  // about 2069
  bool authority = false;
};

// Signed by `issuer`, or by itself when there is none.
Identity MakeIdentity(const CertificateSpec& spec, const Identity* issuer = nullptr);
Identity MakeAuthority(const std::string& common_name);
// Its key behind a password.
std::string EncryptedKey(const Identity& identity);
// "DNS:localhost" and "IP:127.0.0.1".
Identity MakeServer(const Identity& authority);

}  // namespace denselet::net
