#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace denselet::tidy {

// What a word of the table's column "must never see" means in headers. The patterns are those of
// ForbiddenHeader.
struct HeaderTopic {
  std::string_view word;
  std::vector<std::string_view> headers;
};

// Libraries from outside. "anything else" and "all else" forbid each of them.
std::span<const HeaderTopic> Libraries();

// Concerns that are wider than one library: "no threads", "Kubernetes", "sockets".
std::span<const HeaderTopic> Concerns();

// Headers generated at build time, and the folder that stands for them: who may include the folder
// may include them.
struct GeneratedHeaders {
  std::string_view prefix;
  std::string_view folder;
};

// The first prefix that fits counts.
std::span<const GeneratedHeaders> Generated();

bool MatchesHeader(std::string_view pattern, std::string_view header);

}  // namespace denselet::tidy
