#include "managers/hooks/hook_handler.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quoted.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

namespace core = kube::core;

const core::Container* FindContainer(const core::Pod& pod, const std::string& name) {
  for (const auto& container : pod.spec().containers()) {
    if (container.name() == name) return &container;
  }
  for (const auto& container : pod.spec().initcontainers()) {
    if (container.name() == name) return &container;
  }
  return nullptr;
}

Result<uint16_t> CheckedPort(int64_t port) {
  if (port < 1 || port > 65535) {
    return Error(ErrorCode::kInvalid, "invalid port number: " + std::to_string(port));
  }
  return static_cast<uint16_t>(port);
}

// A number, the name of one of the container's ports, or a number written as a text.
Result<uint16_t> PortOf(const kube::intstr::IntOrString& port, const core::Container& container) {
  constexpr int64_t kTypeText = 1;
  if (port.type() != kTypeText) return CheckedPort(port.intval());
  for (const auto& named : container.ports()) {
    if (named.name() == port.strval()) return CheckedPort(named.containerport());
  }
  int64_t number = 0;
  const std::string& text = port.strval();
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size()) return CheckedPort(number);
  return Error(ErrorCode::kInvalid, "the container has no port of that name")
      .With("port " + Quoted(text, kShownMax));
}

Result<HookHandler> HttpOf(const core::HTTPGetAction& action, const core::Container& container,
                           const std::vector<std::string>& pod_ips) {
  HttpHook hook;
  hook.secure = action.scheme() == "HTTPS";
  hook.host = action.host();
  if (hook.host.empty() && !pod_ips.empty()) hook.host = pod_ips.front();
  if (hook.host.empty()) {
    return Error(ErrorCode::kUnavailable, "failed to find networking container");
  }
  const Result<uint16_t> port = PortOf(action.port(), container);
  if (!port) return port.error();
  hook.port = *port;

  net::HttpRequest& request = hook.request;
  request.scheme = hook.secure ? "https" : "http";
  const bool is_v6 = hook.host.find(':') != std::string::npos;
  request.authority = (is_v6 ? "[" + hook.host + "]" : hook.host) + ":" + std::to_string(hook.port);
  request.target = action.path().starts_with('/') ? action.path() : "/" + action.path();
  for (const auto& header : action.httpheaders()) {
    if (net::EqualsIgnoringCase(header.name(), "Host")) {
      request.authority = header.value();
    } else {
      request.headers.Add(header.name(), header.value());
    }
  }
  if (request.headers.Find("User-Agent") == nullptr) {
    request.headers.Add("User-Agent", "kube-lifecycle/1.36");
  }
  if (request.headers.Find("Accept") == nullptr) request.headers.Add("Accept", "*/*");
  if (!net::IsAuthority(request.authority) || !net::IsRequestTarget(request.target)) {
    return Error(ErrorCode::kInvalid, "the hook's host or path cannot stand in a request");
  }
  for (const auto& [name, value] : request.headers.entries()) {
    if (!net::IsHeaderName(name) || !net::IsHeaderValue(value)) {
      return Error(ErrorCode::kInvalid, "a header of the hook cannot stand in a request")
          .With("header " + Quoted(name, kShownMax));
    }
  }
  return HookHandler(std::move(hook));
}

// Null: the pod has no such container, or that has no such hook.
const core::LifecycleHandler* FindHook(const core::Pod& pod, const std::string& container,
                                       sync::HookKind kind) {
  const core::Container* found = FindContainer(pod, container);
  if (found == nullptr) return nullptr;
  const core::Lifecycle& lifecycle = found->lifecycle();
  if (kind == sync::HookKind::kPostStart) {
    return lifecycle.has_poststart() ? &lifecycle.poststart() : nullptr;
  }
  return lifecycle.has_prestop() ? &lifecycle.prestop() : nullptr;
}

// Which kind, and what is run, in brackets.
std::string NameOf(const core::LifecycleHandler& handler) {
  if (handler.has_exec()) {
    std::string words;
    for (const std::string& word : handler.exec().command()) {
      words += (words.empty() ? "" : " ") + word;
    }
    return "Exec lifecycle hook ([" + words + "])";
  }
  if (handler.has_httpget()) return "HTTP lifecycle hook (" + handler.httpget().path() + ")";
  if (handler.has_sleep()) {
    return "Sleep lifecycle hook (" + std::to_string(handler.sleep().seconds()) + ")";
  }
  return "";
}

}  // namespace

Result<HookHandler> HandlerOf(const core::Pod& pod, const std::string& container,
                              sync::HookKind kind, const std::vector<std::string>& pod_ips) {
  const core::LifecycleHandler* const handler = FindHook(pod, container, kind);
  if (handler == nullptr) {
    return Error(ErrorCode::kNotFound, "the pod has no such hook")
        .With("container " + Quoted(container, kShownMax));
  }
  if (handler->has_exec()) {
    const auto& command = handler->exec().command();
    return HookHandler(ExecHook{{command.begin(), command.end()}});
  }
  if (handler->has_httpget()) {
    return HttpOf(handler->httpget(), *FindContainer(pod, container), pod_ips);
  }
  if (handler->has_sleep()) return HookHandler(SleepHook{Seconds(handler->sleep().seconds())});
  return Error(ErrorCode::kInvalid, "invalid handler: neither exec, httpGet nor sleep");
}

std::string HookFailureTitle(const core::Pod& pod, const std::string& container,
                             sync::HookKind kind) {
  const core::LifecycleHandler* const handler = FindHook(pod, container, kind);
  const std::string name = handler == nullptr ? "" : NameOf(*handler);
  if (name.empty()) return "Cannot run handler";
  const auto& metadata = pod.metadata();
  return name + " for Container \"" + container + "\" in Pod \"" + metadata.name() + "_" +
         metadata.namespace_() + "(" + metadata.uid() + ")\" failed - error";
}

}  // namespace denselet::managers
