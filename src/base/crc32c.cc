#include "base/crc32c.h"

#include <array>
#include <cstddef>

namespace denselet {
namespace {

constexpr size_t kSlices = 8;
using Table = std::array<std::array<uint32_t, 256>, kSlices>;

// [0] is the sum of a byte; [n] the same with n zero bytes behind it.
constexpr Table MakeTable() {
  Table table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = table[slice - 1][byte];
      table[slice][byte] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr Table kTable = MakeTable();

uint32_t ByteAt(std::string_view data, size_t at) { return static_cast<uint8_t>(data[at]); }

}  // namespace

uint32_t Crc32c(std::string_view data, uint32_t crc) {
  crc = ~crc;
  while (data.size() >= kSlices) {
    const uint32_t low = crc ^ (ByteAt(data, 0) | ByteAt(data, 1) << 8 | ByteAt(data, 2) << 16 |
                                ByteAt(data, 3) << 24);
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^
          kTable[4][low >> 24] ^ kTable[3][ByteAt(data, 4)] ^ kTable[2][ByteAt(data, 5)] ^
          kTable[1][ByteAt(data, 6)] ^ kTable[0][ByteAt(data, 7)];
    data.remove_prefix(kSlices);
  }
  for (size_t i = 0; i < data.size(); ++i) {
    crc = (crc >> 8) ^ kTable[0][(crc ^ ByteAt(data, i)) & 0xff];
  }
  return ~crc;
}

}  // namespace denselet
