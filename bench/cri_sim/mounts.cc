#include "bench/cri_sim/mounts.h"

#include "bench/cri_sim/cri_messages.h"

namespace denselet::cri_sim {

std::vector<SeenMount> MountsOf(const ContainerSpec& container) {
  cri::ContainerStatus status;
  std::vector<SeenMount> mounts;
  if (!status.ParseFromString(container.status_extra)) return mounts;
  for (const cri::Mount& mount : status.mounts()) {
    mounts.push_back({.path = mount.container_path(),
                      .host_path = mount.host_path(),
                      .read_only = mount.readonly(),
                      .recursive_read_only = mount.recursive_read_only(),
                      .image = mount.image().user_specified_image(),
                      .image_sub_path = mount.image_sub_path()});
  }
  return mounts;
}

}  // namespace denselet::cri_sim
