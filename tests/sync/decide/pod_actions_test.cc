// Our rules against the kubelet's own, on random pods in random states: golden/pod_actions.txt,
// printed by third_party/peers/podactions. The kubelet decides a whole round at once, Decide one
// call at a time, so what is compared is what the rules behind it say: which sandbox, who starts,
// who stops.
//
// Where we differ, we do so on purpose:
//   - A pod whose regular containers have all ended for good has ended, and one whose init
//   container
//     failed for good (the kubelet finds that in the pod's phase, before it asks
//     computePodActions).
//   - An ephemeral container that was created and not started is started.
//   - A pod that is killed together with the last container that runs is that container's stop
//     first, and the pod's end when it has stopped.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "sync/decide/container_rules.h"
#include "tests/golden.h"
#include "tests/sync/decide/scene.h"

namespace denselet::sync::tests {
namespace {

using Names = std::vector<std::string>;

std::string Joined(const std::string& word, const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? " " + word + "=" : ",") + name;
  return text;
}

class Mapped {
 public:
  explicit Mapped(const Scene& scene) : scene_(scene), input_(scene_.Input()) {}

  std::string Text() {
    const KnownPod pod = MakeKnownPod(input_);
    const SandboxVerdict sandbox = JudgeSandbox(scene_.plan, pod);
    const bool all = AllRestart(scene_.plan, pod);
    if (all)
      return Trimmed((sandbox.NewOne() ? Sandbox(sandbox) : "") + Joined("reset", Resets(pod)));
    if (!sandbox.NewOne()) return Trimmed(Containers(pod, *sandbox.current));
    if (EndsWithItsSandbox(input_, pod, sandbox)) return "kill";
    return Trimmed(Sandbox(sandbox) + InNewSandbox(sandbox.attempt));
  }

 private:
  static std::string Trimmed(const std::string& text) {
    return text.empty() ? "-" : text.substr(1);
  }
  static std::string Sandbox(const SandboxVerdict& sandbox) {
    return " kill sandbox=" + std::to_string(sandbox.attempt);
  }

  Names Resets(const KnownPod& pod) const {
    Names ids;
    for (const KnownContainer& container : pod.containers) {
      const ContainerIndex index = scene_.plan.Find(container.name);
      if (index < scene_.plan.init_count + scene_.plan.regular_count)
        ids.push_back(container.id->value());
    }
    std::ranges::sort(ids);
    return ids;
  }

  Names NamesOf(const std::vector<ContainerIndex>& containers) const {
    Names names;
    for (const ContainerIndex index : containers)
      names.push_back(scene_.plan.containers[index].name);
    return names;
  }

  std::string Containers(const KnownPod& pod, const KnownSandbox& sandbox) const {
    const ContainerVerdict verdict = JudgeContainers(input_, pod, sandbox);
    std::set<ContainerIndex> regular(verdict.regular.begin(), verdict.regular.end());
    Names stops;
    for (const Kill& kill : verdict.kills) {
      stops.push_back(kill.container->id->value());
      const bool is_regular = kill.index >= scene_.plan.init_count;
      if (is_regular && kill.restart_at_once) regular.insert(kill.index);
    }
    std::ranges::sort(stops);
    std::vector<ContainerIndex> ephemeral;
    for (const ContainerIndex index : verdict.ephemeral) {
      if (!pod.Subject(index)) ephemeral.push_back(index);
    }
    return (verdict.ended ? " kill" : "") + Joined("ephemeral", NamesOf(ephemeral)) +
           Joined("init", NamesOf(verdict.init)) +
           Joined("start", NamesOf({regular.begin(), regular.end()})) + Joined("stop", stops);
  }

  // What is started when the new sandbox is there: the old one's containers have stopped, and init
  // containers are gone.
  std::string InNewSandbox(uint32_t attempt) {
    Scene after = scene_;
    after.plan.containers.resize(size_t{after.plan.init_count} + after.plan.regular_count);
    for (ObservedSandbox& old : after.observed.sandboxes) old.state = SandboxState::kNotReady;
    after.observed.sandboxes.push_back({.id = SandboxId("new"),
                                        .attempt = attempt,
                                        .state = SandboxState::kReady,
                                        .network = after.plan.network,
                                        .ips = {"10.0.0.2"}});
    std::erase_if(after.observed.containers, [&](const ObservedContainer& container) {
      return after.plan.Find(container.name) < after.plan.init_count;
    });
    for (ObservedContainer& container : after.observed.containers) {
      if (container.state == ContainerState::kExited) continue;
      container.state = ContainerState::kExited;
      container.exit_code = 137;
    }
    const DecideInput input = after.Input();
    const KnownPod pod = MakeKnownPod(input);
    const ContainerVerdict verdict = JudgeContainers(input, pod, pod.sandboxes.front());
    return Joined("init", NamesOf(verdict.init)) + Joined("start", NamesOf(verdict.regular));
  }

  Scene scene_;
  DecideInput input_;
};

bool IsOver(const Scene& scene) {
  const DecideInput input = scene.Input();
  const KnownPod pod = MakeKnownPod(input);
  return !AllRestart(scene.plan, pod) && AlreadyOver(scene.plan, pod);
}

// The kubelet's word for "this was the last one".
std::string WithoutEnd(std::string actions) {
  if (actions.starts_with("kill ") && actions.find("sandbox=") == std::string::npos &&
      actions.find("stop=") != std::string::npos) {
    actions.erase(0, 5);
  }
  return actions;
}

TEST(PodActions, AreTheKubelets) {
  std::map<std::string, int> kinds;
  int over = 0;
  for (const auto& row : denselet::tests::ReadGolden("tests/sync/decide/golden/pod_actions.txt")) {
    ASSERT_EQ(row.size(), 3u);
    const Scene scene = ParseScene(row[0], row[1]);
    if (IsOver(scene)) {
      ++over;
      continue;
    }
    EXPECT_EQ(Mapped(scene).Text(), WithoutEnd(row[2])) << row[0] << " | " << row[1];
    for (const char* kind :
         {"kill", "sandbox", "init", "start", "stop", "reset", "ephemeral", "-"}) {
      if (row[2].find(kind) != std::string::npos) ++kinds[kind];
    }
  }
  // The table must not have lost a kind, nor be explained away.
  EXPECT_EQ(kinds.size(), 8u);
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 20) << kind;
  EXPECT_LT(over, 600);
}

}  // namespace
}  // namespace denselet::sync::tests
