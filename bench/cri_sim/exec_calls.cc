// Commands in containers, and where streams to them would go.
#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/handlers.h"

namespace denselet::cri_sim {
namespace {

constexpr char kExecAnnotation[] = "cri-sim/exec";  // of the pod; ".container" for one of it

// Null, and `answer` was used, when it does not run. An exited one is no fault of the client's: it
// may have ended a moment ago.
Container* Running(World& world, const std::string& id, const char* call, Answer& answer) {
  Container* const container = world.model.FindContainer(id);
  if (container == nullptr) {
    answer(
        Error(ErrorCode::kNotFound, "failed to find container \"" + id + "\" in store: not found"));
    return nullptr;
  }
  if (container->state == ContainerState::kRunning) return container;
  if (container->state == ContainerState::kCreated) {
    world.violations.Add(world.Now(), "exec-before-start",
                         std::string(call) + " in " + id + ", which was not started");
  }
  answer(Error(ErrorCode::kConflict, "failed to exec in container: container is in " +
                                         std::string(StateName(container->state)) + " state"));
  return nullptr;
}

struct Command {
  std::string script, output, error_output;
};

Command CommandOf(const World& world, const Container& container, const std::string& words) {
  const SandboxSpec& pod = container.sandbox->spec;
  for (const ExecRule& rule : world.settings.exec) {
    const bool fits = (rule.pod.empty() || rule.pod == pod.name) &&
                      (rule.container.empty() || rule.container == container.spec.name) &&
                      words.find(rule.match) != std::string::npos;
    if (fits) return {rule.script, rule.output, rule.error_output};
  }
  const std::string key = kExecAnnotation;
  const auto own = pod.annotations.Get(key + "." + container.spec.name);
  const auto all = pod.annotations.Get(key);
  if (own || all) return {std::string(own ? *own : *all), {}, {}};
  return {words, {}, {}};
}

void ExecSync(World& world, const cri::ExecSyncRequest& request, Answer answer) {
  Container* const container = Running(world, request.container_id(), "ExecSync", answer);
  if (container == nullptr) return;
  if (request.cmd().empty()) {
    world.violations.Add(world.Now(), "exec-without-command", "ExecSync without a command");
    return answer(Error(ErrorCode::kInvalid, "failed to exec in container: no command"));
  }
  const std::string words = ScriptOfCommand({request.cmd().begin(), request.cmd().end()});
  Command command = CommandOf(world, *container, words);
  const std::string script = std::move(command.script);
  const int64_t timeout = std::max<int64_t>(request.timeout(), 0);
  world.processes.Exec(
      *container, script, Seconds(timeout),
      [timeout, out = std::move(command), respond = std::move(answer)](ExecOutcome done) mutable {
        if (done.timed_out) {
          return respond(Error(ErrorCode::kDeadlineExceeded,
                               "failed to exec in container: timeout " + std::to_string(timeout) +
                                   "s exceeded: context deadline exceeded"));
        }
        cri::ExecSyncResponse response;
        response.set_stdout(out.output + done.output);
        response.set_stderr(out.error_output);
        response.set_exit_code(done.exit_code);
        respond(Wire(response));
      });
}

template <class Request, class Response>
void AddStreamUrl(World& world, MethodTable& table, const char* name, const char* kind) {
  AddUnary<Request>(table, name, [&world, name, kind](const Request& request, Answer answer) {
    if (Running(world, request.container_id(), name, answer) == nullptr) return;
    Response response;
    response.set_url(world.ports.StreamUrl(kind));
    answer(Wire(response));
  });
}

}  // namespace

void AddExecCalls(World& world, MethodTable& table) {
  AddUnary<cri::ExecSyncRequest>(table, "ExecSync",
                                 [&](const cri::ExecSyncRequest& request, Answer answer) {
                                   ExecSync(world, request, std::move(answer));
                                 });
  AddStreamUrl<cri::ExecRequest, cri::ExecResponse>(world, table, "Exec", "exec");
  AddStreamUrl<cri::AttachRequest, cri::AttachResponse>(world, table, "Attach", "attach");
  AddUnary<cri::PortForwardRequest>(
      table, "PortForward", [&](const cri::PortForwardRequest& request, Answer answer) {
        const Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id());
        if (sandbox == nullptr) {
          return answer(
              Error(ErrorCode::kNotFound,
                    "failed to find sandbox \"" + request.pod_sandbox_id() + "\": not found"));
        }
        if (sandbox->state != SandboxState::kReady) {
          return answer(Error(ErrorCode::kConflict, "sandbox container is not running"));
        }
        cri::PortForwardResponse response;
        response.set_url(world.ports.StreamUrl("portforward"));
        answer(Wire(response));
      });
}

}  // namespace denselet::cri_sim
