// Certificates and keys from PEM text, as operators hand them in: with words for what is wrong.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "reactor/net/tls/openssl_ptr.h"

namespace denselet::net {

// At least one; other blocks between them (keys, parameters) are passed over. kInvalid.
Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem);
// The first private key in it. kInvalid.
Result<KeyPtr> ReadKey(std::string_view pem);

}  // namespace denselet::net
