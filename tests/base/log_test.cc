#include "base/log.h"

#include <gtest/gtest.h>

#include <concepts>
#include <string>
#include <utility>

#include "tests/fakes/capturing_log_sink.h"

namespace denselet {
namespace {

class LogTest : public testing::Test {
 protected:
  // Without time and place, which other tests look at: "I ... "Message" pairs".
  std::string Take() {
    std::string all = sink_.Take();
    std::string out;
    while (!all.empty()) {
      const size_t end = all.find('\n') + 1;
      const size_t head = all.find("] ");
      EXPECT_LT(head, end);
      out += all[0] + all.substr(head + 1, end - head - 1);
      all.erase(0, end);
    }
    return out;
  }

  ManualClock clock_{TimePoint(Seconds(1)), WallTime(Duration(1794835941123456789))};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {.style = LogStyle::kText, .utc_offset = Seconds(0), .thread_id = 77},
                    .clock = clock_,
                    .verbosity = verbosity_,
                    .sink = sink_};
  Logger log_{output_};
  const ObjectRef pod_{"kube-system", "coredns"};
  const PodUid uid_{"1234-5"};
  const Error error_{ErrorCode::kPermission, "permission denied"};
};

TEST_F(LogTest, LineHasTimeThreadAndPlaceOfTheCall) {
  const int line = __LINE__ + 1;
  log_.Info("Started container", Pod(pod_), Uid(uid_));
  EXPECT_EQ(sink_.Take(), "I1116 13:32:21.123456      77 log_test.cc:" + std::to_string(line) +
                              "] \"Started container\" pod=\"kube-system/coredns\" "
                              "podUID=\"1234-5\"\n");
}

TEST_F(LogTest, EverySeverity) {
  log_.Info("Info");
  log_.Warning("Warned", Err(error_));
  log_.Error(error_, "Failed", Pod(pod_));
  log_.Error("Failed alone", KV("restarts", 3));
  ASSERT_EQ(sink_.lines().size(), 4u);
  EXPECT_EQ(sink_.lines()[0].severity, Severity::kInfo);
  EXPECT_EQ(sink_.lines()[1].severity, Severity::kWarning);
  EXPECT_EQ(sink_.lines()[2].severity, Severity::kError);
  EXPECT_EQ(sink_.lines()[3].severity, Severity::kError);
  EXPECT_EQ(Take(),
            "I \"Info\"\n"
            "W \"Warned\" err=\"permission denied\"\n"
            "E \"Failed\" err=\"permission denied\" pod=\"kube-system/coredns\"\n"
            "E \"Failed alone\" restarts=3\n");
}

TEST_F(LogTest, KeysAreTheKubelets) {
  const ContainerId container("c1");
  const SandboxId sandbox("s1");
  log_.Info("Keys", Container(container), Sandbox(sandbox), ContainerName("app"));
  EXPECT_EQ(Take(), "I \"Keys\" containerID=\"c1\" podSandboxID=\"s1\" containerName=\"app\"\n");
}

TEST_F(LogTest, ValuesOfEveryKind) {
  const std::string owned = "owned";
  const std::string_view view = "view";
  log_.Info("Kinds", KV("s", "literal"), KV("o", owned), KV("w", view), KV("i", -1), KV("u", 1u),
            KV("z", sizeof(char)), KV("d", 0.5), KV("f", 0.25f), KV("b", true),
            KV("t", Milliseconds(1500)), KV("r", pod_), KV("e", error_),
            KV("temporary", std::string("gone after the statement")));
  EXPECT_EQ(Take(),
            "I \"Kinds\" s=\"literal\" o=\"owned\" w=\"view\" i=-1 u=1 z=1 d=0.5 f=0.25 b=true "
            "t=\"1.5s\" r=\"kube-system/coredns\" e=\"permission denied\" "
            "temporary=\"gone after the statement\"\n");
}

TEST_F(LogTest, LevelsAboveTheVerbosityAreSilent) {
  log_.V(1).Info("Hidden");
  EXPECT_FALSE(log_.V(1).Enabled());
  verbosity_.SetVerbosity(4);
  log_.V(4).Info("Shown", KV("a", 1));
  log_.V(5).Info("Hidden");
  EXPECT_TRUE(log_.V(4).Enabled());
  EXPECT_EQ(Take(), "I \"Shown\" a=1\n");
}

TEST_F(LogTest, VmoduleSwitchesOneFileOnAndOff) {
  ASSERT_TRUE(verbosity_.Set(*ParseLogLevels(0, "log_t*=4")));
  log_.V(4).Info("Shown");
  EXPECT_TRUE(log_.V(4).Enabled());
  EXPECT_FALSE(log_.V(5).Enabled());
  ASSERT_TRUE(verbosity_.Set(*ParseLogLevels(0, "other=4")));
  log_.V(4).Info("Hidden");
  EXPECT_FALSE(log_.V(4).Enabled());
  EXPECT_EQ(Take(), "I \"Shown\"\n");
}

TEST_F(LogTest, SuppressedLineReadsNeitherClockNorValues) {
  class NoClock final : public Clock {
    TimePoint Now() const override { return ADD_FAILURE(), TimePoint(); }
    WallTime WallNow() const override { return ADD_FAILURE(), WallTime(); }
  } no_clock;
  const LogOutput output{.format = {}, .clock = no_clock, .verbosity = verbosity_, .sink = sink_};
  Logger(output).V(1).Info("Hidden", KV("pod", pod_));
  EXPECT_TRUE(sink_.lines().empty());
}

TEST_F(LogTest, JsonShowsTheLevel) {
  output_.format.style = LogStyle::kJson;
  verbosity_.SetVerbosity(4);
  log_.V(4).Info("Step");
  EXPECT_NE(sink_.Take().find(R"("msg":"Step","v":4})"), std::string::npos);
}

TEST_F(LogTest, ChildCarriesPairsAndOwnsTheirStrings) {
  Logger child = log_;
  {
    const ObjectRef pod{"a-namespace-that-is-long", "a-name-that-is-long"};
    child = log_.WithValues(Pod(pod), KV("attempt", 1), KV("text", std::string(40, 'x')));
  }
  child.Info("One", KV("k", 2));
  log_.Info("Two");
  EXPECT_EQ(Take(),
            "I \"One\" pod=\"a-namespace-that-is-long/a-name-that-is-long\" attempt=1 text=\"" +
                std::string(40, 'x') + "\" k=2\nI \"Two\"\n");
}

TEST_F(LogTest, ChildOutlivesItsParent) {
  auto parent = std::make_unique<Logger>(log_.WithValues(Pod(pod_)));
  const Logger child = parent->WithValues(Uid(uid_));
  parent.reset();
  child.Info("Alive");
  EXPECT_EQ(Take(), "I \"Alive\" pod=\"kube-system/coredns\" podUID=\"1234-5\"\n");
}

TEST_F(LogTest, NamesAreJoinedAndBounded) {
  const Logger worker = log_.WithName("sync").WithValues(KV("a", 1)).WithName("worker");
  worker.Error(error_, "Failed");
  EXPECT_EQ(Take(), "E \"Failed\" err=\"permission denied\" logger=\"sync.worker\" a=1\n");
  Logger deep = log_;
  for (int i = 0; i < 1000; ++i) deep = deep.WithName("deep");
  deep.Info("Deep");
  EXPECT_LT(Take().size(), kLoggerNameBytesMax + 30);
}

TEST_F(LogTest, CarriedKeyIsReplacedSoThatALoopDoesNotGrowIt) {
  Logger log = log_.WithValues(KV("attempt", 0), KV("b", 2));
  for (int i = 1; i <= 1000; ++i) log = log.WithValues(KV("attempt", i));
  log.WithValues(KV("b", 2)).Info("Again");
  EXPECT_EQ(Take(), "I \"Again\" b=2 attempt=1000\n");
}

TEST_F(LogTest, LongLineIsCut) {
  const std::string text(2 * kLineBytesMax, 'x');
  log_.Info("Long", KV("text", text), Pod(pod_));
  ASSERT_EQ(sink_.lines().size(), 1u);
  EXPECT_LE(sink_.lines()[0].text.size(), kLineBytesMax);
  EXPECT_GT(sink_.lines()[0].text.size(), kLineBytesMax - 128);
  EXPECT_NE(sink_.Take().find("x\" pod=\"kube-system/coredns\" cutBytes="), std::string::npos);
}

// What must not compile, as far as a constraint can say so; messages and keys are checked by
// consteval constructors, whose failures cannot be tested from inside.
template <class T>
concept Loggable = requires(T value) {
  LogValue(value);
};
static_assert(!Loggable<char> && !Loggable<void*> && !Loggable<int*> && !Loggable<Severity>);
static_assert(Loggable<bool> && Loggable<long> && Loggable<const char*> && Loggable<PodUid>);
static_assert(LogMessage("Here").file().ends_with("base/log_test.cc"));

}  // namespace
}  // namespace denselet
