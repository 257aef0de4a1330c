#include "bench/cri_sim/settings.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace denselet::cri_sim {
namespace {

constexpr double kNanosMax = 3.6e12;  // an hour: what a lognormal tail may grow to

double Normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Unit()));
  return radius * std::cos(2 * std::numbers::pi * random.Unit());
}

}  // namespace

Duration Latency::Draw(Random& random) const {
  switch (kind) {
    case Kind::kNone:
      return {};
    case Kind::kFixed:
      return low;
    case Kind::kUniform:
      return low + Duration(static_cast<int64_t>(static_cast<double>((high - low).count()) *
                                                 random.Unit()));
    case Kind::kLognormal: {
      const double nanos = static_cast<double>(low.count()) * std::exp(sigma * Normal(random));
      return Duration(static_cast<int64_t>(std::min(nanos, kNanosMax)));
    }
  }
  CHECK(false);
}

bool Chance::Draw(Random& random) {
  if (count > 0) {
    --count;
    return true;
  }
  return probability > 0 && random.Unit() < probability;
}

}  // namespace denselet::cri_sim
