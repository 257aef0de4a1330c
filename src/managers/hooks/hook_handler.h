// A lifecycle hook as the pod's specification has it, in the form in which it is run.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "reactor/net/http/message.h"
#include "sync/ports/pod_services.h"

namespace denselet::managers {

struct ExecHook {
  std::vector<std::string> command = {};
};

struct HttpHook {
  bool secure = false;
  std::string host = {};  // a name or an address, without brackets
  uint16_t port = 0;
  net::HttpRequest request = {};
};

struct SleepHook {
  Duration time = {};
};

using HookHandler = std::variant<ExecHook, HttpHook, SleepHook>;

// kNotFound: the pod has no such container, or that has no such hook. kInvalid: a hook that nobody
// can run, in words for the pod's event.
Result<HookHandler> HandlerOf(const kube::core::Pod& pod, const std::string& container,
                              sync::HookKind kind, const std::vector<std::string>& pod_ips);

// What a failure of the hook is told with: upstream's words before the colon and the error.
std::string HookFailureTitle(const kube::core::Pod& pod, const std::string& container,
                             sync::HookKind kind);

}  // namespace denselet::managers
