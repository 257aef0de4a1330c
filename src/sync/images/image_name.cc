#include "sync/images/image_name.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {
namespace {

constexpr std::string_view kDocker = "docker.io";

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsWord(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z') || c == '_'; }

// Letters and digits, joined by one '.', one or two '_', or any number of '-'.
bool IsPathComponent(std::string_view part) {
  if (part.empty() || !IsLower(part.front()) || !IsLower(part.back())) return false;
  for (size_t i = 0; i < part.size();) {
    if (IsLower(part[i])) {
      ++i;
      continue;
    }
    const char separator = part[i];
    size_t end = i;
    while (end < part.size() && part[end] == separator) ++end;
    const size_t length = end - i;
    const bool fine =
        (separator == '.' && length == 1) || (separator == '_' && length <= 2) || separator == '-';
    if (!fine || end == part.size() || !IsLower(part[end])) return false;
    i = end;
  }
  return true;
}

bool IsDomain(std::string_view part) {
  const auto allowed = [](char c) {
    return IsWord(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  };
  return !part.empty() && std::ranges::all_of(part, allowed) && part.front() != '-' &&
         part.find('_') == part.npos;
}

bool IsTag(std::string_view tag) {
  const auto allowed = [](char c) { return IsWord(c) || c == '.' || c == '-'; };
  return !tag.empty() && tag.size() <= 128 && IsWord(tag.front()) &&
         std::ranges::all_of(tag, allowed);
}

bool IsDigest(std::string_view digest) {
  const size_t colon = digest.find(':');
  if (colon == digest.npos || colon == 0) return false;
  const std::string_view hex = digest.substr(colon + 1);
  const auto is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  return hex.size() >= 32 && std::ranges::all_of(hex, is_hex);
}

bool IsRepository(std::string_view name) {
  if (name.empty() || name.size() > 255) return false;
  size_t begin = 0;
  const size_t slash = name.find('/');
  if (slash != name.npos) {
    const std::string_view first = name.substr(0, slash);
    const bool names_host = first.find_first_of(".:") != first.npos || first == "localhost" ||
                            std::ranges::any_of(first, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (names_host) {
      if (!IsDomain(first)) return false;
      begin = slash + 1;
    }
  }
  while (true) {
    const size_t end = name.find('/', begin);
    if (!IsPathComponent(name.substr(begin, end == name.npos ? end : end - begin))) return false;
    if (end == name.npos) return true;
    begin = end + 1;
  }
}

bool HasUpper(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Registry and name within it, as Docker completes both.
std::pair<std::string, std::string> SplitDomain(std::string_view image) {
  const size_t slash = image.find('/');
  const std::string_view first = image.substr(0, slash);
  const bool names_host = slash != image.npos && (first.find_first_of(".:") != first.npos ||
                                                  first == "localhost" || HasUpper(first));
  std::string domain(names_host ? first : kDocker);
  std::string remote(names_host ? image.substr(slash + 1) : image);
  if (domain == "index.docker.io") domain = kDocker;
  if (domain == kDocker && remote.find('/') == remote.npos) remote = "library/" + remote;
  return {std::move(domain), std::move(remote)};
}

// The name within its registry; what follows a ':' is left out.
std::string RemoteName(std::string_view image) {
  const std::string remote = SplitDomain(image).second;
  return remote.substr(0, remote.find(':'));
}

}  // namespace

Result<std::string> WithDefaultTag(std::string_view image) {
  std::string why = "invalid reference format";
  if (const std::string remote = RemoteName(image); HasUpper(remote)) {
    why += ": repository name (" + remote + ") must be lowercase";
  }
  const Error invalid(ErrorCode::kInvalid,
                      "couldn't parse image name \"" + std::string(image) + "\": " + why);
  std::string_view name = image;
  bool is_exact = false;
  if (const size_t at = name.find('@'); at != name.npos) {
    if (!IsDigest(name.substr(at + 1))) return invalid;
    name = name.substr(0, at);
    is_exact = true;
  }
  const size_t colon = name.rfind(':');
  if (colon != name.npos && name.find('/', colon) == name.npos) {
    if (!IsTag(name.substr(colon + 1))) return invalid;
    name = name.substr(0, colon);
    is_exact = true;
  }
  if (!IsRepository(name)) return invalid;
  return is_exact ? std::string(image) : std::string(image) + ":latest";
}

Result<std::string> RepositoryOf(std::string_view image) {
  if (const Result<std::string> valid = WithDefaultTag(image); !valid) return valid.error();
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':');
  if (colon != image.npos && image.find('/', colon) == image.npos) image = image.substr(0, colon);
  const auto [domain, remote] = SplitDomain(image);
  return domain + "/" + remote;
}

}  // namespace denselet::sync
