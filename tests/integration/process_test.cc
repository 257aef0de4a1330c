#include "tests/integration/process_fixture.h"

namespace denselet::reactor {
namespace {

INSTANTIATE_LOOP_TEST(ProcessTest);

TEST_P(ProcessTest, OutputAndErrorOutputComeApart) {
  const ProcessResult result = RunWell(Shell("echo out; echo err >&2"));
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error_output, "err\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.output_cut);
  EXPECT_FALSE(result.output_held_open);
  EXPECT_EQ(runner_->running(), 0u);
}

TEST_P(ProcessTest, TheExitCodeIsAResult) { EXPECT_EQ(RunWell(Shell("exit 42")).exit_code, 42); }

TEST_P(ProcessTest, ASignalsNumberIsAResult) {
  const ProcessResult result = RunWell(Shell("kill -TERM $$"));
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.exit_code, 0);
}

TEST_P(ProcessTest, AChildThatClosesItsOutputEarlyIsWaitedFor) {
  const ProcessResult result = RunWell(Shell("echo first; exec >&- 2>&-; sleep 0.05; exit 3"));
  EXPECT_EQ(result.output, "first\n");
  EXPECT_EQ(result.exit_code, 3);
}

TEST_P(ProcessTest, AMegabyteGoesInAndOut) {
  ProcessSpec spec = Program({"/bin/cat"});
  spec.output_bytes_max = 2 << 20;
  SeededRandom random(1);
  while (spec.input.size() < (1 << 20)) spec.input += static_cast<char>(random.Below(256));
  const std::string input = spec.input;
  const ProcessResult result = RunWell(std::move(spec));
  EXPECT_TRUE(result.output == input) << result.output.size() << " bytes came";
  EXPECT_EQ(result.exit_code, 0);
}

TEST_P(ProcessTest, WithoutInputTheChildReadsNothing) {
  EXPECT_EQ(RunWell(Program({"/bin/cat"})).output, "");
}

TEST_P(ProcessTest, AChildNeedNotReadItsInput) {
  ProcessSpec spec = Shell("exit 5");
  spec.input = std::string(1 << 20, 'x');
  EXPECT_EQ(RunWell(std::move(spec)).exit_code, 5);
}

TEST_P(ProcessTest, TheEnvironmentIsExactlyTheGivenOne) {
  ProcessSpec spec = Program({"/usr/bin/env"});
  EXPECT_EQ(RunWell(spec).output, "");
  spec.environment = {"B=two words", "A=1", "EMPTY="};
  EXPECT_EQ(RunWell(spec).output, "B=two words\nA=1\nEMPTY=\n");
}

TEST_P(ProcessTest, ArgumentsArriveAsTheyAre) {
  const ProcessResult result = RunWell(Program({"/usr/bin/printf", "[%s]", "a b", "", "$HOME*"}));
  EXPECT_EQ(result.output, "[a b][][$HOME*]");
}

TEST_P(ProcessTest, TheWorkingDirectoryIsTheGivenOne) {
  ProcessSpec spec = Program({"/bin/pwd"});
  EXPECT_EQ(RunWell(spec).output, std::filesystem::current_path().string() + "\n");
  spec.working_directory = directory_.path();
  EXPECT_EQ(RunWell(spec).output, directory_.path().string() + "\n");
}

TEST_P(ProcessTest, AProgramThatDoesNotExistIsNotFound) {
  const Error error = RunBadly({}, Program({"/no/such"}));
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(), "start /no/such: No such file or directory");
  EXPECT_FALSE(HasChildren());
}

TEST_P(ProcessTest, AFileThatIsNotExecutableIsRefused) {
  const std::filesystem::path file = directory_.path() / "data";
  std::ofstream(file) << "data";
  const Error error = RunBadly({}, Program({file}));
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_EQ(error.message(), "start " + file.string() + ": Permission denied");
}

TEST_P(ProcessTest, AMissingWorkingDirectoryIsNamed) {
  ProcessSpec spec = Program({"/bin/pwd"});
  spec.working_directory = "/no/such";
  const Error error = RunBadly({}, std::move(spec));
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(),
            "start /bin/pwd: working directory /no/such: No such file or directory");
}

