#include "reactor/local_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace denselet::reactor {
namespace {

class LocalTime : public testing::Test {
 protected:
  LocalTime() {
    if (const char* zone = std::getenv("TZ")) before_ = zone;
  }
  ~LocalTime() override { Use(before_); }
  static void Use(const std::string& zone) {
    zone.empty() ? ::unsetenv("TZ") : ::setenv("TZ", zone.c_str(), 1);
    ::tzset();
  }

 private:
  std::string before_;
};

TEST_F(LocalTime, IsThatOfTheZoneAndOfTheSeason) {
  const WallTime winter{Hours(24 * 365 * 50)}, summer{Hours(24 * 365 * 50 + 24 * 180)};
  Use("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(UtcOffset(winter), Hours(1));
  EXPECT_EQ(UtcOffset(summer), Hours(2));
  Use("EST5");
  EXPECT_EQ(UtcOffset(winter), -Hours(5));
  Use("UTC0");
  EXPECT_EQ(UtcOffset(summer), Hours(0));
}

}  // namespace
}  // namespace denselet::reactor
