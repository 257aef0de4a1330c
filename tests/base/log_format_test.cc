// The expected lines were written by klog 2.140.0 (textlogger) and by component-base 0.36.3
// (logs/json) for the same calls, but for the places that log_format.h says differ.
#include "base/log_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace denselet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kTextHead = "I1116 13:32:21.123456   12345 pod_worker.cc:123] ";
constexpr std::string_view kJsonHead =
    R"({"ts":1794835941123.4568,"caller":"sync/pod_worker.cc:123","msg":)";

// 16 November 2026 13:32:21.123456789 UTC.
LogRecord Record(std::string_view message, std::span<const LogPair> pairs = {}) {
  LogRecord record;
  record.time = WallTime(Duration(1794835941123456789));
  record.file = "sync/pod_worker.cc";
  record.line = 123;
  record.message = message;
  record.pairs = pairs;
  return record;
}

std::string Format(LogStyle style, const LogRecord& record, size_t buffer_bytes = kLineBytesMax) {
  std::vector<char> buffer(buffer_bytes);
  const LogFormat format{.style = style, .utc_offset = Seconds(0), .thread_id = 12345};
  return std::string(FormatLine(format, record, buffer));
}
std::string Text(const LogRecord& record) { return Format(LogStyle::kText, record); }
std::string Json(const LogRecord& record) { return Format(LogStyle::kJson, record); }

// Only what stands behind `k=` or `"k":`.
std::string TextValue(LogValue value) {
  const LogPair pairs[] = {KV("k", value)};
  const std::string line = Text(Record("M", pairs));
  const std::string start = std::string(kTextHead) + "\"M\" k=";
  EXPECT_EQ(line.substr(0, start.size()), start);
  return line.substr(start.size(), line.size() - start.size() - 1);
}
std::string JsonValue(LogValue value) {
  const LogPair pairs[] = {KV("k", value)};
  const std::string line = Json(Record("M", pairs));
  const std::string start = std::string(kJsonHead) + R"("M","v":0,"k":)";
  EXPECT_EQ(line.substr(0, start.size()), start);
  return line.substr(start.size(), line.size() - start.size() - 2);
}

std::string Line(std::string_view head, std::string_view rest) {
  return std::string(head) + std::string(rest) + "\n";
}

TEST(LogFormat, InfoLineInBothStyles) {
  const ObjectRef pod{"kube-system", "coredns"};
  const PodUid uid("1234-5");
  const LogPair pairs[] = {Pod(pod), Uid(uid), KV("restarts", 3)};
  const LogRecord record = Record("Started container", pairs);
  EXPECT_EQ(Text(record),
            Line(kTextHead,
                 R"("Started container" pod="kube-system/coredns" podUID="1234-5" restarts=3)"));
  EXPECT_EQ(Json(record),
            Line(kJsonHead,
                 R"("Started container","v":0,"pod":{"name":"coredns","namespace":"kube-system"},)"
                 R"("podUID":"1234-5","restarts":3})"));
}

TEST(LogFormat, LineWithoutPairs) {
  EXPECT_EQ(Text(Record("Started")), Line(kTextHead, "\"Started\""));
  EXPECT_EQ(Json(Record("Started")), Line(kJsonHead, R"("Started","v":0})"));
}

TEST(LogFormat, VerbosityIsShownInJsonOnly) {
  const LogPair pairs[] = {KV("ok", true), KV("backoff", Milliseconds(1500))};
  LogRecord record = Record("Step", pairs);
  record.verbosity = 4;
  EXPECT_EQ(Text(record), Line(kTextHead, R"("Step" ok=true backoff="1.5s")"));
  EXPECT_EQ(Json(record), Line(kJsonHead, R"("Step","v":4,"ok":true,"backoff":"1.5s"})"));
}

