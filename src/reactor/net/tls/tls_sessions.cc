#include "reactor/net/tls/tls_sessions.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "reactor/net/tls/tls_words.h"

namespace denselet::net {
namespace {

bool MayBeUsed(const SSL_SESSION* session, WallTime now) {
  // Not resumable: a connection that used it was broken by an error.
  if (SSL_SESSION_is_resumable(session) != 1) return false;
  X509* const certificate = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  if (certificate == nullptr) return false;
  const auto not_after = ToWallTime(X509_get0_notAfter(certificate));
  const auto not_before = ToWallTime(X509_get0_notBefore(certificate));
  return not_after && not_before && now <= *not_after && now >= *not_before;
}

}  // namespace

std::list<TlsSessions::Entry>::iterator TlsSessions::Locate(std::string_view server_name) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.server_name == server_name; });
}

void TlsSessions::Put(std::string_view server_name, SslSessionPtr session) {
  if (names_max_ == 0) return;
  const auto entry = Locate(server_name);
  if (entry != entries_.end()) {
    entry->session = std::move(session);
    entries_.splice(entries_.begin(), entries_, entry);
    return;
  }
  if (entries_.size() == names_max_) entries_.pop_back();
  entries_.push_front({std::string(server_name), std::move(session)});
}

ssl_session_st* TlsSessions::Find(std::string_view server_name, WallTime now) {
  const auto entry = Locate(server_name);
  if (entry == entries_.end()) return nullptr;
  if (!MayBeUsed(entry->session.get(), now)) {
    entries_.erase(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->session.get();
}

}  // namespace denselet::net
