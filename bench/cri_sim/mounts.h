// What a container was given to mount, for who asks the control.
#pragma once

#include <string>
#include <vector>

#include "bench/cri_sim/model.h"

namespace denselet::cri_sim {

struct SeenMount {
  std::string path = {};  // in the container
  std::string host_path = {};
  bool read_only = false;
  bool recursive_read_only = false;
  std::string image = {};  // as the pod names it
  std::string image_sub_path = {};
};

std::vector<SeenMount> MountsOf(const ContainerSpec& container);

}  // namespace denselet::cri_sim