TEST_P(ProcessTest, SpecsThatMakeNoSenseAreInvalid) {
  EXPECT_EQ(RunBadly({}, Program({})).code(), ErrorCode::kInvalid);
  EXPECT_EQ(RunBadly({}, Program({"/bin/echo", std::string("a\0b", 3)})).code(),
            ErrorCode::kInvalid);
}

TEST_P(ProcessTest, OutputBeyondTheBoundIsDroppedAndTheChildNotHeldUp) {
  ProcessSpec spec = Shell("head -c 1000000 /dev/zero; echo err >&2; exit 7");
  spec.output_bytes_max = 1000;
  const ProcessResult result = RunWell(std::move(spec));
  EXPECT_EQ(result.output, std::string(1000, '\0'));
  EXPECT_EQ(result.error_output, "err\n");
  EXPECT_TRUE(result.output_cut);
  EXPECT_EQ(result.exit_code, 7);
}

TEST_P(ProcessTest, OutputOfJustTheBoundIsNotCut) {
  ProcessSpec spec = Shell("printf 12345");
  spec.output_bytes_max = 5;
  const ProcessResult result = RunWell(std::move(spec));
  EXPECT_EQ(result.output, "12345");
  EXPECT_FALSE(result.output_cut);
}

TEST_P(ProcessTest, TheDeadlineKillsTheWholeGroup) {
  Answer answer;
  const Context context = Until(After(time_.Now(), Hours(1)));
  const pid_t grandchild = StartWithGrandchild(context, "sleep 1000", answer);
  EXPECT_FALSE(answer);
  time_.Advance(Hours(1));
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnknownOutcome) << "what it did stays done";
  EXPECT_EQ(answer->error().message(), "run /bin/sh: killed at the deadline");
  EXPECT_FALSE(HasChildren()) << "answered before it was reaped";
  EXPECT_TRUE(RunUntilDead(grandchild));
}

TEST_P(ProcessTest, TheDeadlineAlsoEndsAChildThatIgnoresSignalsAndItsInput) {
  Answer answer;
  ProcessSpec spec = Shell("trap '' TERM INT HUP PIPE; while :; do echo on; sleep 0.01; done");
  spec.input = std::string(1 << 20, 'x');
  spec.output_bytes_max = 10;
  Start(Until(After(time_.Now(), Milliseconds(50))), std::move(spec), answer);
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnknownOutcome);
}

TEST_P(ProcessTest, CancelKillsTheWholeGroup) {
  Answer answer;
  CancelSource source;
  const pid_t grandchild = StartWithGrandchild(CancelledBy(source), "sleep 1000", answer);
  source.Cancel();
  EXPECT_FALSE(answer) << "called back inside Cancel";
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error().code(), ErrorCode::kCancelled);
  EXPECT_FALSE(HasChildren());
  EXPECT_TRUE(RunUntilDead(grandchild));
}

