#include "managers/volume/filling.h"

#include <algorithm>
#include <utility>

#include "kube/api/types.h"
#include "managers/volume/volume_setup.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;

bool Wanted(const std::set<std::string>* only, const std::string& name) {
  return only == nullptr || only->count(name) != 0;
}

Result<FilledVolume> FillOne(const core::Pod& pod, const core::Volume& volume,
                             const SourceAnswers& answers, const VolumeNode& node,
                             const FillingStamp& stamp, PayloadBudget& budget) {
  Result<VolumePlan> plan = PlanVolume(pod, volume, node);
  if (!plan) return plan.error();
  FilledVolume filled{.plan = *std::move(plan)};
  if (!HasContent(filled.plan.kind)) return filled;
  Result<Payload> payload = PayloadOf(pod, volume, answers, node.allocatable, budget);
  if (!payload) return payload.error();
  filled.content = ContentWrite{.folder = filled.plan.path,
                                .payload = *std::move(payload),
                                .stamp = stamp.stamp,
                                .number = stamp.number,
                                .fs_group = filled.plan.fs_group};
  return filled;
}

bool TellsOfThePod(const core::VolumeSource& source) {
  if (source.has_downwardapi()) return true;
  return std::ranges::any_of(source.projected().sources(),
                             [](const auto& part) { return part.has_downwardapi(); });
}

}  // namespace

Filling FillVolumes(const core::Pod& pod, const std::set<std::string>* only,
                    const SourceAnswers& answers, const VolumeNode& node,
                    const FillingStamp& stamp) {
  Filling filling;
  PayloadBudget budget;
  for (const auto& volume : pod.spec().volumes()) {
    if (!Wanted(only, volume.name())) continue;
    Result<FilledVolume> filled = FillOne(pod, volume, answers, node, stamp, budget);
    if (!filled) {
      filling.failed.push_back({volume.name(), filled.error()});
      continue;
    }
    filling.volumes.push_back(*std::move(filled));
    for (const sync::TokenWish& wish : WishesOf(pod, volume).tokens) {
      const auto answer = answers.tokens.find(wish);
      if (answer == answers.tokens.end() || !answer->second) continue;
      const WallTime due = answer->second->refresh_at;
      const auto [at, is_new] = filling.tokens.emplace(volume.name(), due);
      if (!is_new) at->second = std::min(at->second, due);
    }
  }
  return filling;
}

SourceWishes WishesOf(const core::Pod& pod, const std::set<std::string>* only) {
  SourceWishes wishes;
  for (const auto& volume : pod.spec().volumes()) {
    if (Wanted(only, volume.name())) {
      SourceWishes more = WishesOf(pod, volume);
      wishes.objects.merge(more.objects);
      wishes.tokens.merge(more.tokens);
      wishes.trusts.merge(more.trusts);
    }
  }
  return wishes;
}

std::set<std::string> VolumesWith(const core::Pod& pod, const sync::ObjectKey& key) {
  std::set<std::string> names;
  for (const auto& volume : pod.spec().volumes()) {
    const SourceWishes wishes = WishesOf(pod, volume);
    const bool of_it = key.kind == sync::ObjectKind::kTrustBundles ? !wishes.trusts.empty()
                                                                   : wishes.objects.count(key) != 0;
    if (of_it) names.insert(volume.name());
  }
  return names;
}

std::set<std::string> VolumesOfThePod(const core::Pod& pod) {
  std::set<std::string> names;
  for (const auto& volume : pod.spec().volumes()) {
    if (TellsOfThePod(volume.volumesource())) names.insert(volume.name());
  }
  return names;
}

std::vector<sync::VolumeFault> SetUpVolumes(reactor::DiskCalls& disk,
                                            const std::vector<FilledVolume>& volumes) {
  std::vector<sync::VolumeFault> failed;
  for (const FilledVolume& volume : volumes) {
    Status done = SetUpPlace(disk, volume.plan);
    if (done && volume.content) done = WriteContent(disk, *volume.content);
    if (!done) failed.push_back({volume.plan.name, done.error()});
  }
  return failed;
}

}  // namespace denselet::managers
