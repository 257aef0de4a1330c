#include "kube/api/validation/probes.h"

namespace denselet::kube {
namespace {

const Words kLinuxSignals = {
    "SIGABRT",     "SIGALRM",     "SIGBUS",      "SIGCHLD",     "SIGCLD",      "SIGCONT",
    "SIGFPE",      "SIGHUP",      "SIGILL",      "SIGINT",      "SIGIO",       "SIGIOT",
    "SIGKILL",     "SIGPIPE",     "SIGPOLL",     "SIGPROF",     "SIGPWR",      "SIGQUIT",
    "SIGRTMAX",    "SIGRTMAX-1",  "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
    "SIGRTMAX-14", "SIGRTMAX-2",  "SIGRTMAX-3",  "SIGRTMAX-4",  "SIGRTMAX-5",  "SIGRTMAX-6",
    "SIGRTMAX-7",  "SIGRTMAX-8",  "SIGRTMAX-9",  "SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+10",
    "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
    "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",
    "SIGRTMIN+9",  "SIGSEGV",     "SIGSTKFLT",   "SIGSTOP",     "SIGSYS",      "SIGTERM",
    "SIGTRAP",     "SIGTSTP",     "SIGTTIN",     "SIGTTOU",     "SIGURG",      "SIGUSR1",
    "SIGUSR2",     "SIGVTALRM",   "SIGWINCH",    "SIGXCPU",     "SIGXFSZ"};

void ValidatePort(const intstr::IntOrString& port, const FieldPath& path, FaultList& out) {
  constexpr int64_t kText = 1;
  if (port.type() == kText) {
    out.Invalid(path, port.strval(), CheckPortName(port.strval()));
  } else {
    out.Invalid(path, port.intval(), CheckPortNumber(port.intval()));
  }
}

void ValidateHttpGet(const core::HTTPGetAction& get, const FieldPath& path, FaultList& out) {
  if (get.path().empty()) out.Required(path / "path");
  ValidatePort(get.port(), path / "port", out);
  CheckSupported(path / "scheme", get.scheme(), {"HTTP", "HTTPS"}, out);
  for (const auto& header : get.httpheaders()) {
    out.Invalid(path / "httpHeaders", header.name(), CheckHttpHeaderName(header.name()));
  }
}

// Counts the actions of a handler: only the first is looked into.
class HandlerCheck {
 public:
  HandlerCheck(const FieldPath& path, FaultList& out) : path_(path), out_(out) {}

  template <class Check>
  void Action(std::string_view name, bool set, Check check) {
    if (!set) return;
    if (found_) return out_.Forbidden(path_ / name, "may not specify more than 1 handler type");
    found_ = true;
    check(path_ / name);
  }

  void RequireOne() {
    if (!found_) out_.Required(path_, "must specify a handler type");
  }

