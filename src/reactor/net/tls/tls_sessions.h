// Sessions of servers we have spoken to: with one, the next handshake is shorter and shows no
// certificates. The newest of each server name, bounded; the least recently used goes first.
//
// A session is offered as often as we connect, until there is a newer one. RFC 8446 wants tickets
// to be used once, so that onlookers cannot link connections; an agent's address links them anyway.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "base/time.h"
#include "reactor/net/tls/openssl_ptr.h"

namespace denselet::net {

class TlsSessions {
 public:
  explicit TlsSessions(size_t names_max) : names_max_(names_max) {}

  void Put(std::string_view server_name, SslSessionPtr session);
  // Null when there is none that may be used: a resumed session is not verified again, so one whose
  // server certificate is not valid at `now` is forgotten. Valid until the next call.
  ssl_session_st* Find(std::string_view server_name, WallTime now);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string server_name;
    SslSessionPtr session;
  };

  std::list<Entry>::iterator Locate(std::string_view server_name);

  size_t names_max_;
  std::list<Entry> entries_;  // the latest used first; few, so no index
};

}  // namespace denselet::net
