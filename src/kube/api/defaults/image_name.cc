#include "kube/api/defaults/image_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace denselet::kube {
namespace {

// Where names of one word are looked for; it counts in the size of the path.
constexpr std::string_view kOfficialFolder = "library/";
constexpr size_t kPathSizeMax = 255;
constexpr size_t kTagSizeMax = 128;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLowerAlphanumeric(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlphanumeric(char c) { return IsLowerAlphanumeric(c) || IsUpper(c); }
bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsHex(char c) { return IsLowerHex(c) || (c >= 'A' && c <= 'F'); }
bool IsWordCharacter(char c) { return IsAlphanumeric(c) || c == '_'; }
bool HasUpper(std::string_view text) { return std::ranges::any_of(text, IsUpper); }

// Calls `good` with each part of `text` between separators; all must be good.
template <class Good>
bool AllParts(std::string_view text, char separator, Good good) {
  while (true) {
    const size_t end = text.find(separator);
    if (!good(text.substr(0, end))) return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
}

// Words of lower-case letters and digits; between two of them one '.', one or two '_', or dashes.
bool IsPathComponent(std::string_view text) {
  size_t at = 0;
  const auto take = [&](auto good) {
    const size_t begin = at;
    while (at < text.size() && good(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  while (true) {
    if (take(IsLowerAlphanumeric).empty()) return false;
    if (at == text.size()) return true;
    const std::string_view between = take([](char c) { return !IsLowerAlphanumeric(c); });
    const bool dashes = between.find_first_not_of('-') == between.npos;
    if (!dashes && between != "." && between != "_" && between != "__") return false;
  }
}

bool IsPath(std::string_view text) { return AllParts(text, '/', IsPathComponent); }

bool IsHostLabel(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsAlphanumeric(c) || c == '-'; });
}

bool IsHost(std::string_view text) {
  if (!text.starts_with('[')) return AllParts(text, '.', IsHostLabel);
  return text.size() > 2 && text.ends_with(']') &&
         std::ranges::all_of(text.substr(1, text.size() - 2),
                             [](char c) { return IsHex(c) || c == ':'; });
}

bool IsDomain(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  if (colon == text.npos) return IsHost(text);
  const std::string_view port = text.substr(colon + 1);
  return IsHost(text.substr(0, colon)) && !port.empty() && std::ranges::all_of(port, IsDigit);
}

bool IsTag(std::string_view text) {
  return !text.empty() && text.size() <= kTagSizeMax && IsWordCharacter(text.front()) &&
         std::ranges::all_of(text,
                             [](char c) { return IsWordCharacter(c) || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, size_t>, 3> kAlgorithms = {
      {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}}};
  for (const auto& [prefix, size] : kAlgorithms) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    return text.size() == size && std::ranges::all_of(text, IsLowerHex);
  }
  return false;
}

// The domain, if the first component is one, and what follows.
std::pair<std::string, std::string> SplitDomain(std::string_view image) {
  const size_t slash = image.find('/');
  if (slash == image.npos) return {"", std::string(kOfficialFolder).append(image)};
  const std::string_view first = image.substr(0, slash);
  const bool is_domain =
      first == "localhost" || first.find_first_of(".:") != first.npos || HasUpper(first);
  if (!is_domain) return {"", std::string(image)};
  return {std::string(first), std::string(image.substr(slash + 1))};
}

// A first component that is no domain may still be one of a path.
bool IsRepository(const std::string& domain, std::string_view path) {
  if (!IsPath(path)) return false;
  if (domain.empty() || IsDomain(domain)) return path.size() <= kPathSizeMax;
  return IsPathComponent(domain) && domain.size() + 1 + path.size() <= kPathSizeMax;
}

}  // namespace

std::optional<ImageName> ParseImageName(std::string_view image) {
  constexpr size_t kIdentifierSize = 64;
  if (image.size() == kIdentifierSize && std::ranges::all_of(image, IsLowerHex)) {
    return std::nullopt;
  }
  const auto [domain, remainder] = SplitDomain(image);
  std::string_view path = remainder;
  if (HasUpper(path.substr(0, path.find(':')))) return std::nullopt;

  ImageName name;
  if (const size_t at = path.find('@'); at != path.npos) {
    name.digest = path.substr(at + 1);
    path = path.substr(0, at);
    if (!IsDigest(name.digest)) return std::nullopt;
  }
  const size_t colon = path.rfind(':');
  if (colon != path.npos && path.find('/', colon) == path.npos) {
    name.tag = path.substr(colon + 1);
    path = path.substr(0, colon);
    if (!IsTag(name.tag)) return std::nullopt;
  }
  if (!IsRepository(domain, path)) return std::nullopt;
  if (name.tag.empty() && name.digest.empty()) name.tag = "latest";
  return name;
}

}  // namespace denselet::kube