 private:
  const FieldPath& path_;
  FaultList& out_;
  bool found_ = false;
};

template <class Handler>
void ValidateCommonActions(const Handler& handler, HandlerCheck& check, FaultList& out) {
  check.Action("exec", handler.has_exec(), [&](const FieldPath& path) {
    if (handler.exec().command().empty()) out.Required(path / "command");
  });
  check.Action("httpGet", handler.has_httpget(),
               [&](const FieldPath& path) { ValidateHttpGet(handler.httpget(), path, out); });
  check.Action("tcpSocket", handler.has_tcpsocket(), [&](const FieldPath& path) {
    ValidatePort(handler.tcpsocket().port(), path / "port", out);
  });
}

void ValidateHook(const core::LifecycleHandler& handler, const core::PodSpec& spec,
                  const FieldPath& path, FaultList& out) {
  HandlerCheck check(path, out);
  ValidateCommonActions(handler, check, out);
  check.Action("sleep", handler.has_sleep(), [&](const FieldPath& sleep_path) {
    const int64_t seconds = handler.sleep().seconds();
    const int64_t grace = spec.terminationgraceperiodseconds();
    if (!spec.has_terminationgraceperiodseconds() || (seconds >= 0 && seconds <= grace)) return;
    out.Invalid(sleep_path, seconds,
                "must be non-negative and less than terminationGracePeriodSeconds (" +
                    std::to_string(grace) + ")");
  });
  check.RequireOne();
}

void ValidateStopSignal(const std::string& signal, const core::PodSpec& spec, const FieldPath& path,
                        FaultList& out) {
  if (!spec.has_os()) {
    out.Forbidden(path, "may not be set for containers with empty `spec.os.name`");
  } else if (spec.os().name() == "windows") {
    CheckSupported(path, signal, {"SIGKILL", "SIGTERM"}, out);
  } else if (spec.os().name() == "linux") {
    CheckSupported(path, signal, kLinuxSignals, out);
  }
}

void ValidateLifecycle(const core::Lifecycle& lifecycle, const core::PodSpec& spec,
                       const FieldPath& path, FaultList& out) {
  if (lifecycle.has_poststart()) ValidateHook(lifecycle.poststart(), spec, path / "postStart", out);
  if (lifecycle.has_prestop()) ValidateHook(lifecycle.prestop(), spec, path / "preStop", out);
  if (lifecycle.has_stopsignal()) {
    ValidateStopSignal(lifecycle.stopsignal(), spec, path / "stopSignal", out);
  }
}

void ValidateProbe(const core::Probe& probe, const FieldPath& path, FaultList& out) {
  const auto& handler = probe.handler();
  HandlerCheck check(path, out);
  ValidateCommonActions(handler, check, out);
  check.Action("grpc", handler.has_grpc(), [&](const FieldPath& grpc_path) {
    const int32_t port = handler.grpc().port();
    out.Invalid(grpc_path / "port", port, CheckPortNumber(port));
  });
  check.RequireOne();
  CheckNonnegative(path / "initialDelaySeconds", probe.initialdelayseconds(), out);
  CheckNonnegative(path / "timeoutSeconds", probe.timeoutseconds(), out);
  CheckNonnegative(path / "periodSeconds", probe.periodseconds(), out);
  CheckNonnegative(path / "successThreshold", probe.successthreshold(), out);
  CheckNonnegative(path / "failureThreshold", probe.failurethreshold(), out);
  if (probe.has_terminationgraceperiodseconds() && probe.terminationgraceperiodseconds() <= 0) {
    out.Invalid(path / "terminationGracePeriodSeconds", probe.terminationgraceperiodseconds(),
                "must be greater than 0");
  }
}

// A container that is alive once is alive: there is nothing to count.
void ValidateSingleSuccess(const core::Probe& probe, const FieldPath& path, FaultList& out) {
  ValidateProbe(probe, path, out);
  if (probe.successthreshold() != 1) {
    out.Invalid(path / "successThreshold", probe.successthreshold(), "must be 1");
  }
}

void ValidateReadiness(const core::Probe& probe, const FieldPath& path, FaultList& out) {
  ValidateProbe(probe, path, out);
  if (probe.has_terminationgraceperiodseconds()) {
    out.Invalid(path / "terminationGracePeriodSeconds", probe.terminationgraceperiodseconds(),
                "must not be set for readinessProbes");
  }
}

}  // namespace

void ValidateProbesAndHooks(const core::Container& container, const core::PodSpec& spec,
                            const FieldPath& path, FaultList& out) {
  if (container.has_lifecycle()) {
    ValidateLifecycle(container.lifecycle(), spec, path / "lifecycle", out);
  }
  if (container.has_livenessprobe()) {
    ValidateSingleSuccess(container.livenessprobe(), path / "livenessProbe", out);
  }
  if (container.has_readinessprobe()) {
    ValidateReadiness(container.readinessprobe(), path / "readinessProbe", out);
  }
  if (container.has_startupprobe()) {
    ValidateSingleSuccess(container.startupprobe(), path / "startupProbe", out);
  }
}

}  // namespace denselet::kube
