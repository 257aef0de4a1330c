// How certificates and OpenSSL's complaints read in messages for operators. What stands in a
// peer's certificate is the peer's choice: it is escaped and cut.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

struct asn1_string_st;
struct x509_st;

namespace denselet::net {

// In quotes, control characters escaped, no longer than a line bears.
std::string Quoted(std::string_view text);
// "CN=kube-apiserver,O=example", quoted.
std::string Subject(const x509_st* certificate);
std::string Issuer(const x509_st* certificate);
// The names and addresses that it is for: "a.example", "10.0.0.1" and 3 more; empty when none.
std::string ServerNames(const x509_st* certificate);

// Nothing when the certificate holds no readable time.
std::optional<WallTime> ToWallTime(const asn1_string_st* time);

// What the newest entry of OpenSSL's error queue says; empties the queue.
std::string LastReason();

}  // namespace denselet::net
