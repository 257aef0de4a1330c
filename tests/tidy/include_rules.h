#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/violation.h"

namespace denselet::tidy {

// A header that a folder must never see, and the word of the table that says so.
struct ForbiddenHeader {
  std::string word;     // "gRPC", "no threads", "cri"
  std::string pattern;  // "grpcpp/" (all below), "*.grpc.pb.h" (all that end so), "liburing.h"
};

// One folder of the table "folder | may include | must never see".
struct IncludeRule {
  std::string folder;  // "sync/ports"; "managers/*" is each folder below managers/, one by one
  std::vector<std::string> may_include;  // with all below them; the folder itself is understood
  bool may_include_all = false;
  std::vector<ForbiddenHeader> never;
  std::string row;  // as written, for messages
};

// Reads the table out of a markdown page. What the page says and nobody could enforce (an unknown
// folder, a word without headers, a contradiction) becomes a problem, so that the table never
// promises more than is checked.
std::vector<IncludeRule> ParseIncludeTable(std::string_view markdown,
                                           std::vector<std::string>* problems);

// Checks the #include lines of one file against the most specific rule for its folder. `path` is
// relative to the root of the repository ("src/sync/pleg.cc"), project includes are relative to
// src/ ("sync/pleg.h").
std::vector<Violation> CheckIncludes(const std::vector<IncludeRule>& rules, std::string_view path,
                                     std::string_view text);

}  // namespace denselet::tidy
