#include "base/hash.h"

namespace denselet {

Fnv128 Fnv1a128(std::string_view data) {
  Fnv1a128Stream stream;
  stream.Add(data);
  return stream.Sum();
}

Fnv128 Fnv1a128Stream::Sum() const {
  Fnv128 out;
  Uint128 rest = hash_;
  for (size_t i = out.size(); i-- > 0; rest >>= 8) out[i] = static_cast<uint8_t>(rest);
  return out;
}

}  // namespace denselet
