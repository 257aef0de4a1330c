// The handshake: makes a TLS stream out of another one.
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/stream.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_stream.h"

namespace denselet::net {

// `below` is connected and has no user yet. `server_name` is what the server's certificate must be
// for: a DNS name or an IP address (without brackets); it may be empty only when nothing is
// verified. Answers once, later. After an error nothing is left of the connection; the server was
// told why, if it listened. Errors:
//   kPermission        the server's certificate was refused, or the server refused ours
//   kUnsupported       no common version, cipher or protocol
//   kCorrupt           the server does not speak TLS, or breaks its rules; with answered() it
//                      speaks plain HTTP
//   kUnavailable       the server went away, or the stream below broke (which may have other codes)
//   kDeadlineExceeded  the handshake took longer than the context or handshake_time_max allow
//   kCancelled         as it says
//   kInvalid           a server name that none can be
void TlsConnect(reactor::Loop& loop, const Context& context, std::unique_ptr<Stream> below,
                TlsClient& client, std::string server_name,
                reactor::Done<std::unique_ptr<TlsStream>> done);

}  // namespace denselet::net
