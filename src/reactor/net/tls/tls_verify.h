// Is this server the one we wanted? The certificate is checked by OpenSSL, at the time of the loop
// and for the name we asked for; this adds words that say what was wrong with it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

struct ssl_st;
struct x509_store_ctx_st;

namespace denselet::net {

enum class ServerNameKind : unsigned char { kNone, kDns, kIp };

// A DNS name ("a.example") or an address without brackets; kInvalid for what cannot be compared
// with a certificate's names.
Result<ServerNameKind> ClassifyServerName(std::string_view name);

// Makes the connection ask for this name and accept certificates only for it, valid at `now`. Of an
// address nothing is sent to the server, as RFC 6066 wants it.
Status ExpectServer(ssl_st* ssl, const std::string& name, ServerNameKind kind, WallTime now);

// After a check that failed: what is wrong, in words, with names and dates.
std::string DescribeRefusal(x509_store_ctx_st* check, std::string_view name, WallTime now);

}  // namespace denselet::net
