// Why a TLS connection ended, from what OpenSSL left in its error queue.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace denselet::net {

// What is known beside the queue.
struct TlsFailureFacts {
  bool handshaking = false;
  std::string_view first_bytes;  // of what the server sent
  std::string refusal;  // why its certificate was not accepted; empty: it was, or none came
};

// Empties the queue. The codes:
//   kPermission   the server is not who it should be, or does not accept who we are
//   kUnsupported  there is no version, cipher or protocol that both sides want; answered(): the
//                 server takes none of the application protocols that we offer (ALPN)
//   kUnavailable  the server had trouble of its own
//   kCorrupt      what came is not TLS, or was damaged on its way; answered(): it is plain HTTP
Error TakeTlsFailure(const TlsFailureFacts& facts);

}  // namespace denselet::net