TEST_P(ProcessTest, WhatIsNotWantedAnyMoreIsNotStarted) {
  const std::filesystem::path file = directory_.path() / "started";
  const ProcessSpec spec = Program({"/usr/bin/touch", file});
  CancelSource source;
  source.Cancel();
  EXPECT_EQ(RunBadly(CancelledBy(source), spec).code(), ErrorCode::kCancelled);
  EXPECT_EQ(RunBadly(Until(loop().Now()), spec).code(), ErrorCode::kDeadlineExceeded);
  EXPECT_FALSE(HasChildren());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_P(ProcessTest, MoreThanTheBoundAreRefusedUntilOneHasEnded) {
  UseRunner({.processes_max = 2});
  CancelSource source;
  Answer first, second;
  Start(CancelledBy(source), Shell("sleep 1000"), first);
  Start(CancelledBy(source), Shell("sleep 1000"), second);
  EXPECT_EQ(RunBadly({}, Shell("exit 0")).code(), ErrorCode::kOverloaded);
  EXPECT_EQ(runner_->running(), 2u);
  source.Cancel();
  ASSERT_TRUE(RunUntil([&] { return first && second; }));
  EXPECT_EQ(RunWell(Shell("exit 0")).exit_code, 0);
}

TEST_P(ProcessTest, ACallbackMayStartTheNext) {
  UseRunner({.processes_max = 1});
  Answer answer;
  runner_->Run({}, Shell("exit 1"), [&](Result<ProcessResult> first) {
    EXPECT_EQ(first->exit_code, 1);
    Start({}, Shell("exit 2"), answer);
  });
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ((*answer)->exit_code, 2);
}

TEST_P(ProcessTest, AKilledChildThatTheKernelKeepsIsAnsweredForAndStillCounted) {
  UseRunner({.processes_max = 1, .output_wait_max = Hours(1)});
  CancelSource source;
  Answer answer;
  Start(CancelledBy(source), Shell("sleep 1000"), answer);
  std::optional<Tracer> tracer(std::in_place, OnlyChild());
  if (!tracer->traces()) GTEST_SKIP() << "tracing is not allowed here";
  source.Cancel();
  for (int turn = 0; turn < 5; ++turn) loop_->RunTurn(After(time_.Now(), Milliseconds(2)));
  EXPECT_FALSE(answer) << "it may end at any moment";
  time_.Advance(Seconds(10));
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error(), Error(ErrorCode::kUnknownOutcome,
                                   "run /bin/sh: killed because it was cancelled, but the kernel "
                                   "has not let go of it"));
  EXPECT_EQ(runner_->running(), 1u) << "it is still there, so its place is taken";
  EXPECT_EQ(runner_->stuck(), 1u);
  EXPECT_EQ(RunBadly({}, Shell("exit 0")).code(), ErrorCode::kOverloaded);

  tracer.reset();
  ASSERT_TRUE(RunUntil([&] { return runner_->running() == 0; }));
  EXPECT_EQ(runner_->stuck(), 0u);
  EXPECT_FALSE(HasChildren()) << "reaped in the background";
  EXPECT_EQ(RunWell(Shell("exit 0")).exit_code, 0);
}

TEST_P(ProcessTest, ARunnerThatGoesWithAStuckChildLeavesItToTheLoop) {
  const size_t descriptors = OpenDescriptors();
  Answer first;
  Start(Until(After(time_.Now(), Hours(1))), Shell("sleep 1000"), first);
  std::optional<Tracer> tracer(std::in_place, OnlyChild());
  if (!tracer->traces()) GTEST_SKIP() << "tracing is not allowed here";
  time_.Advance(Hours(1));
  loop_->RunTurn(loop().Now());
  time_.Advance(Seconds(10));
  ASSERT_TRUE(RunUntilAnswered(first));
  EXPECT_EQ(runner_->stuck(), 1u);
  runner_.reset();
  for (int turn = 0; turn < 3; ++turn) loop_->RunTurn(loop().Now());
  tracer.reset();
  EXPECT_TRUE(RunUntil([&] { return !HasChildren() && OpenDescriptors() == descriptors; }));
}

TEST_P(ProcessTest, AGrandchildThatHoldsTheOutputIsKilledAfterAWhile) {
  UseRunner({.output_wait_max = Milliseconds(50)});
  const ProcessResult result = RunWell(Shell("sleep 1000 & echo $!; exit 4"));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(result.output_held_open);
  EXPECT_TRUE(RunUntilDead(std::stoi(result.output)));
}

TEST_P(ProcessTest, AGrandchildThatEndsInTimeGivesItsOutput) {
  const ProcessResult result = RunWell(Shell("(sleep 0.05; echo late) & echo early"));
  EXPECT_EQ(result.output, "early\nlate\n");
  EXPECT_FALSE(result.output_held_open);
}

TEST_P(ProcessTest, AGrandchildOfAnotherGroupCannotHoldUpTheAnswer) {
  UseRunner({.output_wait_max = Milliseconds(50)});
  const ProcessResult result = RunWell(Shell("setsid sleep 1000 & echo $!; exit 4"));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(result.output_held_open);
  // It may be killed before it has come to leave the group.
  const pid_t grandchild = std::stoi(result.output);
  if (IsAlive(grandchild)) ::kill(grandchild, SIGKILL);
}

TEST_P(ProcessTest, AGrandchildWithoutTheOutputIsLeftAlone) {
  const ProcessResult result = RunWell(Shell("sleep 1000 >/dev/null 2>&1 & echo $!"));
  EXPECT_FALSE(result.output_held_open);
  const pid_t grandchild = std::stoi(result.output);
  EXPECT_TRUE(IsAlive(grandchild));
  ::kill(grandchild, SIGKILL);
}