TEST(LogFormat, ErrorComesFirstInTextAndLastInJson) {
  const ObjectRef pod{"kube-system", "coredns"};
  const Error error(ErrorCode::kPermission, "permission denied");
  const LogPair carried[] = {Pod(pod)};
  const LogPair pairs[] = {KV("x", 1)};
  LogRecord record = Record("Failed", pairs);
  record.severity = Severity::kError;
  record.error = &error;
  record.carried = carried;
  record.logger = "sync.worker";
  EXPECT_EQ(Text(record),
            "E1116 13:32:21.123456   12345 pod_worker.cc:123] \"Failed\" err=\"permission denied\" "
            "logger=\"sync.worker\" pod=\"kube-system/coredns\" x=1\n");
  EXPECT_EQ(Json(record),
            R"({"ts":1794835941123.4568,"logger":"sync.worker","caller":"sync/pod_worker.cc:123",)"
            R"("msg":"Failed","pod":{"name":"coredns","namespace":"kube-system"},"x":1,)"
            R"("err":"permission denied"})"
            "\n");
}

TEST(LogFormat, CarriedPairsComeBeforeTheVerbosityInJson) {
  const LogPair carried[] = {KV("a", 1)};
  const LogPair pairs[] = {KV("x", 1)};
  LogRecord record = Record("Worked", pairs);
  record.verbosity = 2;
  record.carried = carried;
  record.logger = "worker";
  EXPECT_EQ(Text(record), Line(kTextHead, R"("Worked" logger="worker" a=1 x=1)"));
  EXPECT_EQ(Json(record),
            R"({"ts":1794835941123.4568,"logger":"worker","caller":"sync/pod_worker.cc:123",)"
            R"("msg":"Worked","a":1,"v":2,"x":1})"
            "\n");
}

TEST(LogFormat, ErrorLineWithoutErrorHasNeitherErrNorVerbosity) {
  const LogPair pairs[] = {KV("a", 1)};
  LogRecord record = Record("Failed", pairs);
  record.severity = Severity::kError;
  EXPECT_EQ(Json(record), Line(kJsonHead, R"("Failed","a":1})"));
}

TEST(LogFormat, WarningIsMarkedInTextAndAnInfoLineInJson) {
  LogRecord record = Record("Odd");
  record.severity = Severity::kWarning;
  EXPECT_EQ(Text(record)[0], 'W');
  EXPECT_EQ(Json(record), Line(kJsonHead, R"("Odd","v":0})"));
}

TEST(LogFormat, HeaderTimeIsLocal) {
  char buffer[kLineBytesMin];
  const auto head = [&](WallTime time, Seconds offset) {
    LogRecord record = Record("M");
    record.time = time;
    const LogFormat format{.style = LogStyle::kText, .utc_offset = offset, .thread_id = 12345678};
    return std::string(FormatLine(format, record, buffer).substr(0, 31));
  };
  const WallTime new_year(Seconds(1767225600));  // 1 January 2026, midnight UTC
  EXPECT_EQ(head(new_year, Seconds(0)), "I0101 00:00:00.000000 12345678 ");
  EXPECT_EQ(head(new_year, Hours(-1)), "I1231 23:00:00.000000 12345678 ");
  EXPECT_EQ(head(new_year + Duration(999), Minutes(330)), "I0101 05:30:00.000000 12345678 ");
}

TEST(LogFormat, JsonTimeIsMillisecondsWithTheFractionADoubleHolds) {
  const auto ts = [](int64_t ns) {
    LogRecord record = Record("M");
    record.time = WallTime(Duration(ns));
    const std::string line = Json(record);
    return line.substr(6, line.find(',') - 6);
  };
  EXPECT_EQ(ts(1700000000123456789), "1700000000123.4568");
  EXPECT_EQ(ts(1700000000000000000), "1700000000000");
  EXPECT_EQ(ts(1700000000500000000), "1700000000500");
  EXPECT_EQ(ts(1763300000001000000), "1763300000001");
  EXPECT_EQ(ts(999999), "0.999999");
  EXPECT_EQ(ts(0), "0");
  EXPECT_EQ(ts(-1500000), "-1.5");
}

