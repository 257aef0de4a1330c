#include "kube/api/patch/json_merge_patch.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

std::string Patched(std::string_view json, std::string_view patch) {
  auto patched = ApplyJsonMergePatch(json, patch);
  return patched ? *patched : patched.error().message();
}

// The examples of RFC 7386, appendix A.
TEST(JsonMergePatch, DoesWhatItsSpecificationShows) {
  struct Case {
    std::string_view json, patch, patched;
  };
  constexpr Case kCases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Patched(c.json, c.patch), c.patched) << c.patch;
}

TEST(JsonMergePatch, NumbersAndTextsStayAsTheyAre) {
  EXPECT_EQ(
      Patched(R"({"a":18446744073709551616,"b":1.50})", R"({"c":1e400,"d":"é\u0000\u2028<"})"),
      "{\"a\":18446744073709551616,\"b\":1.50,\"c\":1e400,"
      "\"d\":\"é\\u0000\\u2028\\u003c\"}");
}

TEST(JsonMergePatch, OfKeysThatComeTwiceTheLastCounts) {
  EXPECT_EQ(Patched(R"({"a":1,"b":{"x":1},"a":2})", R"({"b":{"y":1},"b":{"y":2},"b":{"z":3}})"),
            R"({"a":2,"b":{"x":1,"z":3}})");
}

TEST(JsonMergePatch, AnythingThatIsNoJsonIsRefused) {
  EXPECT_EQ(Patched("{}", "{\n\"a\":}").substr(0, 33), "read the patch: line 2: not JSON:");
  EXPECT_EQ(Patched("", "{}").substr(0, 36), "read the document: line 1: not JSON:");
  const auto nested = [](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(Patched("{}", nested(5'000)), "read the patch: nested more than 1000 levels deep");
  EXPECT_EQ(Patched("{}", nested(100'000)),
            "read the patch: line 1: nested deeper than 10000 levels");
}

}  // namespace
}  // namespace denselet::kube
