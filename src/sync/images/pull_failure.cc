#include "sync/images/pull_failure.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace denselet::sync {
namespace {

struct KnownReason {
  std::string_view reason;
  std::string_view what;
};
constexpr KnownReason kKnown[] = {
    {"RegistryUnavailable", "the registry is unavailable"},
    {"SignatureValidationFailed", "the signature validation failed"},
};

// The one code that tells nothing is not told.
void StripUnknown(std::string& error) {
  constexpr std::string_view kUnknown = "rpc error: code = Unknown desc = ";
  if (error.starts_with(kUnknown)) error.erase(0, kUnknown.size());
}

}  // namespace

std::string JoinPullErrors(std::vector<std::string> errors) {
  std::vector<std::string> told;
  for (std::string& error : errors) {
    StripUnknown(error);
    if (std::ranges::find(told, error) == told.end()) told.push_back(std::move(error));
  }
  if (told.size() == 1) return told.front();
  std::string all;
  for (const std::string& error : told) all += (all.empty() ? "[" : ", ") + error;
  return all + "]";
}

PullFailure FailureOfPull(const std::string& image, std::string error) {
  StripUnknown(error);
  for (const KnownReason& known : kKnown) {
    if (!error.starts_with(known.reason)) continue;
    std::string message = "image pull failed for " + image + " because ";
    message.append(known.what).append(error, known.reason.size());
    return {std::string(known.reason), std::move(message), std::move(error)};
  }
  return {"ErrImagePull", error, error};
}

}  // namespace denselet::sync