TEST_P(ProcessTest, CancelWhileOutputIsHeldOpenAnswersAtOnce) {
  CancelSource source;
  Answer answer;
  const std::filesystem::path file = directory_.path() / "pid";
  Start(CancelledBy(source), Shell("sleep 1000 & echo $$ $! > " + file.string()), answer);
  pid_t child = 0, grandchild = 0;
  ASSERT_TRUE(RunUntil([&] {
    std::istringstream told(ReadAll(file));
    return static_cast<bool>(told >> child >> grandchild);
  }));
  ASSERT_TRUE(RunUntilDead(child));
  for (int turn = 0; turn < 3; ++turn) loop_->RunTurn(loop().Now());
  EXPECT_FALSE(answer);
  source.Cancel();
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error().code(), ErrorCode::kCancelled);
  EXPECT_TRUE(RunUntilDead(grandchild));
}

TEST_P(ProcessTest, DescriptorsDoNotReachTheChild) {
  const UniqueFd inherited(::open("/dev/null", O_RDONLY));  // without close-on-exec
  const UniqueFd high(::fcntl(inherited.get(), F_DUPFD, 500));
  ASSERT_TRUE(inherited && high);
  // 3 is the directory that ls reads.
  EXPECT_EQ(RunWell(Program({"/bin/ls", "/proc/self/fd"})).output, "0\n1\n2\n3\n");
}

TEST_P(ProcessTest, AnAgentWithoutStandardDescriptorsCanStartChildren) {
  std::vector<UniqueFd> kept;
  for (int fd = 0; fd <= 2; ++fd) kept.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
  for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  EXPECT_FALSE(IsPreparedForChildren());
  PrepareForChildren();
  EXPECT_TRUE(IsPreparedForChildren());
  ProcessSpec spec = Shell("cat; echo err >&2");
  spec.input = "in";
  const Result<ProcessResult> result = Run({}, std::move(spec));
  for (int fd = 0; fd <= 2; ++fd) {
    if (kept[static_cast<size_t>(fd)]) ::dup2(kept[static_cast<size_t>(fd)].get(), fd);
  }
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "in");
  EXPECT_EQ(result->error_output, "err\n");
}

TEST_P(ProcessTest, SignalsAreAtTheirDefaultInTheChild) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ProcessResult status = RunWell(Program({"/bin/cat", "/proc/self/status"}));
  const ProcessResult piped = RunWell(Shell("kill -PIPE $$"));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  EXPECT_NE(status.output.find("SigBlk:\t0000000000000000\n"), std::string::npos);
  const size_t ignored = status.output.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  const uint64_t mask = std::stoull(status.output.substr(ignored + 8, 16), nullptr, 16);
  EXPECT_EQ(mask & uint64_t{0x7fffffff}, 0u) << "ordinary signals, 1 to 31";
  EXPECT_EQ(piped.signal, SIGPIPE);
}

TEST_P(ProcessTest, AChildOfAPinnedShardMayUseAllCpusOfTheProcess) {
  cpu_set_t before, one, after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) == 1) GTEST_SKIP() << "there is only one CPU";
  const std::string all = CpusAllowed(ReadAll("/proc/thread-self/status"));
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const ProcessResult status = RunWell(Program({"/bin/cat", "/proc/self/status"}));
  EXPECT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(CpusAllowed(status.output), all);
  EXPECT_TRUE(CPU_EQUAL(&after, &one)) << "the shard itself stays pinned";
}

TEST_P(ProcessTest, TheChildLeadsASessionOfItsOwn) {
  const ProcessResult result = RunWell(Program({"/bin/cat", "/proc/self/stat"}));
  std::istringstream stat(result.output);
  std::string name, state;
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  stat >> pid >> name >> state >> parent >> group >> session;
  EXPECT_EQ(parent, ::getpid());
  EXPECT_EQ(group, pid);
  EXPECT_EQ(session, pid);
}

