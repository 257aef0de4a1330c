#include "kube/api/values/quantity.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"

namespace denselet::kube {
namespace {

using Format = Quantity::Format;

Quantity Q(std::string_view text) {
  auto quantity = Quantity::Parse(text);
  EXPECT_TRUE(quantity) << text;
  return quantity ? *quantity : Quantity();
}

std::string_view Name(Format format) {
  switch (format) {
    case Format::kDecimalSi:
      return "DecimalSI";
    case Format::kBinarySi:
      return "BinarySI";
    case Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "";
}

std::string OrderAgainstProbes(const Quantity& quantity) {
  std::string order;
  for (const auto* probe :
       {"-1", "0", "1n", "100m", "1", "1500m", "1Ki", "1G", "1Gi", "1E", "10E"}) {
    const auto compared = quantity <=> Q(probe);
    order += compared < 0 ? '<' : compared > 0 ? '>' : '=';
  }
  return order;
}

void ExpectRow(const tests::GoldenRow& row) {
  const auto quantity = Quantity::Parse(row.at(0));
  const auto normalized = Quantity::Normalize(row.at(0));
  if (row.at(1) == "error") {
    ASSERT_FALSE(quantity);
    ASSERT_FALSE(normalized);
    EXPECT_EQ(quantity.error(), Error(ErrorCode::kInvalid, row.at(2)));
    EXPECT_EQ(normalized.error(), quantity.error());
    return;
  }
  ASSERT_TRUE(quantity) << quantity.error().message();
  ASSERT_TRUE(normalized);
  EXPECT_EQ(*normalized, row.at(2));
  EXPECT_EQ(quantity->ToString(), row.at(3));
  EXPECT_EQ(Name(quantity->format()), row.at(4));
  EXPECT_EQ(OrderAgainstProbes(*quantity), row.at(5));
  if (row.at(6) != "-") {
    EXPECT_EQ(std::to_string(quantity->Units()), row.at(6));
    EXPECT_EQ(std::to_string(quantity->Milli()), row.at(7));
  }
  EXPECT_EQ(Q(quantity->ToString()), *quantity);
  EXPECT_EQ(Q(*normalized), *quantity);
}

TEST(Quantity, IsReadWrittenAndComparedAsTheApiServerDoes) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/values/golden/quantity.txt")) {
    SCOPED_TRACE(row.at(0));
    ExpectRow(row);
  }
}

TEST(Quantity, IsZeroAtFirst) {
  const Quantity zero;
  EXPECT_TRUE(zero.IsZero());
  EXPECT_EQ(zero.Sign(), 0);
  EXPECT_EQ(zero.ToString(), "0");
  EXPECT_EQ(zero, Q("0Ki"));
}

TEST(Quantity, IsMadeOfUnitsAndThousandths) {
  EXPECT_EQ(Quantity::FromUnits(1536, Format::kBinarySi).ToString(), "1536");
  EXPECT_EQ(Quantity::FromUnits(int64_t{3} << 29, Format::kBinarySi).ToString(), "1536Mi");
  EXPECT_EQ(Quantity::FromUnits(2000, Format::kDecimalExponent).ToString(), "2e3");
  EXPECT_EQ(Quantity::FromMilli(250).ToString(), "250m");
  EXPECT_EQ(Quantity::FromMilli(4000).ToString(), "4");
  EXPECT_EQ(Quantity::FromUnits(std::numeric_limits<int64_t>::min()).ToString(),
            "-9223372036854775808");
}

TEST(Quantity, KeepsNumbersThatTheGoTypeLoses) {
  EXPECT_EQ(Q("1000E").ToString(), "1000E");
  EXPECT_EQ(Q("1e21").ToString(), "1e21");
  EXPECT_EQ(Q("12345678e20").ToString(), "1234567800e18");
  Quantity many = Q("7Ei");
  for (int i = 0; i < 10; ++i) many += many;
  EXPECT_EQ(many.ToString(), "7168Ei");
}

TEST(Quantity, StopsAtTheMostItHolds) {
  const Quantity most = Q("1e28");
  EXPECT_EQ(Q("1e30"), most);
  EXPECT_EQ(Q("1e2147483648"), most);
  EXPECT_EQ(Q("1" + std::string(1000, '0')), most);
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(Q("-1e30") - most, Q("-1e28"));
  EXPECT_EQ(Quantity::Normalize("1e30").operator*(), "1e30");
}

// What we cannot hold we need not change. The right column is upstream's.
TEST(Quantity, TextsBeyondTheMostAreOnlyMadeCanonical) {
  const std::pair<const char*, const char*> rows[] = {
      {"1e400", "10e399"},
      {"1e28", "10e27"},
      {"1e29", "100e27"},
      {"120e400", "1200e399"},
      {"1.5e400", "1.5e400"},
      {"1.25e40", "12500e36"},
      {"-1e401", "-100e399"},
      {"1000e398", "100e399"},
      {"123456789012345678901234567890e5", "12345678901234567890123456789e6"},
      {"0e500", "0"},
      {"123456789012345678901234567890123", "123456789012345678901234567890123"},
      {"5e1000000", "50e999999"},
      {"00012.3400e50", "1234e48"},
  };
  for (const auto& [text, canonical] : rows) {
    const auto normalized = Quantity::Normalize(text);
    ASSERT_TRUE(normalized) << text;
    EXPECT_EQ(*normalized, canonical) << text;
  }
  // Upstream prints "100".
  EXPECT_EQ(*Quantity::Normalize("100000000000000000000000000000000"), "100000000000000E");
}

TEST(Quantity, UnitsAreRoundedAwayFromZeroAndHeldInRange) {
  struct Case {
    std::string_view text;
    int64_t units, milli;
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const std::vector<Case> cases = {
      {"1n", 1, 1},         {"-1n", -1, -1},
      {"1500m", 2, 1500},   {"-1500m", -2, -1500},
      {"1001u", 1, 2},      {"8Ei", kMax, kMax},
      {"10E", kMax, kMax},  {"-10E", kMin, kMin},
      {"1e28", kMax, kMax}, {"9P", 9'000'000'000'000'000, 9'000'000'000'000'000'000},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Q(c.text).Units(), c.units) << c.text;
    EXPECT_EQ(Q(c.text).Milli(), c.milli) << c.text;
  }
}

TEST(Quantity, SumsAreExact) {
  Quantity sum = Q("0.1");
  sum += Q("0.2");
  EXPECT_EQ(sum, Q("0.3"));
  sum -= Q("300m");
  EXPECT_TRUE(sum.IsZero());
  EXPECT_EQ((Q("1Gi") + Q("1n")).ToString(), "1073741824000000001n");
  EXPECT_EQ((Q("1Ki") - Q("1Mi")).ToString(), "-1023Ki");
}

TEST(Quantity, AZeroTakesTheFormatOfWhatIsAdded) {
  Quantity sum;
  sum += Q("1Gi");
  EXPECT_EQ(sum.ToString(), "1Gi");
  sum += Q("1G");
  EXPECT_EQ(sum.format(), Format::kBinarySi);
  EXPECT_EQ((Quantity() - Q("2e3")).ToString(), "-2e3");
}

TEST(Quantity, OrderIsByValueNotByFormat) {
  EXPECT_EQ(Q("1024"), Q("1Ki"));
  EXPECT_EQ(Q("1e3"), Q("1k"));
  EXPECT_LT(Q("1G"), Q("1Gi"));
  EXPECT_GT(Q("-1G"), Q("-1Gi"));
}

TEST(Quantity, ALongTextTakesTimeInProportion) {
  const std::string nines(100'000, '9');
  EXPECT_EQ(Q(nines), Q("1e28"));
  EXPECT_EQ(Q("0." + nines + "Ki"), Q("1Ki"));
  EXPECT_EQ(Q("0." + nines), Q("1"));
  EXPECT_EQ(Q("0." + std::string(100'000, '0') + "1"), Q("1n"));
}

}  // namespace
}  // namespace denselet::kube
