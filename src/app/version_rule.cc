#include "app/version_rule.h"

#include <algorithm>
#include <string>
#include <vector>

namespace denselet::app {
namespace {

std::string InQuotes(std::string_view text) { return '"' + std::string(text) + '"'; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error Bad(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

struct Version {
  std::string_view numbers;  // "1.36.3"
  std::string_view extra;    // "-rc.1+build"
};

// Identifiers of letters, digits and dashes with dots between, from `at` on.
bool SkipIdentifiers(std::string_view text, size_t& at) {
  while (true) {
    const size_t begin = at;
    while (at < text.size() &&
           (IsDigit(text[at]) || text[at] == '-' || (text[at] >= 'A' && text[at] <= 'Z') ||
            (text[at] >= 'a' && text[at] <= 'z'))) {
      ++at;
    }
    if (at == begin) return false;
    if (at == text.size() || text[at] != '.') return true;
    ++at;
  }
}

// White space at the end does no harm.
bool IsExtra(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\n\f\r") + 1);
  size_t at = 0;
  for (const char kind : {'-', '+'}) {
    if (at < text.size() && text[at] == kind && !SkipIdentifiers(text, ++at)) return false;
  }
  return at == text.size();
}

bool IsZeroPrefixed(std::string_view number) { return number.size() > 1 && number[0] == '0'; }

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status CheckParts(std::string_view text, std::string_view all) {
  for (const std::string_view part : Parts(text)) {
    if (IsZeroPrefixed(part) && std::ranges::all_of(part, IsDigit)) {
      return Bad("illegal zero-prefixed version component " + InQuotes(part) + " in " +
                 InQuotes(all));
    }
  }
  return Ok();
}

Result<Version> Parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('v')) rest.remove_prefix(1);
  size_t end = 0;
  while (end < rest.size() && IsDigit(rest[end])) {
    while (end < rest.size() && IsDigit(rest[end])) ++end;
    if (end + 1 < rest.size() && rest[end] == '.' && IsDigit(rest[end + 1])) ++end;
  }
  if (end == 0) return Bad("could not parse " + InQuotes(text) + " as version");
  const Version version{rest.substr(0, end), rest.substr(end)};
  if (Parts(version.numbers).size() != 3) {
    return Bad("illegal version string " + InQuotes(text));
  }
  if (Status status = CheckParts(version.numbers, text); !status) return status.error();
  if (!IsExtra(version.extra)) {
    return Bad("could not parse pre-release/metadata (" + std::string(version.extra) +
               ") in version " + InQuotes(text));
  }
  if (version.extra.starts_with('-')) {
    const std::string_view release = version.extra.substr(1, version.extra.find('+') - 1);
    if (Status status = CheckParts(release, text); !status) return status.error();
  }
  return version;
}

}  // namespace

Status CheckReportedVersion(std::string_view wanted, std::string_view actual) {
  const Result<Version> version = Parse(wanted);
  if (!version) return version.error();
  const Result<Version> base = Parse(actual);
  if (!base) return base.error();
  if (version->numbers == base->numbers) return Ok();
  return Bad("version " + InQuotes(wanted) + " must match major/minor/patch of default version " +
             InQuotes(actual));
}

}  // namespace denselet::app
