#include "bench/cri_sim/control.h"

#include <unistd.h>

#include <functional>
#include <utility>

#include "bench/cri_sim/command_check.h"
#include "bench/cri_sim/json.h"
#include "bench/cri_sim/live_socket.h"
#include "bench/cri_sim/mounts.h"
#include "bench/cri_sim/settings_json.h"

namespace denselet::cri_sim {
namespace {

// {"key":value,...} from JSON values.
class Object {
 public:
  Object& Raw(std::string_view key, std::string_view json) {
    text_.append(text_.size() == 1 ? "" : ",").append(JsonQuote(key)).append(":").append(json);
    return *this;
  }
  Object& Text(std::string_view key, std::string_view value) { return Raw(key, JsonQuote(value)); }
  Object& Count(std::string_view key, uint64_t value) { return Raw(key, std::to_string(value)); }
  std::string Done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string Failed(const Error& error) {
  return Object().Raw("ok", "false").Text("error", error.message()).Done();
}
std::string Good() { return R"({"ok":true})"; }

std::string Counters(Simulator& simulator) {
  Object methods;
  MethodCounters sum;
  // tidy: allow random-order because these counters are in a std::map
  for (const auto& [name, counters] : simulator.dispatcher().counters()) {
    methods.Raw(name, Object()
                          .Count("calls", counters.calls)
                          .Count("errors", counters.errors)
                          .Count("cancelled", counters.cancelled)
                          .Count("inFlight", counters.in_flight)
                          .Count("inFlightMax", counters.in_flight_max)
                          .Done());
    sum.calls += counters.calls;
    sum.errors += counters.errors;
  }
  const EventCounters& events = simulator.world().events.counters();
  return Object()
      .Raw("ok", "true")
      .Count("calls", sum.calls)
      .Count("errors", sum.errors)
      .Count("hung", simulator.dispatcher().hung())
      .Count("violations", simulator.world().violations.total())
      .Raw("methods", methods.Done())
      .Raw("events", Object()
                         .Count("published", events.published)
                         .Count("delivered", events.delivered)
                         .Count("lost", events.lost)
                         .Count("late", events.late)
                         .Count("duplicated", events.duplicated)
                         .Count("reordered", events.reordered)
                         .Count("overflowed", events.overflowed)
                         .Count("subscribers", simulator.world().events.subscribers())
                         .Done())
      .Done();
}

std::string ListOfViolations(const Violations& violations) {
  std::string list;
  for (const Violation& one : violations.kept()) {
    list += (list.empty() ? "" : ",") + Object()
                                            .Text("at", FormatRfc3339(one.at, 3))
                                            .Text("rule", one.rule)
                                            .Text("what", one.what)
                                            .Done();
  }
  return Object()
      .Raw("ok", "true")
      .Count("total", violations.total())
      .Raw("violations", "[" + list + "]")
      .Done();
}

std::string State(Simulator& simulator) {
  const Model& model = simulator.world().model;
  uint64_t ready = 0, by_state[4] = {};
  for (const auto& [id, sandbox] : model.sandboxes()) {
    ready += sandbox->state == SandboxState::kReady ? 1 : 0;
  }
  for (const auto& [id, container] : model.containers()) {
    ++by_state[static_cast<size_t>(container->state)];
  }
  return Object()
      .Raw("ok", "true")
      .Count("sandboxes", model.sandboxes().size())
      .Count("sandboxesReady", ready)
      .Count("containers", model.containers().size())
      .Count("containersCreated", by_state[0])
      .Count("containersRunning", by_state[1])
      .Count("containersExited", by_state[2])
      .Count("images", simulator.world().images.all().size())
      .Done();
}

std::string ListOfMounts(const Container& container) {
  std::string list;
  for (const SeenMount& mount : MountsOf(container.spec)) {
    list += (list.empty() ? "" : ",") +
            Object()
                .Text("path", mount.path)
                .Text("hostPath", mount.host_path)
                .Raw("readOnly", mount.read_only ? "true" : "false")
                .Raw("recursiveReadOnly", mount.recursive_read_only ? "true" : "false")
                .Text("image", mount.image)
                .Text("imageSubPath", mount.image_sub_path)
                .Done();
  }
  return "[" + list + "]";
}

std::string Pods(Simulator& simulator) {
  std::string list;
  for (const auto& [id, sandbox] : simulator.world().model.sandboxes()) {
    std::string containers;
    for (const Container* container : sandbox->containers) {
      containers += (containers.empty() ? "" : ",") +
                    Object()
                        .Text("id", container->id)
                        .Text("name", container->spec.name)
                        .Count("attempt", container->spec.attempt)
                        .Text("state", StateName(container->state))
                        .Raw("exitCode", std::to_string(container->exit_code))
                        .Done();
    }
    list += (list.empty() ? "" : ",") +
            Object()
                .Text("id", id)
                .Text("pod", sandbox->spec.pod_namespace + "/" + sandbox->spec.name)
                .Text("uid", sandbox->spec.uid)
                .Count("attempt", sandbox->spec.attempt)
                .Raw("ready", sandbox->state == SandboxState::kReady ? "true" : "false")
                .Raw("healthy", sandbox->healthy ? "true" : "false")
                .Text("ip", sandbox->ip.ToString())
                .Raw("containers", "[" + containers + "]")
                .Done();
  }
  return Object().Raw("ok", "true").Raw("pods", "[" + list + "]").Done();
}

// Those that `pod` means: an id, a uid, "namespace/name" or "*".
std::vector<Sandbox*> Meant(Simulator& simulator, const std::string& pod) {
  std::vector<Sandbox*> meant;
  for (const auto& [id, sandbox] : simulator.world().model.sandboxes()) {
    const SandboxSpec& spec = sandbox->spec;
    if (pod == "*" || pod == id || pod == spec.uid || pod == spec.pod_namespace + "/" + spec.name) {
      meant.push_back(sandbox.get());
    }
  }
  return meant;
}

std::string NoPod(const Json& command) {
  return Failed(Error(ErrorCode::kNotFound, "no pod is meant by " + command["pod"].ToText()));
}

std::string SetHealth(Simulator& simulator, const Json& command) {
  const std::vector<Sandbox*> pods = Meant(simulator, command["pod"].Text());
  if (pods.empty()) return NoPod(command);
  for (Sandbox* sandbox : pods) sandbox->healthy = command["healthy"].Bool(true);
  return Object().Raw("ok", "true").Count("pods", pods.size()).Done();
}

std::string EndContainers(Simulator& simulator, const Json& command) {
  const auto code = static_cast<int32_t>(command["code"].Number(0));
  const std::string name = command["container"].Text();
  const WallTime now = simulator.world().Now();
  uint64_t ended = 0;
  bool named = name.empty();
  const std::vector<Sandbox*> pods = Meant(simulator, command["pod"].Text());
  if (pods.empty()) return NoPod(command);
  for (const Sandbox* sandbox : pods) {
    for (Container* container : sandbox->containers) {
      if (!name.empty() && container->spec.name != name) continue;
      named = true;
      if (container->state != ContainerState::kRunning) continue;
      const std::string reason = command["reason"].Text(code == 0 ? "Completed" : "Error");
      simulator.world().model.Exit(*container, code, reason, now);
      ++ended;
    }
  }
  if (!named) return Failed(Error(ErrorCode::kNotFound, "no container \"" + name + "\" there"));
  return Object().Raw("ok", "true").Count("containers", ended).Done();
}

std::string EndSandboxes(Simulator& simulator, const Json& command) {
  const std::vector<Sandbox*> pods = Meant(simulator, command["pod"].Text());
  if (pods.empty()) return NoPod(command);
  for (Sandbox* sandbox : pods) {
    simulator.world().model.StopSandbox(*sandbox, simulator.world().Now());
  }
  return Object().Raw("ok", "true").Count("pods", pods.size()).Done();
}

std::string Mounts(Simulator& simulator, const Json& command) {
  const std::string name = command["container"].Text();
  std::string containers;
  for (const Sandbox* sandbox : Meant(simulator, command["pod"].Text())) {
    for (const Container* container : sandbox->containers) {
      if (!name.empty() && container->spec.name != name) continue;
      containers += (containers.empty() ? "" : ",") + Object()
                                                          .Text("id", container->id)
                                                          .Text("name", container->spec.name)
                                                          .Raw("mounts", ListOfMounts(*container))
                                                          .Done();
    }
  }
  if (containers.empty()) return NoPod(command);
  return Object().Raw("ok", "true").Raw("containers", "[" + containers + "]").Done();
}

std::string Applied(const Status& status) { return status ? Good() : Failed(status.error()); }

using Command = std::function<std::string(Simulator&, const Json&)>;
const std::map<std::string, Command, std::less<>>& Commands() {
  static const std::map<std::string, Command, std::less<>> commands = {
      {"counters", [](Simulator& s, const Json&) { return Counters(s); }},
      {"resetCounters",
       [](Simulator& s, const Json&) {
         s.dispatcher().ResetCounters();
         s.world().events.ResetCounters();
         return Good();
       }},
      {"violations",
       [](Simulator& s, const Json&) { return ListOfViolations(s.world().violations); }},
      {"clearViolations",
       [](Simulator& s, const Json&) {
         s.world().violations.Clear();
         return Good();
       }},
      {"state", [](Simulator& s, const Json&) { return State(s); }},
      {"pods", [](Simulator& s, const Json&) { return Pods(s); }},
      {"mounts", Mounts},
      {"set",
       [](Simulator& s, const Json& command) {
         return Applied(ApplySettings(command["settings"], s.world().settings));
       }},
      {"release",
       [](Simulator& s, const Json& command) {
         const size_t count = s.dispatcher().Release(command["method"].Text());
         return Object().Raw("ok", "true").Count("released", count).Done();
       }},
      {"health", SetHealth},
      {"exit", EndContainers},
      {"stopSandbox", EndSandboxes},
      {"addImage",
       [](Simulator& s, const Json& command) {
         const std::string name = command["image"].Text();
         if (name.empty()) return Failed(Error(ErrorCode::kInvalid, "no image"));
         const uint64_t size = command["size"].Count(s.world().settings.image_size);
         return Object().Raw("ok", "true").Text("id", s.world().images.Add(name, size).id).Done();
       }},
      {"populate",
       [](Simulator& s, const Json& command) {
         return Applied(s.Populate(command["pods"].Count(), command["containers"].Count(2)));
       }},
  };
  return commands;
}

}  // namespace

class Control::Connection final : public reactor::Deletable, private net::StreamUser {
 public:
  Connection(Control& owner, std::unique_ptr<net::Socket> socket)
      : owner_(owner), socket_(std::move(socket)) {}
  void Begin(std::weak_ptr<Connection> self) {
    self_ = std::move(self);
    socket_->Use(*this);
  }

