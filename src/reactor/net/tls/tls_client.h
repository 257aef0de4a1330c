// What TLS connections to servers have in common: whom to trust, who we are, what we speak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace denselet::net {

enum class TlsVersion : uint8_t { k12, k13 };

enum class TlsVerification : uint8_t {
  kFull,  // the server's certificate, its chain and its name
  kNone,  // any certificate will do: probes, insecure-skip-tls-verify
};

struct TlsClientOptions {
  // Certificates in PEM; all of them are trusted, also those that are no roots. Empty: the system's
  // store, which Make then reads from the disk.
  std::string authorities = {};
  // PEM: our certificate, then those that lead to an authority. Empty: we have none. The server may
  // refuse one that has expired; whether to use it at all is the caller's decision
  // (client_certificate_not_after).
  std::string certificate = {};
  std::string key = {};  // PEM, not encrypted
  TlsVersion version_min = TlsVersion::k12;
  std::vector<std::string> protocols = {};  // ALPN, the preferred one first; "h2", "http/1.1"
  TlsVerification verification = TlsVerification::kFull;
  // Of a handshake, also when the context allows more.
  Duration handshake_time_max = Seconds(10);
  // Server names whose sessions are kept for a shorter handshake. When full, the one that was not
  // used for the longest time goes.
  size_t sessions_max = 64;
};

struct TlsSettings;

// Lives on one shard and outlives the start of its connections, not the connections themselves.
class TlsClient {
 public:
  // The most that any one text of PEM may have. More is refused: it is no bundle of certificates.
  static constexpr size_t kPemBytesMax = 4 << 20;

  // kInvalid with words that name what is wrong: "client certificate: not PEM".
  static Result<TlsClient> Make(const TlsClientOptions& options);

  // Certificates were renewed. Connections that are up go on with the old ones; new ones use the
  // new, and no session of the old. After an error the old ones stay in use.
  Status Replace(const TlsClientOptions& options);

  // Until when our certificate is valid; nothing when we have none.
  std::optional<WallTime> client_certificate_not_after() const;

  // For TlsConnect. Shared, because connections outlive a Replace.
  const std::shared_ptr<TlsSettings>& settings() const { return settings_; }

 private:
  explicit TlsClient(std::shared_ptr<TlsSettings> settings) : settings_(std::move(settings)) {}

  std::shared_ptr<TlsSettings> settings_;
};

}  // namespace denselet::net
