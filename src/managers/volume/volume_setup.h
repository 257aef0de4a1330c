// Sets volumes up and takes them down: sequences of blocking calls, each of which may be the last
// before the agent is killed. All of it may be done again at any time and then finds what is done;
// nothing is mounted twice.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "managers/volume/atomic_writer.h"
#include "managers/volume/volume_plan.h"
#include "reactor/api/disk_jobs.h"

namespace denselet::managers {

// The place; of a hostPath the check of its type.
Status SetUpPlace(reactor::DiskCalls& disk, const VolumePlan& plan);

// All that volumes of the pod have on this machine: mounts of sub-paths, mounts, files. Goes on
// where something fails and tells of the first. Of volumes that are not ours nothing is touched.
Status TearDownPod(reactor::DiskCalls& disk, const std::string& root_folder, const PodUid& uid);

}  // namespace denselet::managers
