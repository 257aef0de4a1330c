#include "sync/images/pull_failure.h"

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

}  // namespace

PullFailure FailureOfPull(const std::string& image, std::string error) {
  // The one code that tells nothing.
  constexpr std::string_view kUnknown = "rpc error: code = Unknown desc = ";
  if (error.starts_with(kUnknown)) error.erase(0, kUnknown.size());
  for (const KnownReason& known : kKnown) {
    if (!error.starts_with(known.reason)) continue;
    std::string message = "image pull failed for " + image + " because ";
    message.append(known.what).append(error, known.reason.size());
    return {std::string(known.reason), std::move(message), std::move(error)};
  }
  return {"ErrImagePull", error, error};
}

}  // namespace denselet::sync
