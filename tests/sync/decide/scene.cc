#include "tests/sync/decide/scene.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <vector>

#include "kube/api/hash/container_hash.h"

namespace denselet::sync::tests {
namespace {

using Texts = std::vector<std::string_view>;

Texts Split(std::string_view text, char by) {
  Texts parts;
  while (true) {
    const size_t end = text.find(by);
    if (end != 0 && !text.empty()) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A mistake in a row is the test's fault, and said as such.
[[noreturn]] void Bad(std::string_view text) {
  throw std::invalid_argument("cannot read " + std::string(text));
}

int64_t Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) Bad(text);
  return number;
}

bool Cut(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

TimePoint At(std::string_view seconds) { return kNow + Seconds(Number(seconds)); }

RestartPolicy Policy(std::string_view text) {
  if (text == "Always") return RestartPolicy::kAlways;
  if (text == "OnFailure") return RestartPolicy::kOnFailure;
  if (text == "Never") return RestartPolicy::kNever;
  Bad(text);
}

RestartRule Rule(std::string_view text) {
  const Texts parts = Split(text, ':');
  RestartRule rule{
      .action = parts.at(1) == "RestartAll" ? RestartRule::Action::kRestartAllContainers
                                            : RestartRule::Action::kRestart,
      .exit_codes = parts[0] == "In" ? RestartRule::Operator::kIn : RestartRule::Operator::kNotIn};
  for (const auto code : Split(parts.at(2), '|')) {
    rule.values.push_back(static_cast<int32_t>(Number(code)));
  }
  return rule;
}

void Attribute(ContainerPlan& plan, std::string_view text) {
  if (text == "post") {
    plan.post_start = true;
  } else if (text == "pre") {
    plan.pre_stop = true;
  } else if (text == "startup") {
    plan.startup_probe = true;
  } else if (text == "live") {
    plan.liveness_probe = true;
  } else if (Cut(text, "sgrace=")) {
    plan.startup_grace_seconds = Number(text);
  } else if (Cut(text, "lgrace=")) {
    plan.liveness_grace_seconds = Number(text);
  } else if (Cut(text, "policy=")) {
    plan.restart_policy = Policy(text);
  } else if (Cut(text, "rule=")) {
    plan.restart_rules.push_back(Rule(text));
  } else if (Cut(text, "target=")) {
    plan.target = text;
  } else {
    Bad(text);
  }
}

ContainerPlan Container(std::string_view text) {
  ContainerPlan plan;
  switch (text.at(0)) {
    case 'i':
      plan.kind = ContainerKind::kInit;
      break;
    case 's':
      plan.kind = ContainerKind::kSidecar;
      plan.restart_policy = RestartPolicy::kAlways;
      break;
    case 'e':
      plan.kind = ContainerKind::kEphemeral;
      break;
    default:
      break;
  }
  text.remove_prefix(2);
  const size_t open = text.find('[');
  plan.name = text.substr(0, open);
  plan.image = "image-of-" + plan.name;
  plan.hash = kube::ContainerHash(plan.name, plan.image);
  plan.back_off_key = plan.hash + 1;
  if (open == std::string_view::npos) return plan;
  for (const auto part : Split(text.substr(open + 1, text.size() - open - 2), ',')) {
    Attribute(plan, part);
  }
  return plan;
}

class Reader {
 public:
  explicit Reader(Scene& scene) : scene_(scene) {}

  void Read(std::string_view given) {
    const Texts words = Split(given, ' ');
    for (const auto word : words) {
      if (IsSandbox(word)) Sandbox(word);
    }
    for (const auto word : words) {
      if (!IsSandbox(word)) Word(word);
    }
    Defaults();
    for (const auto word : words) Late(word);
  }

 private:
  static bool IsSandbox(std::string_view word) {
    return word.starts_with("sb") &&
           word.substr(0, word.find('=')).find('.') == std::string_view::npos;
  }

  static ObservedSandbox SandboxOf(std::string_view id, std::string_view state) {
    ObservedSandbox sandbox{
        .id = SandboxId(std::string(id)),
        .attempt = static_cast<uint32_t>(Number(id.substr(2))),
        .state = state.starts_with("ready") ? SandboxState::kReady : SandboxState::kNotReady};
    if (state.ends_with(":host")) sandbox.network = NetworkMode::kNode;
    if (!state.ends_with(":noip") && !state.ends_with(":host")) sandbox.ips = {"10.0.0.1"};
    return sandbox;
  }

  void Sandbox(std::string_view word) {
    const size_t at = word.find('=');
    scene_.observed.sandboxes.push_back(SandboxOf(word.substr(0, at), word.substr(at + 1)));
    newest_ = std::max(newest_, scene_.observed.sandboxes.back().attempt);
  }

  ObservedContainer ContainerOf(std::string_view id, std::string_view state) const {
    ObservedContainer container{.id = ContainerId(std::string(id))};
    const Texts parts = Split(id, '/');
    container.name = parts.at(0);
    container.attempt = static_cast<uint32_t>(Number(parts.at(1)));
    container.restart_count = container.attempt;
    container.sandbox = SandboxId("sb" + std::to_string(newest_));
    const ContainerIndex index = scene_.plan.Find(container.name);
    container.hash = index == kNoContainer ? 0 : scene_.plan.containers[index].hash;
    if (state.ends_with("#changed")) {
      container.hash = 77;
      state.remove_suffix(8);
    }
    if (const size_t at = state.find('@'); at != std::string_view::npos) {
      container.sandbox = SandboxId(std::string(state.substr(at + 1)));
      state = state.substr(0, at);
    }
    const Texts words = Split(state, ':');
    const std::string_view what = words.at(0);
    container.state = what == "running"   ? ContainerState::kRunning
                      : what == "created" ? ContainerState::kCreated
                      : what == "exited"  ? ContainerState::kExited
                      : what == "unknown" ? ContainerState::kUnknown
                                          : (Bad(state), ContainerState::kUnknown);
    if (words.size() > 1) container.exit_code = static_cast<int32_t>(Number(words[1]));
    if (words.size() > 2) container.reason = words[2];
    return container;
  }

  Call CallOf(std::string_view text) const {
    const Texts parts = Split(text, ':');
    Call call{.ended = scene_.epoch + 1, .began = kNow - Seconds(1)};
    const std::string_view state = parts.at(0);
    call.state = state == "inflight"  ? CallState::kInFlight
                 : state == "done"    ? CallState::kDone
                 : state == "failed"  ? CallState::kFailed
                 : state == "unknown" ? CallState::kUnknown
                                      : (Bad(text), CallState::kNone);
    for (size_t i = 1; i < parts.size(); ++i) {
      std::string_view part = parts[i];
      if (part == "covered") {
        call.ended = scene_.epoch - 1;
      } else if (part == "noeffect") {
        call.no_effect = true;
      } else if (Cut(part, "retry=")) {
        call.retry_at = At(part);
      } else if (Cut(part, "began=")) {
        call.began = At(part);
      } else if (Cut(part, "reason=")) {
        call.failure = CallFailure{.reason = std::string(part), .message = "why"};
      } else {
        Bad(part);
      }
    }
    return call;
  }

  SandboxEntry& SandboxEntryOf(std::string_view id) {
    const auto attempt = static_cast<uint32_t>(Number(id.substr(2)));
    for (auto& entry : scene_.ledger.sandboxes) {
      if (entry.attempt == attempt) return entry;
    }
    return scene_.ledger.sandboxes.emplace_back(SandboxEntry{.attempt = attempt});
  }

  ContainerEntry& ContainerEntryOf(std::string_view id) {
    const Texts parts = Split(id, '/');
    const auto attempt = static_cast<uint32_t>(Number(parts.at(1)));
    for (auto& entry : scene_.ledger.containers) {
      if (entry.attempt == attempt && entry.name == parts[0]) return entry;
    }
    const ContainerIndex index = scene_.plan.Find(parts[0]);
    return scene_.ledger.containers.emplace_back(
        ContainerEntry{.name = std::string(parts[0]),
                       .attempt = attempt,
                       .id = ContainerId(std::string(id)),
                       .sandbox = SandboxId("sb" + std::to_string(newest_)),
                       .hash = index == kNoContainer ? 0 : scene_.plan.containers[index].hash});
  }

  void LedgerWord(std::string_view id, std::string_view call, std::string_view value) {
    if (id.starts_with("sb")) {
      SandboxEntry& entry = SandboxEntryOf(id);
      if (call == "run") {
        entry.run = CallOf(value);
        if (entry.run.done()) newest_ = std::max(newest_, entry.attempt);
      } else if (call == "stop") {
        entry.stop = CallOf(value);
      } else if (call == "remove") {
        entry.remove = CallOf(value);
      } else if (call == "seen") {
        entry.seen = SandboxOf(id, value);
        entry.seen_at = scene_.epoch + 10;
      } else {
        Bad(call);
      }
      if (!entry.run.in_flight() && entry.run.state != CallState::kFailed &&
          entry.run.state != CallState::kUnknown) {
        entry.id = SandboxId(std::string(id));
      }
      return;
    }
    ContainerEntry& entry = ContainerEntryOf(id);
    if (call == "create") {
      entry.create = CallOf(value);
      if (!entry.create.done()) entry.id = {};
    } else if (call == "start") {
      entry.start = CallOf(value);
    } else if (call == "post") {
      entry.post_start = CallOf(value);
    } else if (call == "pre") {
      entry.pre_stop = CallOf(value);
    } else if (call == "stop") {
      entry.stop = CallOf(value);
    } else if (call == "remove") {
      entry.remove = CallOf(value);
    } else if (call == "kill") {
      KillOf(entry, value);
    } else if (call == "seen") {
      entry.seen = ContainerOf(id, value);
      entry.seen_at = scene_.epoch + 10;
    } else {
      Bad(call);
    }
  }

  static void KillOf(ContainerEntry& entry, std::string_view value) {
    static const std::map<std::string_view, KillReason> kReasons{
        {"liveness", KillReason::kLivenessProbe}, {"startup", KillReason::kStartupProbe},
        {"changed", KillReason::kChanged},        {"post", KillReason::kPostStartFailed},
        {"unknown", KillReason::kUnknownState},   {"pod", KillReason::kPodStops},
        {"all", KillReason::kRestartAll}};
    const Texts parts = Split(value, ':');
    entry.kill_reason = kReasons.at(parts.at(0));
    entry.stop_began = kNow - Seconds(1);
    entry.stop_ends = kNow + Seconds(29);
    for (size_t i = 1; i < parts.size(); ++i) {
      std::string_view part = parts[i];
      if (part == "restart") {
        entry.restart_at_once = true;
      } else if (Cut(part, "began=")) {
        entry.stop_began = At(part);
      } else if (Cut(part, "ends=")) {
        entry.stop_ends = At(part);
      } else {
        Bad(part);
      }
    }
  }

  static EndReason ReasonOf(std::string_view text) {
    if (text == "killed") return EndReason::kKilled;
    if (text == "deadline") return EndReason::kDeadline;
    if (text == "deleted") return EndReason::kDeleted;
    if (text != "completed") Bad(text);
    return EndReason::kCompleted;
  }

  static Work WorkOf(std::string_view text) {
    const Texts parts = Split(text, ':');
    Work work{.state = parts.at(0) == "none"  ? WorkState::kNone
                       : parts[0] == "busy"   ? WorkState::kInProgress
                       : parts[0] == "done"   ? WorkState::kDone
                       : parts[0] == "failed" ? WorkState::kFailed
                                              : (Bad(text), WorkState::kNone)};
    for (size_t i = 1; i < parts.size(); ++i) {
      std::string_view part = parts[i];
      if (Cut(part, "retry=")) work.retry_at = At(part);
    }
    if (work.state == WorkState::kFailed) work.message = "why";
    return work;
  }

  // Everything but what refers to the defaults.
  void Word(std::string_view word) {
    const size_t at = word.find('=');
    const std::string_view key = word.substr(0, at);
    const std::string_view value = at == std::string_view::npos ? "" : word.substr(at + 1);
    PodState& state = scene_.state;
    if (key.find('.') != std::string_view::npos) {
      const size_t dot = key.find('.');
      return LedgerWord(key.substr(0, dot), key.substr(dot + 1), value);
    }
    if (key.find('(') != std::string_view::npos) return;
    if (key.find('/') != std::string_view::npos) {
      return scene_.observed.containers.push_back(ContainerOf(key, value));
    }
    if (key == "term") return void(state.phase = Phase::kTerminating);
    if (key == "terminated") return void(state.phase = Phase::kTerminated);
    if (key == "finished") return void(state.phase = Phase::kFinished);
    if (key == "pgrace") return void(state.grace_seconds = Number(value));
    if (key == "kbegan") return void(state.kill_began = At(value));
    if (key == "active") return void(state.active_since = At(value));
    if (key == "ending") return void(state.ending = Ending{.reason = ReasonOf(value)});
    if (key == "unobserved") return void(scene_.looked = false);
    if (key == "reading") return void(scene_.ledger.read_in_flight = true);
    if (key == "readretry") return void(scene_.ledger.read_retry_at = At(value));
    if (key == "runtime") return void(scene_.node.runtime_ready = false);
    if (key == "network") return void(scene_.node.network_ready = false);
    if (key == "maxbackoff") return void(scene_.node.back_off_max = Seconds(Number(value)));
    if (key == "keep") {
      return void(scene_.node.keep.per_container_max = static_cast<int32_t>(Number(value)));
    }
    if (key == "agemin") return void(scene_.node.keep.age_min = Seconds(Number(value)));
    if (key == "settled") return void(scene_.facts.status_settled = true);
    if (key == "removable") return void(scene_.facts.removal_allowed = true);
    if (key == "leftover") return void(scene_.facts.leftover = true);
    if (key == "logs") return void(scene_.facts.logs = WorkOf(value));
    if (key == "prepare") return void(prepare_ = WorkOf(value));
    if (key == "volumes") return void(volumes_ = WorkOf(value));
    if (key == "record") return void(scene_.facts.end_record = WorkOf(value));
    if (key == "release") return void(scene_.facts.release = WorkOf(value));
    Bad(word);
  }

  void Defaults() {
    scene_.facts.prepare = prepare_;
    scene_.facts.volumes = volumes_;
    scene_.facts.containers.resize(scene_.plan.containers.size());
    for (size_t i = 0; i < scene_.plan.containers.size(); ++i) {
      ContainerFacts& facts = scene_.facts.containers[i];
      facts.image = {.state = WorkState::kDone, .attempt = NextOf(scene_.plan.containers[i].name)};
      facts.probed_attempt = facts.image.attempt == 0 ? 0 : facts.image.attempt - 1;
    }
    scene_.memory.NoteObserved(scene_.observed, kNow - Hours(1));
    for (const auto& entry : scene_.ledger.containers) {
      if (entry.seen) scene_.memory.NoteObserved(*entry.seen, kNow);
      if (entry.create.state != CallState::kNone) {
        scene_.memory.NoteCreate(entry.name, entry.attempt, std::nullopt);
      }
    }
  }

  uint32_t NextOf(std::string_view name) const {
    uint32_t next = 0;
    for (const auto& container : scene_.observed.containers) {
      if (container.name == name) next = std::max(next, container.attempt + 1);
    }
    for (const auto& entry : scene_.ledger.containers) {
      if (entry.name != name) continue;
      const bool failed =
          entry.create.state == CallState::kFailed || entry.create.state == CallState::kUnknown;
      next = std::max(next, failed ? entry.attempt : entry.attempt + 1);
    }
    return next;
  }

  ContainerFacts& FactsOf(std::string_view name) {
    const ContainerIndex index = scene_.plan.Find(name);
    if (index == kNoContainer) Bad(name);
    return scene_.facts.containers[index];
  }

  void Late(std::string_view word) {
    const size_t open = word.find('(');
    const size_t close = word.find(")=");
    if (open == std::string_view::npos || close == std::string_view::npos) return;
    const std::string_view key = word.substr(0, open);
    const std::string_view name = word.substr(open + 1, close - open - 1);
    std::string_view value = word.substr(close + 2);
    if (key == "exit") {
      const Texts parts = Split(name, '/');
      ContainerMemory& memory = scene_.memory.Of(parts.at(0));
      const auto attempt = static_cast<uint32_t>(Number(parts.at(1)));
      for (auto* seen : {&memory.last_exit, &memory.exit_before}) {
        if (*seen && (*seen)->attempt == attempt) (*seen)->at = At(value);
      }
      return;
    }
    if (key == "age") {
      for (ObservedContainer& container : scene_.observed.containers) {
        if (container.id.value() == name) container.created = kWallNow - Seconds(Number(value));
      }
      return;
    }
    if (key == "backoff") {
      const Texts parts = Split(value, ':');
      const ContainerIndex index = scene_.plan.Find(name);
      scene_.memory.Of(name).back_off = {.key = scene_.plan.containers.at(index).back_off_key,
                                         .delay = Seconds(Number(parts.at(0))),
                                         .updated = At(parts.at(1))};
      return;
    }
    ContainerFacts& facts = FactsOf(name);
    if (key == "logs") {
      facts.logged_attempts = static_cast<uint32_t>(Number(value));
      facts.image.attempt = std::max(facts.image.attempt, facts.logged_attempts);
      return;
    }
    if (key == "image") {
      const Work work = WorkOf(value);
      facts.image.state = work.state;
      facts.image.retry_at = work.retry_at;
      if (work.state == WorkState::kFailed) {
        facts.image.reason = Split(value, ':').at(1);
        facts.image.message = "why";
      }
      return;
    }
    if (const size_t at = value.find('@'); at != std::string_view::npos) {
      facts.probed_attempt = static_cast<uint32_t>(Number(value.substr(at + 1)));
      value = value.substr(0, at);
    }
    const ProbeResult result = value == "ok"     ? ProbeResult::kSuccess
                               : value == "fail" ? ProbeResult::kFailure
                                                 : ProbeResult::kUnknown;
    if (key == "live") return void(facts.liveness = result);
    if (key == "startup") return void(facts.startup = result);
    Bad(word);
  }

  Scene& scene_;
  uint32_t newest_ = 0;
  Work prepare_ = {.state = WorkState::kDone};
  Work volumes_ = {.state = WorkState::kDone};
};

}  // namespace

PodPlan ParsePod(std::string_view text) {
  PodPlan plan{.pod = {.ref = {.ns = "default", .name = "pod"}, .uid = PodUid("uid")},
               .termination_grace_seconds = 30};
  std::vector<ContainerPlan> init, regular, ephemeral;
  for (auto word : Split(text, ' ')) {
    if (word == "hostnet") {
      plan.network = NetworkMode::kNode;
    } else if (word == "deleted") {
      plan.deleted = true;
    } else if (word == "nograce") {
      plan.termination_grace_seconds = std::nullopt;
    } else if (Cut(word, "grace=")) {
      plan.termination_grace_seconds = Number(word);
    } else if (Cut(word, "dgrace=")) {
      plan.deletion_grace_seconds = Number(word);
    } else if (Cut(word, "deadline=")) {
      plan.active_deadline = Seconds(Number(word));
    } else if (Cut(word, "phase=")) {
      plan.api_outcome = word == "Failed" ? PodOutcome::kFailed : PodOutcome::kSucceeded;
    } else if (word.size() > 2 && word[1] == ':') {
      (word[0] == 'c' ? regular : word[0] == 'e' ? ephemeral : init).push_back(Container(word));
    } else {
      plan.restart_policy = Policy(word);
    }
  }
  plan.init_count = static_cast<ContainerIndex>(init.size());
  plan.regular_count = static_cast<ContainerIndex>(regular.size());
  for (auto* list : {&init, &regular, &ephemeral}) {
    plan.containers.insert(plan.containers.end(), list->begin(), list->end());
  }
  return plan;
}

Scene ParseScene(std::string_view pod, std::string_view given) {
  Scene scene{.plan = ParsePod(pod)};
  scene.observed.pod = scene.plan.pod;
  Reader(scene).Read(given);
  return scene;
}

}  // namespace denselet::sync::tests
