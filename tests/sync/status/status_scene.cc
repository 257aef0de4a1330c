#include "tests/sync/status/status_scene.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/check.h"
#include "kube/api/codec/codec.h"

namespace denselet::sync::tests {
namespace {

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

int64_t Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  CHECK(error == std::errc() && end == text.data() + text.size());
  return number;
}

// "app/1" of "ready(app/1)".
std::string Inside(const std::string& key) {
  const size_t open = key.find('(');
  return key.substr(open + 1, key.size() - open - 2);
}

ObservedSandbox Sandbox(const std::string& key, const std::vector<std::string>& words) {
  ObservedSandbox sandbox{.id = SandboxId(key),
                          .attempt = static_cast<uint32_t>(Number(key.substr(2)))};
  if (words.at(0) == "ready") sandbox.state = SandboxState::kReady;
  if (words.size() < 2) return sandbox;
  if (words.at(1) == "host") {
    sandbox.network = NetworkMode::kNode;
  } else {
    sandbox.ips = Split(words.at(1), ',');
  }
  return sandbox;
}

void SetResources(int64_t milli, ObservedContainer& container) {
  container.resources = ObservedResources{.cpu_shares = milli * 1024 / 1000,
                                          .cpu_quota_us = milli * 100,
                                          .cpu_period_us = 100'000,
                                          .memory_limit_bytes = int64_t{128} << 20};
}

ObservedContainer Container(const std::string& key, const std::vector<std::string>& words,
                            const SandboxId& sandbox) {
  const size_t slash = key.find('/');
  const std::string name = key.substr(0, slash);
  const auto attempt = static_cast<uint32_t>(Number(key.substr(slash + 1)));
  ObservedContainer container{.id = ContainerId(key),
                              .sandbox = sandbox,
                              .name = name,
                              .attempt = attempt,
                              .image = "docker.io/image-of-" + name,
                              .image_ref = "sha256:" + name,
                              .restart_count = attempt};
  const WallTime started = SceneStart() + Minutes(attempt);
  if (words.at(0) == "created") container.state = ContainerState::kCreated;
  if (words.at(0) == "running") {
    container.state = ContainerState::kRunning;
    container.started = started;
    for (const std::string& word : words) {
      if (word.starts_with("cpu=")) SetResources(Number(word.substr(4)), container);
      if (word == "user") container.user = ObservedUser{7, 8, {8, 9}};
    }
  }
  if (words.at(0) == "exited") {
    container.state = ContainerState::kExited;
    container.started = started;
    container.finished = started + Seconds(30);
    container.exit_code = static_cast<int32_t>(Number(words.at(1)));
    container.reason = container.exit_code == 0 ? "Completed" : "Error";
    if (container.exit_code != 0) container.message = "bye";
  }
  return container;
}

}  // namespace

WallTime SceneStart() { return ToWallTime(*ParseRfc3339("2035-01-01T00:00:00Z")); }

void StatusScene::SetPod(std::string_view json) {
  const auto report = kube::DecodeJson(json, pod);
  CHECK(report.ok());
  plan = *MakePodPlan(pod);
}

void StatusScene::See(std::string_view given) {
  seen = {};
  waiting.clear();
  probes.clear();
  ends = false;
  finished = Finished::kNo;
  for (const std::string& word : Split(given, ' ')) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word == "ends") {
      ends = true;
    } else if (word == "finished") {
      finished = Finished::kYes;
    } else if (key.starts_with("wait(")) {
      waiting.push_back(
          {.container = plan.Find(Inside(key)), .reason = value, .message = "because"});
    } else if (key.starts_with("ready(") || key.starts_with("startup(")) {
      const ContainerId id(Inside(key));
      auto probed = std::ranges::find(probes, id, &ProbedContainer::id);
      if (probed == probes.end()) probed = probes.insert(probes.end(), {.id = id});
      (key.front() == 'r' ? probed->readiness : probed->startup) =
          value == "ok" ? ProbeResult::kSuccess : ProbeResult::kFailure;
    } else if (key.starts_with("sb")) {
      seen.sandboxes.push_back(Sandbox(key, Split(value, ':')));
    } else {
      const SandboxId sandbox = seen.sandboxes.empty() ? SandboxId() : seen.sandboxes.front().id;
      seen.containers.push_back(Container(key, Split(value, ':'), sandbox));
    }
  }
  std::ranges::stable_sort(seen.containers, [](const auto& a, const auto& b) {
    return std::tie(a.name, b.attempt) < std::tie(b.name, a.attempt);
  });
}

Result<kube::core::PodStatus> StatusScene::Build() const {
  return BuildPodStatus({.pod = pod,
                         .plan = plan,
                         .before = before ? &*before : nullptr,
                         .seen = seen,
                         .waiting = waiting,
                         .probes = probes,
                         .node = node,
                         .ending = ending,
                         .disruption = disruption,
                         .ends = ends,
                         .finished = finished,
                         .now = now});
}

StatusScene MakeStatusScene(std::string_view pod_json, std::string_view given) {
  StatusScene scene;
  scene.SetPod(pod_json);
  scene.See(given);
  return scene;
}

}  // namespace denselet::sync::tests