 private:
  void OnReceived(std::span<const std::byte> data) override {
    received_.append(reinterpret_cast<const char*>(data.data()), data.size());
    for (;;) {
      const size_t end = received_.find('\n');
      if (end == std::string::npos) break;
      const std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      ++unanswered_;
      owner_.Run(line, [self = self_](std::string answer) {
        const auto still = self.lock();
        if (still == nullptr || still->gone_) return;
        --still->unanswered_;
        still->socket_->Send(answer + "\n");
      });
      if (gone_) return;
    }
    if (received_.size() > kLineBytesMax) Go();
  }
  void OnReceiveEnd() override {
    ended_ = true;
    if (unanswered_ == 0 && socket_->unsent() == 0) Go();
  }
  void OnRoom() override {}
  void OnSent() override {
    if (ended_ && unanswered_ == 0) Go();
  }
  void OnBroken(const Error&) override { Go(); }
  void Go() {
    gone_ = true;
    owner_.Drop(*this);
  }

  Control& owner_;
  std::unique_ptr<net::Socket> socket_;
  std::weak_ptr<Connection> self_;
  std::string received_;
  size_t unanswered_ = 0;
  bool ended_ = false;  // the peer sends no more, but may wait for answers
  bool gone_ = false;
};

Control::Control(reactor::Loop& loop, Simulator& simulator, HostControl& host)
    : loop_(loop), simulator_(simulator), host_(host) {}

Control::~Control() = default;

Status Control::Listen(const std::string& path) {
  if (Status free = CheckIsFree(path); !free) return free;
  unlink(path.c_str());
  const Result<net::Address> address = net::Address::Unix(path);
  if (!address) return address.error();
  auto opened = net::Listener::Open(loop_, *address, [this](std::unique_ptr<net::Socket> socket) {
    if (connections_.size() == kConnectionsMax) {
      socket->Close();
      return loop_.DeferDelete(std::move(socket));
    }
    auto connection = std::make_shared<Connection>(*this, std::move(socket));
    connections_.emplace(connection.get(), connection);
    connection->Begin(connection);
  });
  if (!opened) return opened.error();
  listener_ = std::move(*opened);
  return Ok();
}

void Control::Drop(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  struct Keeper final : reactor::Deletable {
    std::shared_ptr<Connection> kept;
  };
  auto keeper = std::make_unique<Keeper>();
  keeper->kept = std::move(found->second);
  connections_.erase(found);
  loop_.DeferDelete(std::move(keeper));
}

void Control::Run(std::string_view line, Done done) {
  const Result<Json> command = Json::Parse(line);
  if (!command || !command->is_object()) {
    return done(Failed(Error(ErrorCode::kInvalid, "a command is a JSON object")));
  }
  if (const Status known = CheckCommand(*command); !known) return done(Failed(known.error()));
  const std::string name = (*command)["do"].Text();
  if (name == "quit") {
    done(Good());
    return host_.Quit();
  }
  if (name == "crash") {
    const Result<Duration> downtime = ParseDuration((*command)["downtime"].Text("0s"));
    if (!downtime) return done(Failed(downtime.error().With("downtime")));
    const KeepState keep = (*command)["keepState"].Bool(true) ? KeepState::kKeep : KeepState::kLose;
    return host_.Crash(*downtime, keep, [answer = std::move(done)](const Status& back) mutable {
      answer(Applied(back));
    });
  }
  done(Commands().find(name)->second(simulator_, *command));
}

}  // namespace denselet::cri_sim
