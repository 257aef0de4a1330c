// The URL that manifests are fetched from, in its parts.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::managers {

struct ManifestUrl {
  bool secure = false;  // https
  std::string host;     // without brackets
  uint16_t port = 80;
  std::string target;     // path and query, without the fragment
  std::string user_info;  // "user:password", decoded; empty: none

  // As the Host header says it: without the port that the scheme has anyway.
  std::string Authority() const;

  friend bool operator==(const ManifestUrl&, const ManifestUrl&) = default;
};

// kInvalid: not an http or https URL with a host.
Result<ManifestUrl> ParseManifestUrl(std::string_view url);

// Where a redirect leads: a whole URL, or "//host/path", "/path", "path" or "?query" seen from
// `base`.
Result<ManifestUrl> FollowLocation(const ManifestUrl& base, std::string_view location);

}  // namespace denselet::managers
