#include "kube/api/values/float_text.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

// Expected texts are what Go 1.26 prints: json.Marshal, and FormatFloat with 'g' of 64 and of 32
// bits.
TEST(FloatText, IsAsGoWritesIt) {
  struct Case {
    double number;
    std::string json, g, g_float;
  };
  const std::vector<Case> cases = {
      {0.0, "0", "0", "0"},
      {-0.0, "-0", "-0", "-0"},
      {1.0, "1", "1", "1"},
      {-1.0, "-1", "-1", "-1"},
      {0.5, "0.5", "0.5", "0.5"},
      {-1.5, "-1.5", "-1.5", "-1.5"},
      {100000.0, "100000", "100000", "100000"},
      {123456.0, "123456", "123456", "123456"},
      {1234567.0, "1234567", "1.234567e+06", "1.234567e+06"},
      {1e6, "1000000", "1e+06", "1e+06"},
      {1e20, "100000000000000000000", "1e+20", "1e+20"},
      {123456789012345680000.0, "123456789012345680000", "1.2345678901234568e+20", "1.2345679e+20"},
      {1e21, "1e+21", "1e+21", "1e+21"},
      {1.5e21, "1.5e+21", "1.5e+21", "1.5e+21"},
      {123456789.0, "123456789", "1.23456789e+08", "1.2345679e+08"},
      {0.0001, "0.0001", "0.0001", "0.0001"},
      {0.00001, "0.00001", "1e-05", "1e-05"},
      {0.000001, "0.000001", "1e-06", "1e-06"},
      {0.0000009, "9e-7", "9e-07", "9e-07"},
      {1.5e-7, "1.5e-7", "1.5e-07", "1.5e-07"},
      {1e-10, "1e-10", "1e-10", "1e-10"},
      {100000.5, "100000.5", "100000.5", "100000.5"},
      {12345678.9, "12345678.9", "1.23456789e+07", "1.2345679e+07"},
      {0.1, "0.1", "0.1", "0.1"},
      {0.3, "0.3", "0.3", "0.3"},
      {3.4028234663852886e38, "3.4028234663852886e+38", "3.4028234663852886e+38", "3.4028235e+38"},
      {5e-324, "5e-324", "5e-324", "0"},
      {2.2250738585072014e-308, "2.2250738585072014e-308", "2.2250738585072014e-308", "0"},
      {16777217.0, "16777217", "1.6777217e+07", "1.6777216e+07"},
      {9007199254740993.0, "9007199254740992", "9.007199254740992e+15", "9.007199e+15"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(JsonFloatText(c.number), c.json);
    EXPECT_EQ(GoFloatText(c.number), c.g);
    EXPECT_EQ(GoFloatText(static_cast<float>(c.number)), c.g_float);
  }
}

TEST(FloatText, NamesWhatIsNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(GoFloatText(kInfinity), "+Inf");
  EXPECT_EQ(GoFloatText(-kInfinity), "-Inf");
  EXPECT_EQ(GoFloatText(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

}  // namespace
}  // namespace denselet::kube