TEST_P(ProcessTest, ARunnerThatGoesKillsItsChildrenAndCallsNobody) {
  const size_t descriptors = OpenDescriptors();
  Answer answer;
  const pid_t grandchild = StartWithGrandchild({}, "sleep 1000", answer);
  runner_->Run({}, Program({"/no/such"}), [](Result<ProcessResult>) { FAIL() << "refusal"; });
  runner_.reset();
  EXPECT_TRUE(RunUntilDead(grandchild));
  EXPECT_TRUE(RunUntil([] { return !HasChildren(); }));
  loop_->RunTurn(loop().Now());
  EXPECT_FALSE(answer);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST_P(ProcessTest, ALoopThatGoesLeavesNoChildren) {
  Answer answer;
  const pid_t grandchild =
      StartWithGrandchild(Until(After(time_.Now(), Hours(1))), "sleep 1000", answer);
  runner_.reset();
  loop_.reset();
  EXPECT_FALSE(answer);
  EXPECT_FALSE(HasChildren());
  loop_ = *MakeEventLoop(GetParam(), time_);
  EXPECT_TRUE(RunUntilDead(grandchild));
}

TEST_P(ProcessTest, ACallbackMayDestroyTheRunner) {
  bool called = false;
  Answer other;
  Start({}, Shell("sleep 1000"), other);
  runner_->Run({}, Shell("exit 0"), [&](Result<ProcessResult>) {
    runner_.reset();
    called = true;
  });
  ASSERT_TRUE(RunUntil([&] { return called; }));
  EXPECT_TRUE(RunUntil([] { return !HasChildren(); }));
  EXPECT_FALSE(other);
}

TEST_P(ProcessTest, ALoopWithoutRoomForTheOutputIsOverloaded) {
  UseLoop({.operations_max = 1});  // the child can be watched, but not read
  EXPECT_EQ(RunBadly({}, Shell("sleep 1000")).code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(HasChildren());
}

TEST_P(ProcessTest, ALoopWithoutRoomToWatchAChildLooksAgain) {
  UseLoop({.operations_max = 1});
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reader(fds[0]), writer(fds[1]);
  io().Adopt(reader.get());
  std::byte buffer[1];
  const OpId taken = io().Read(reader.get(), buffer, [](int32_t) {});
  Answer answer;
  Start({}, Shell("sleep 1000"), answer);
  for (int turn = 0; turn < 5; ++turn) loop_->RunTurn(loop().Now());
  EXPECT_FALSE(answer) << "answered before the child's end was seen";
  io().Cancel(taken);
  ASSERT_TRUE(RunUntilAnswered(answer));
  EXPECT_EQ(answer->error().code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(HasChildren());
}

TEST_P(ProcessTest, ManyChildrenWithRandomCancelsLeaveNothingBehind) {
  constexpr size_t kChildren = 200;
  UseRunner({.processes_max = 16, .output_wait_max = Milliseconds(5)});
  const std::string scripts[] = {
      "exit 3",     "echo out; echo err >&2", "head -c 200000 /dev/zero",
      "cat",        "kill -KILL $$",          "sleep 0.01",
      "sleep 1000", "sleep 1000 & exit 0",
  };
  const size_t descriptors = OpenDescriptors();
  SeededRandom random(42);
  std::vector<CancelSource> sources(kChildren);
  std::vector<Answer> answers(kChildren);
  size_t started = 0;
  const auto step = [&] {
    if (started < kChildren && random.Below(2) == 0) {
      ProcessSpec spec = Shell(scripts[random.Below(std::size(scripts))]);
      if (random.Below(2) == 0) spec.input = std::string(random.Below(100'000), 'i');
      if (random.Below(8) == 0) spec.argv.front() = "/no/such";
      Context context = CancelledBy(sources[started]);
      if (random.Below(4) == 0) {
        const auto millis = static_cast<int64_t>(random.Below(20));
        context.deadline = After(loop().Now(), Milliseconds(millis));
      }
      Start(context, std::move(spec), answers[started]);
      ++started;
    }
    if (started > 0) sources[random.Below(started)].Cancel();
    return started == kChildren &&
           std::all_of(answers.begin(), answers.end(), [](const Answer& a) { return !!a; });
  };
  ASSERT_TRUE(RunUntil(step));
  EXPECT_EQ(runner_->running(), 0u);
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_FALSE(HasChildren());
}

}  // namespace
}  // namespace denselet::reactor
