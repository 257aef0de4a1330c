// CRC-32C (Castagnoli): finds the damage that disks do to records of ours. Not against people.
#pragma once

#include <cstdint>
#include <string_view>

namespace denselet {

// Of `data` behind what has the sum `crc`; 0 is the sum of nothing.
uint32_t Crc32c(std::string_view data, uint32_t crc = 0);

}  // namespace denselet
