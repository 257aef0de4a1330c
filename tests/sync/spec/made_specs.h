// A specification, asked for and waited for, in virtual time.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sync/spec/pod_specs.h"
#include "tests/fakes/fake_pod_objects.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::sync {

class MadeSpecs {
 public:
  explicit MadeSpecs(SpecNode node = {})
      : files_(world_.loop(0), world_.random(), disk_),
        objects_(world_.loop(0)),
        volumes_(world_.loop(0)),
        specs_({world_.loop(0), files_, objects_, volumes_}, std::move(node)) {}

  PodSpecBuilder& specs() { return specs_; }
  sim::Disk& disk() { return disk_; }
  fakes::FakePodObjects& objects() { return objects_; }
  fakes::FakePodVolumes& volumes() { return volumes_; }

  Result<ContainerSpec> Container(const kube::PodRef& pod, const ContainerWish& wish) {
    std::optional<Result<ContainerSpec>> answer;
    specs_.Container({}, pod, wish,
                     [&answer](Result<ContainerSpec> made) { answer.emplace(std::move(made)); });
    world_.RunUntil(world_.clock().Now() + Seconds(10));
    if (!answer) return Error(ErrorCode::kBug, "no answer");
    return *std::move(answer);
  }

  PullSecrets FetchPullSecrets(const std::vector<std::string>& names) {
    std::optional<PullSecrets> answer;
    specs_.FetchPullSecrets({}, "n", names,
                            [&answer](PullSecrets secrets) { answer = std::move(secrets); });
    world_.RunUntil(world_.clock().Now() + Seconds(10));
    return answer ? *answer : PullSecrets{.missing = {"no answer"}};
  }

 private:
  sim::World world_{{.seed = 1, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_;
  fakes::FakePodObjects objects_;
  fakes::FakePodVolumes volumes_;
  PodSpecBuilder specs_;
};

}  // namespace denselet::sync
