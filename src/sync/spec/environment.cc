#include "sync/spec/environment.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "sync/spec/container_spec.h"

namespace denselet::sync {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

void Put(KeyValues& variables, const std::string& name, std::string value) {
  const auto at =
      std::ranges::lower_bound(variables, name, {}, [](const auto& e) { return e.first; });
  if (at != variables.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    variables.emplace(at, name, std::move(value));
  }
}

}  // namespace

Result<KeyValues> EnvironmentOf(const kube::core::Container& container) {
  if (container.envfrom_size() > 0) {
    return Error(ErrorCode::kUnsupported, "envFrom is not supported yet");
  }
  KeyValues variables;
  for (const auto& variable : container.env()) {
    if (variable.has_valuefrom()) {
      return Error(ErrorCode::kUnsupported, "valueFrom is not supported yet")
          .With("environment variable " + Quoted(variable.name(), kShownMax));
    }
    // A variable sees those before it.
    Put(variables, variable.name(), ExpandVariables(variable.value(), variables));
  }
  return variables;
}

}  // namespace denselet::sync
