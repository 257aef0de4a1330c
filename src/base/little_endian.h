// Numbers in files of ours: little-endian, whatever the machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace denselet {

template <std::unsigned_integral T>
void PutLittleEndian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

// `data` has at least offset + sizeof(T) bytes.
template <std::unsigned_integral T>
T GetLittleEndian(std::string_view data, size_t offset) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    const auto byte = static_cast<unsigned char>(data[offset + i]);
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(byte) << (8 * i)));
  }
  return value;
}

}  // namespace denselet
