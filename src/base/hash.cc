#include "base/hash.h"

namespace denselet {

Fnv128 Fnv1a128(std::string_view data) {
  __extension__ using Uint128 = unsigned __int128;
  constexpr Uint128 kOffset = (Uint128{0x6c62272e07bb0142u} << 64) | 0x62b821756295c58du;
  constexpr Uint128 kPrime = (Uint128{0x1000000} << 64) | 0x13bu;
  Uint128 hash = kOffset;
  for (const char c : data) hash = (hash ^ static_cast<uint8_t>(c)) * kPrime;
  Fnv128 out;
  for (size_t i = out.size(); i-- > 0; hash >>= 8) out[i] = static_cast<uint8_t>(hash);
  return out;
}

}  // namespace denselet
