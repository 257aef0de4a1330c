#include "sync/admission/preemption.h"

#include <utility>

namespace denselet::sync {
namespace {

using Pods = std::vector<const PodNeeds*>;

struct Requirement {
  std::string resource;
  int64_t amount;
};
using Requirements = std::vector<Requirement>;

int64_t Freed(const PodNeeds& pod, const std::string& resource) {
  return resource == "pods" ? 1 : AmountOf(pod.reclaimable, resource);
}

std::string Text(const Requirements& requirements) {
  std::string text = "[";
  for (const auto& [resource, amount] : requirements) {
    text += "(res: " + resource + ", q: " + std::to_string(amount) + "), ";
  }
  return text + "]";
}

Error NotEnough(const Requirements& left) {
  return Error(ErrorCode::kOverloaded,
               "no set of running pods found to reclaim resources: " + Text(left));
}

// What is still required when all of them have gone.
Requirements Without(const Requirements& requirements, const Pods& pods) {
  Requirements left;
  for (const auto& [resource, amount] : requirements) {
    int64_t missing = amount;
    for (const PodNeeds* pod : pods) {
      if (missing <= 0) break;
      missing -= Freed(*pod, resource);
    }
    if (missing > 0) left.push_back({resource, missing});
  }
  return left;
}

// How much a pod leaves to be required: each requirement counts the same, whatever its size.
double Distance(const Requirements& requirements, const PodNeeds& pod) {
  double distance = 0;
  for (const auto& [resource, amount] : requirements) {
    const auto left = static_cast<double>(amount - Freed(pod, resource));
    if (left <= 0) continue;
    const double part = left / static_cast<double>(amount);
    distance += part * part;
  }
  return distance;
}

bool IsNotLarger(const PodNeeds& a, const PodNeeds& b) {
  for (const char* resource : {"memory", "cpu"}) {
    const int64_t of_a = AmountOf(a.reclaimable, resource);
    const int64_t of_b = AmountOf(b.reclaimable, resource);
    if (of_a != of_b) return of_a < of_b;
  }
  return true;
}

Result<Pods> ChooseAmong(Pods pods, Requirements requirements) {
  Pods chosen;
  while (!requirements.empty()) {
    if (pods.empty()) return NotEnough(requirements);
    double best_distance = static_cast<double>(requirements.size()) + 1;
    size_t best = 0;
    for (size_t i = 0; i < pods.size(); ++i) {
      const double distance = Distance(requirements, *pods[i]);
      const bool tie = !(distance < best_distance) && !(best_distance < distance);
      if (distance < best_distance || (tie && IsNotLarger(*pods[i], *pods[best]))) {
        best_distance = distance;
        best = i;
      }
    }
    requirements = Without(requirements, {pods[best]});
    chosen.push_back(pods[best]);
    pods[best] = pods.back();
    pods.pop_back();
  }
  return chosen;
}

Pods Joined(const Pods& a, const Pods& b) {
  Pods all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

bool MayPreempt(const PodNeeds& preemptor, const PodNeeds& other) {
  if (preemptor.critical && !other.critical) return true;
  return preemptor.priority && other.priority && *preemptor.priority > *other.priority;
}

Result<std::vector<PodUid>> ChoosePodsToPreempt(const PodNeeds& preemptor,
                                                const std::vector<const PodNeeds*>& others,
                                                const std::vector<Shortage>& shortages) {
  Pods best_effort, burstable, guaranteed;
  for (const PodNeeds* pod : others) {
    if (!MayPreempt(preemptor, *pod)) continue;
    switch (pod->qos) {
      case QosClass::kBestEffort:
        best_effort.push_back(pod);
        break;
      case QosClass::kBurstable:
        burstable.push_back(pod);
        break;
      case QosClass::kGuaranteed:
        guaranteed.push_back(pod);
        break;
    }
  }
  Requirements all;
  for (const Shortage& shortage : shortages) all.push_back({shortage.resource, shortage.missing()});
  const Pods lower = Joined(best_effort, burstable);
  const Requirements beyond = Without(all, Joined(lower, guaranteed));
  if (!beyond.empty()) return NotEnough(beyond);
  // From the dearest class down: of each, what all of the cheaper ones could not free.
  const Result<Pods> dear = ChooseAmong(guaranteed, Without(all, lower));
  if (!dear) return dear.error();
  const Result<Pods> middle = ChooseAmong(burstable, Without(all, Joined(best_effort, *dear)));
  if (!middle) return middle.error();
  const Result<Pods> cheap = ChooseAmong(best_effort, Without(all, Joined(*middle, *dear)));
  if (!cheap) return cheap.error();
  std::vector<PodUid> chosen;
  for (const PodNeeds* pod : Joined(Joined(*cheap, *middle), *dear)) chosen.push_back(pod->pod.uid);
  return chosen;
}

}  // namespace denselet::sync