TEST(LogFormat, CallerIsTheLastFolderAndTheFile) {
  LogRecord record = Record("M");
  const auto caller = [&](std::string_view file) {
    record.file = file;
    const std::string line = Json(record);
    const size_t start = line.find("caller") + 9;
    return line.substr(start, line.find('"', start) - start);
  };
  EXPECT_EQ(caller("managers/probe/prober.cc"), "probe/prober.cc:123");
  EXPECT_EQ(caller("main.cc"), "main.cc:123");
  EXPECT_EQ(caller("/main.cc"), "/main.cc:123");
}

TEST(LogFormat, StringsAreQuotedAsGoQuotes) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(TextValue(""), R"("")");
  EXPECT_EQ(TextValue("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(TextValue("tab\tcr\rbell\abs\bff\fvt\v"), R"("tab\tcr\rbell\abs\bff\fvt\v")");
  EXPECT_EQ(TextValue("\x00\x1b[31m\x7f"sv), R"("\x00\x1b[31m\x7f")");
  EXPECT_EQ(TextValue("bad \xff\xc3( \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\x80 \xe2\x82"),
            R"("bad \xff\xc3( \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\x80 \xe2\x82")");
  EXPECT_EQ(TextValue("é 世 😀 \u00a0 \u200b \u2028 \ufeff \ue000 \U000e0001 \U0010ffff \ufffd "
                      "\u00ad µs"),
            "\"é 世 😀 \\u00a0 \\u200b \\u2028 \\ufeff \\ue000 \\U000e0001 \\U0010ffff \ufffd "
            "\\u00ad µs\"");
  EXPECT_EQ(TextValue("\xc2\x85"), R"("\u0085")");
  EXPECT_EQ(TextValue("<html>&'"), R"("<html>&'")");
}

TEST(LogFormat, StringsAreEscapedAsZapEscapes) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(JsonValue("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(JsonValue("tab\tcr\rbell\abs\bff\fvt\v"),
            R"("tab\tcr\rbell\u0007bs\u0008ff\u000cvt\u000b")");
  EXPECT_EQ(JsonValue("\x00\x1b[31m\x7f"sv), "\"\\u0000\\u001b[31m\x7f\"");
  EXPECT_EQ(JsonValue("bad \xff\xc3( \xed\xa0\x80 \xc0\x80 \xe2\x82"),
            R"("bad \ufffd\ufffd( \ufffd\ufffd\ufffd \ufffd\ufffd \ufffd\ufffd")");
  EXPECT_EQ(JsonValue("é 世 😀 \u200b"), "\"é 世 😀 \u200b\"");
  EXPECT_EQ(JsonValue("one\ntwo\n"), R"("one\ntwo\n")");
}

TEST(LogFormat, ValuesOfSeveralLinesAreIndentedInText) {
  const LogPair pairs[] = {KV("m", "one\ntwo"), KV("k", 1)};
  EXPECT_EQ(Text(Record("Multi", pairs)), Line(kTextHead, "\"Multi\" m=<\n\tone\n\ttwo\n > k=1"));
  EXPECT_EQ(TextValue("one\ntwo\n"), "<\n\tone\n\ttwo\n >");
  EXPECT_EQ(TextValue("\n"), "<\n\t\n >");
  EXPECT_EQ(TextValue("a\n\n\tb\x01\xff\""), "<\n\ta\n\t\n\t\tb\x01\xff\"\n >");
}

TEST(LogFormat, MessageStaysOnItsLine) {
  EXPECT_EQ(Text(Record("Say \"hi\"\n")), Line(kTextHead, R"("Say \"hi\"\n")"));
}

TEST(LogFormat, Objects) {
  EXPECT_EQ(TextValue(ObjectRef{"", "n1"}), R"("n1")");
  EXPECT_EQ(JsonValue(ObjectRef{"", "n1"}), R"({"name":"n1"})");
  EXPECT_EQ(TextValue(ObjectRef{}), R"("")");
  EXPECT_EQ(JsonValue(ObjectRef{}), R"({"name":""})");
  EXPECT_EQ(TextValue(ObjectRef{"a\"", "b\n"}), R"("a\"/b\n")");
}

TEST(LogFormat, IntegersAndBools) {
  EXPECT_EQ(TextValue(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(JsonValue(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(TextValue(static_cast<int8_t>(-1)), "-1");
  EXPECT_EQ(TextValue(static_cast<uint8_t>(255)), "255");
  EXPECT_EQ(TextValue(false), "false");
  EXPECT_EQ(JsonValue(true), "true");
}

TEST(LogFormat, DoublesAreLaidOutAsGoDoes) {
  const struct {
    double value;
    std::string text, json;
  } cases[] = {
      {0.0, "0", "0"},
      {-0.0, "-0", "-0"},
      {1, "1", "1"},
      {0.1, "0.1", "0.1"},
      {-2.25, "-2.25", "-2.25"},
      {1234.5678, "1234.5678", "1234.5678"},
      {123456789012345678.0, "123456789012345680", "123456789012345680"},
      {1e20, "100000000000000000000", "100000000000000000000"},
      {1e21, "1e+21", "1000000000000000000000"},
      {1e23, "1e+23", "100000000000000000000000"},
      {1e-6, "0.000001", "0.000001"},
      {1e-7, "1e-7", "0.0000001"},
      {1.25e-9, "1.25e-9", "0.00000000125"},
      {1.5e300, "1.5e+300", "15" + std::string(299, '0')},
      {5e-324, "5e-324", "0." + std::string(323, '0') + "5"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308",
       "17976931348623157" + std::string(292, '0')},
      {std::nan(""), R"("NaN")", R"("NaN")"},
      {kInfinity, R"("+Inf")", R"("+Inf")"},
      {-kInfinity, R"("-Inf")", R"("-Inf")"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(TextValue(c.value), c.text);
    EXPECT_EQ(JsonValue(c.value), c.json);
  }
}

TEST(LogFormat, DurationsAreQuotedInGoForm) {
  EXPECT_EQ(TextValue(Duration(0)), R"("0s")");
  EXPECT_EQ(TextValue(Duration(1500)), R"("1.5µs")");
  EXPECT_EQ(JsonValue(Seconds(90)), R"("1m30s")");
  EXPECT_EQ(JsonValue(Duration::min()), R"("-2562047h47m16.854775808s")");
}

TEST(LogFormat, LastValueOfAKeyWinsAndEqualOnesStayWhereTheyAre) {
  const LogPair carried[] = {KV("a", 1), KV("b", 2)};
  const auto text = [&](std::initializer_list<LogPair> pairs) {
    LogRecord record = Record("M", {pairs.begin(), pairs.size()});
    record.carried = carried;
    return Text(record).substr(kTextHead.size());
  };
  EXPECT_EQ(text({KV("a", 1), KV("c", 3)}), "\"M\" a=1 b=2 c=3\n");
  EXPECT_EQ(text({KV("a", 7), KV("c", 3)}), "\"M\" b=2 a=7 c=3\n");
  EXPECT_EQ(text({KV("c", 1), KV("c", 2), KV("c", 2)}), "\"M\" a=1 b=2 c=2\n");
  EXPECT_EQ(text({KV("c", 1), KV("c", 2), KV("c", 1)}), "\"M\" a=1 b=2 c=1\n");
}

TEST(LogFormat, KeyAppearsOnceInJsonToo) {
  const Error error(ErrorCode::kIo, "broken");
  const LogPair carried[] = {KV("a", 1)};
  const LogPair pairs[] = {KV("a", 7), KV("err", "mine")};
  LogRecord record = Record("M", pairs);
  record.carried = carried;
  record.severity = Severity::kError;
  record.error = &error;
  EXPECT_EQ(Json(record), Line(kJsonHead, R"("M","a":7,"err":"broken"})"));
}

TEST(LogFormat, LongValueIsCutBeforeShortOnesAndSaysHowMuchIsMissing) {
  const std::string output(1000, 'x');
  const LogPair pairs[] = {KV("output", output), KV("pod", "a/b")};
  const LogRecord record = Record("Ran", pairs);
  const auto expect_cut = [&](LogStyle style, std::string before, auto behind) {
    const std::string line = Format(style, record, 512);
    const auto shown = static_cast<size_t>(std::count(line.begin(), line.end(), 'x'));
    EXPECT_EQ(line, before + std::string(shown, 'x') + behind(std::to_string(1000 - shown)));
    EXPECT_LE(line.size(), 512u);
    EXPECT_GT(shown, 300u);
  };
  expect_cut(LogStyle::kText, std::string(kTextHead) + R"("Ran" output=")",
             [](const std::string& cut) { return "\" pod=\"a/b\" cutBytes=" + cut + "\n"; });
  expect_cut(LogStyle::kJson, std::string(kJsonHead) + R"("Ran","v":0,"output":")",
             [](const std::string& cut) { return R"(","pod":"a/b","cutBytes":)" + cut + "}\n"; });
}

TEST(LogFormat, CutFallsBetweenCharacters) {
  for (size_t shift = 0; shift < 6; ++shift) {
    std::string value(shift, 'a');
    for (int i = 0; i < 100; ++i) value += "世";
    const LogPair pairs[] = {KV("k", value)};
    const std::string line = Format(LogStyle::kJson, Record("M", pairs), kLineBytesMin);
    const size_t start = line.find("\"k\":\"") + 5;
    const std::string shown = line.substr(start, line.find('"', start) - start);
    EXPECT_EQ((shown.size() - shift) % 3, 0u);
    EXPECT_EQ(shown, value.substr(0, shown.size()));
    EXPECT_EQ(line.substr(start + shown.size()),
              "\",\"cutBytes\":" + std::to_string(value.size() - shown.size()) + "}\n");
  }
}

TEST(LogFormat, ValueOfSeveralLinesIsCutAndClosed) {
  std::string value;
  for (int i = 0; i < 100; ++i) value += "世世世世世\n";
  const LogPair pairs[] = {KV("k", value)};
  const std::string line = Format(LogStyle::kText, Record("M", pairs), kLineBytesMin);
  EXPECT_TRUE(line.find("\n > cutBytes=") != line.npos) << line;
  EXPECT_LE(line.size(), kLineBytesMin);
}

TEST(LogFormat, PairsWithoutRoomAreLeftOutWhole) {
  const std::string value(60, 'x');
  const LogPair pairs[] = {KV("a", value), KV("b", value), KV("c", value), KV("d", 12345)};
  const std::string line = Format(LogStyle::kJson, Record("M", pairs), kLineBytesMin);
  const auto shown = static_cast<size_t>(std::count(line.begin(), line.end(), 'x'));
  // Missing: the rest of b, the keys c and d, the value of c and the five digits of d.
  EXPECT_EQ(line, std::string(kJsonHead) + R"("M","v":0,"a":")" + value + R"(","b":")" +
                      std::string(shown - 60, 'x') + R"(","cutBytes":)" +
                      std::to_string(180 - shown + 2 + 5) + "}\n");
}

TEST(LogFormat, LineOfTheSmallestBufferIsWellFormedWithTheLongestHead) {
  const std::string longest(500, 'L');
  LogRecord record = Record(longest);
  record.file = longest;
  record.logger = longest;
  record.line = UINT32_MAX;
  record.verbosity = INT32_MIN;
  const std::string text = Format(LogStyle::kText, record, kLineBytesMin);
  const std::string json = Format(LogStyle::kJson, record, kLineBytesMin);
  EXPECT_TRUE(json.find(R"(","v":-2147483648,"cutBytes":)") != json.npos) << json;
  EXPECT_TRUE(text.find("cutBytes=") != text.npos) << text;
}

}  // namespace
}  // namespace denselet
