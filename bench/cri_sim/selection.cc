#include "bench/cri_sim/selection.h"

#include <map>

namespace denselet::cri_sim {
namespace {

using Labels = google::protobuf::Map<std::string, std::string>;

constexpr char kUidLabel[] = "io.kubernetes.pod.uid";

bool Match(const Pairs& pairs, const std::map<std::string, std::string>& wanted) {
  for (const auto& [key, value] : wanted) {
    if (pairs.Get(key) != value) return false;
  }
  return true;
}

std::vector<Sandbox*> Candidates(World& world, const std::string& id,
                                 const std::map<std::string, std::string>& labels) {
  if (!id.empty()) {
    Sandbox* const one = world.model.FindSandbox(id);
    return one == nullptr ? std::vector<Sandbox*>() : std::vector<Sandbox*>{one};
  }
  if (const auto uid = labels.find(kUidLabel); uid != labels.end()) {
    return world.model.SandboxesOfPod(uid->second);
  }
  std::vector<Sandbox*> all;
  all.reserve(world.model.sandboxes().size());
  for (const auto& [key, sandbox] : world.model.sandboxes()) all.push_back(sandbox.get());
  return all;
}

std::map<std::string, std::string> Sorted(const Labels& labels) {
  // tidy: allow random-order because this is how they are sorted here
  return {labels.begin(), labels.end()};
}

}  // namespace

std::vector<const Sandbox*> Select(World& world, const cri::PodSandboxFilter& filter) {
  const std::map<std::string, std::string> labels = Sorted(filter.label_selector());
  std::vector<const Sandbox*> chosen;
  for (const Sandbox* sandbox : Candidates(world, filter.id(), labels)) {
    if (filter.has_state() &&
        static_cast<int>(filter.state().state()) != static_cast<int>(sandbox->state)) {
      continue;
    }
    if (Match(sandbox->spec.labels, labels)) chosen.push_back(sandbox);
  }
  ShuffleIfAsked(world, chosen);
  return chosen;
}

std::vector<const Container*> Select(World& world, const cri::ContainerFilter& filter) {
  const std::map<std::string, std::string> labels = Sorted(filter.label_selector());
  std::vector<const Container*> chosen;
  const auto add = [&](const Container& container) {
    if (filter.has_state() &&
        static_cast<int>(filter.state().state()) != static_cast<int>(container.state)) {
      return;
    }
    const bool fits =
        filter.pod_sandbox_id().empty() || filter.pod_sandbox_id() == container.sandbox->id;
    if (fits && Match(container.spec.labels, labels)) chosen.push_back(&container);
  };
  if (!filter.id().empty()) {
    if (const Container* one = world.model.FindContainer(filter.id())) add(*one);
  } else if (!filter.pod_sandbox_id().empty() || labels.contains(kUidLabel)) {
    for (const Sandbox* sandbox : Candidates(world, filter.pod_sandbox_id(), labels)) {
      for (const Container* container : sandbox->containers) add(*container);
    }
  } else {
    chosen.reserve(world.model.containers().size());
    for (const auto& [id, container] : world.model.containers()) add(*container);
  }
  ShuffleIfAsked(world, chosen);
  return chosen;
}

}  // namespace denselet::cri_sim
