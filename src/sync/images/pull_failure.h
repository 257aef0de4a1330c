// Why an image could not be pulled, in upstream's words.
#pragma once

#include <string>
#include <vector>

namespace denselet::sync {

struct PullFailure {
  std::string reason = {};   // of the waiting container
  std::string message = {};  // the same's
  std::string error = {};    // as events tell it
};

// `error`: what the runtime answered to the wish for `image`. Its first word can name a reason.
PullFailure FailureOfPull(const std::string& image, std::string error);

// What the runtime answered to one try after the other: each answer once, in brackets where they
// are several.
std::string JoinPullErrors(std::vector<std::string> errors);

}  // namespace denselet::sync
