// Volumes with what they are to hold, ready for a job: the plan of each and its files, or why there
// can be none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "managers/volume/atomic_writer.h"
#include "managers/volume/payload.h"
#include "managers/volume/volume_plan.h"
#include "reactor/api/disk_jobs.h"
#include "sync/ports/pod_services.h"

namespace denselet::managers {

struct FilledVolume {
  VolumePlan plan = {};
  std::optional<ContentWrite> content = {};
};

struct Filling {
  std::vector<FilledVolume> volumes = {};
  // What cannot be filled, and why.
  std::vector<sync::VolumeFault> failed = {};
  // By volume: when the first of its tokens is due.
  std::map<std::string, WallTime> tokens = {};
};

struct FillingStamp {
  std::string stamp = {};
  uint32_t number = 0;
};

// Of all volumes of the pod, or of those that are named.
Filling FillVolumes(const kube::core::Pod& pod, const std::set<std::string>* only,
                    const SourceAnswers& answers, const VolumeNode& node,
                    const FillingStamp& stamp);

// What has to be asked for before.
SourceWishes WishesOf(const kube::core::Pod& pod, const std::set<std::string>* only);

// Volumes that an object is in; volumes that tell of the pod itself.
std::set<std::string> VolumesWith(const kube::core::Pod& pod, const sync::ObjectKey& key);
std::set<std::string> VolumesOfThePod(const kube::core::Pod& pod);

// The job, blocking: each volume, whatever becomes of the others. Answers with those that failed.
std::vector<sync::VolumeFault> SetUpVolumes(reactor::DiskCalls& disk,
                                            const std::vector<FilledVolume>& volumes);

}  // namespace denselet::managers
