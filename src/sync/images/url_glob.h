// A host and a path, as credentials and images name them, without a scheme; the parts of the host's
// name may be patterns. Read as Go's net/url reads them.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace denselet::sync {

struct UrlGlob {
  std::string host = {};  // with its port
  std::string path = {};  // empty, or from the first slash on, unescaped

  // Nothing: it is no URL.
  static std::optional<UrlGlob> Parse(std::string_view text);

  // The same port, as many parts of the host's name, each of them as the pattern says, and a path
  // that begins with this one.
  bool Matches(const UrlGlob& target) const;
};

// '*' is any text. What else Go's patterns have cannot stand in the name of a host.
bool MatchesPattern(std::string_view pattern, std::string_view text);

}  // namespace denselet::sync
