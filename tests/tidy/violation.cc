#include "tests/tidy/violation.h"

#include <array>
#include <cstddef>

#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

// Prose may speak of the marker; only a comment that starts with it counts.
bool FollowsCommentOpener(std::string_view before) {
  constexpr std::array<std::string_view, 3> kOpeners = {"//", "#", "<!--"};
  before = Trim(before);
  for (const std::string_view opener : kOpeners) {
    if (before.ends_with(opener)) return true;
  }
  return false;
}

std::string WithoutCommentCloser(std::string_view reason) {
  constexpr std::string_view kCloser = "-->";
  if (reason.ends_with(kCloser)) reason.remove_suffix(kCloser.size());
  return std::string(Trim(reason));
}

}  // namespace

std::string Report(const std::vector<Violation>& violations) {
  std::string report;
  for (const Violation& v : violations) {
    report += v.file + ":" + std::to_string(v.line) + ": " + v.message + "\n";
  }
  return report;
}

std::optional<Allowance> FindAllowance(std::string_view line) {
  constexpr std::string_view kMarker = "tidy: allow";
  constexpr std::string_view kBecause = "because";
  const size_t at = line.find(kMarker);
  if (at == std::string_view::npos || !FollowsCommentOpener(line.substr(0, at))) return {};

  const std::string_view rest = Trim(line.substr(at + kMarker.size()));
  const std::string_view what = rest.substr(0, rest.find(' '));
  std::string_view reason = Trim(rest.substr(what.size()));
  if (!reason.starts_with(kBecause)) return Allowance{std::string(what), ""};
  reason.remove_prefix(kBecause.size());
  return Allowance{std::string(what), WithoutCommentCloser(reason)};
}

}  // namespace denselet::tidy
