// Why an image could not be pulled, in upstream's words.
#pragma once

#include <string>

namespace denselet::sync {

struct PullFailure {
  std::string reason = {};   // of the waiting container
  std::string message = {};  // the same's
  std::string error = {};    // as events tell it
};

// `error`: what the runtime answered to the wish for `image`. Its first word can name a reason.
PullFailure FailureOfPull(const std::string& image, std::string error);

}  // namespace denselet::sync
