// What a pod's group may do in its volumes: upstream's bits.
#pragma once

#include <cstdint>

#include "reactor/api/disk_jobs.h"

namespace denselet::managers {

inline constexpr uint32_t kSetGroup = 02000;  // what is made in there is the group's, too

constexpr reactor::GroupAccess ReadableBy(uint32_t group) {
  return {.gid = group, .file_bits = 0440, .directory_bits = kSetGroup | 0440 | 0110};
}
constexpr reactor::GroupAccess WritableBy(uint32_t group) {
  return {.gid = group, .file_bits = 0660, .directory_bits = kSetGroup | 0660 | 0110};
}

}  // namespace denselet::managers
