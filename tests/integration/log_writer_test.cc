#include "reactor/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "reactor/real_clock.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {
namespace {

constexpr Duration kPatience = Seconds(20);

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The number behind ` lines=` of all whole lines that hold `message`.
uint64_t Told(const std::string& text, std::string_view message) {
  uint64_t sum = 0;
  for (const std::string& line : Lines(text.substr(0, text.rfind('\n') + 1))) {
    if (line.find(message) == line.npos) continue;
    const size_t at = line.find(" lines=");
    EXPECT_NE(at, line.npos) << line;
    if (at != line.npos) sum += std::stoull(line.substr(at + 7));
  }
  return sum;
}

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    int fds[2];
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    read_end_ = UniqueFd(fds[0]);
    write_end_ = UniqueFd(fds[1]);
    EXPECT_EQ(::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK), 0);
  }

  std::unique_ptr<LogWriter> StartOn(int fd, const LogWriterOptions& options = {}) {
    return *LogWriter::Start(fd, clock_, options);
  }

  // What is in the pipe now; waits for the first byte.
  std::string ReadSome() {
    std::string text = ReadIfAny(std::chrono::duration_cast<Milliseconds>(kPatience));
    EXPECT_FALSE(text.empty()) << "nothing was written";
    return text;
  }
  std::string ReadIfAny(Milliseconds wait_max) {
    pollfd waiting{read_end_.get(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(wait_max.count()));
    std::string text(1 << 20, '\0');
    size_t size = 0;
    ssize_t got;
    while ((got = ::read(read_end_.get(), text.data() + size, text.size() - size)) > 0) {
      size += static_cast<size_t>(got);
    }
    text.resize(size);
    return text;
  }
  template <class Done>
  std::string ReadUntil(Done done) {
    std::string text;
    const TimePoint limit = After(clock_.Now(), kPatience);
    while (!done(text) && clock_.Now() < limit) text += ReadSome();
    EXPECT_TRUE(done(text)) << "the end did not come";
    return text;
  }
  template <class Predicate>
  [[nodiscard]] bool WaitUntil(Predicate done) {
    const TimePoint limit = After(clock_.Now(), kPatience);
    while (!done() && clock_.Now() < limit) std::this_thread::yield();
    return done();
  }

  const RealClock clock_;
  UniqueFd read_end_, write_end_;
};

TEST_F(LogWriterTest, ALineComesOutByItself) {
  const auto writer = StartOn(write_end_.get());
  LogSink& sink = **writer->AddProducer("main");
  sink.Write("first\n", Severity::kInfo);
  EXPECT_EQ(ReadUntil([](const std::string& text) { return text.ends_with('\n'); }), "first\n");
  // Again, wherever the writer is now: about to nap, napping, about to sleep, asleep.
  for (int i = 0; i < 50; ++i) {
    sink.Write("next\n", Severity::kInfo);
    EXPECT_EQ(ReadUntil([](const std::string& text) { return text.ends_with('\n'); }), "next\n");
  }
}

TEST_F(LogWriterTest, FlushedLinesAreThereInTheirOrder) {
  const auto writer = StartOn(write_end_.get());
  LogSink& sink = **writer->AddProducer("main");
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    sink.Write(line, Severity::kInfo);
    expected += line;
  }
  EXPECT_TRUE(writer->Flush(kPatience));
  EXPECT_EQ(ReadSome(), expected);
  EXPECT_EQ(writer->stats().written_total, 100u);
  EXPECT_TRUE(writer->Flush(kPatience)) << "with nothing to do";
}

TEST_F(LogWriterTest, StopWritesWhatIsThere) {
  const auto writer = StartOn(write_end_.get());
  LogSink& sink = **writer->AddProducer("main");
  sink.Write("last\n", Severity::kInfo);
  EXPECT_TRUE(writer->Stop(kPatience));
  EXPECT_EQ(ReadSome(), "last\n");
  EXPECT_TRUE(writer->Stop(kPatience)) << "a second time";
  EXPECT_EQ(writer->Flush(kPatience).error().code(), ErrorCode::kCancelled);
}

TEST_F(LogWriterTest, LinesOfManyProducersKeepTheirOrderAndAreAllAccountedFor) {
  const auto writer = StartOn(write_end_.get());
  constexpr int kProducers = 3, kLines = 20'000;
  std::string text;
  std::atomic<bool> flushed = false;
  std::thread reader([&] {
    while (!flushed) text += ReadIfAny(Milliseconds(1));
  });
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    LogSink* sink = *writer->AddProducer("shard");
    producers.emplace_back([sink, p] {
      for (int i = 0; i < kLines; ++i) {
        sink->Write(std::to_string(p) + " " + std::to_string(i) + "\n", Severity::kInfo);
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(writer->Flush(kPatience));
  flushed = true;
  reader.join();
  text += ReadIfAny(Milliseconds(0));

  std::vector<int> next(kProducers, 0);
  uint64_t seen = 0;
  for (const std::string& line : Lines(text)) {
    if (line.find("Dropped log lines") != line.npos) continue;
    const int producer = line[0] - '0';
    const int number = std::stoi(line.substr(2));
    EXPECT_GE(number, next[static_cast<size_t>(producer)]);
    next[static_cast<size_t>(producer)] = number + 1;
    ++seen;
  }
  const LogWriterStats stats = writer->stats();
  EXPECT_EQ(stats.written_total, seen);
  EXPECT_EQ(seen + stats.dropped_total, static_cast<uint64_t>(kProducers * kLines));
  EXPECT_EQ(Told(text, "Dropped log lines"), stats.dropped_total);
}

// Both kinds of descriptor: one on which the writer blocks, one that says EAGAIN.
class StuckLogWriterTest : public LogWriterTest, public testing::WithParamInterface<int> {
 protected:
  StuckLogWriterTest() {
    EXPECT_EQ(::fcntl(write_end_.get(), F_SETFL, GetParam()), 0);
    options_.ring = {.capacity_bytes = 16 * 1024, .reserve_bytes = 1024};
  }
  // Logs until the pipe is full, and then until the ring is: the writer cannot go on.
  void Stuff(LogWriter& writer, LogSink& sink) {
    const std::string line = std::string(999, 'x') + "\n";
    pollfd room{write_end_.get(), POLLOUT, 0};
    while (::poll(&room, 1, 0) == 1) sink.Write(line, Severity::kInfo);
    const uint64_t dropped = writer.stats().dropped_total;
    while (writer.stats().dropped_total < dropped + 10) sink.Write(line, Severity::kInfo);
  }
  LogWriterOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Descriptors, StuckLogWriterTest, testing::Values(0, O_NONBLOCK),
                         [](const auto& kind) {
                           return kind.param == 0 ? "blocking" : "nonblocking";
                         });

TEST_P(StuckLogWriterTest, AStuckDescriptorCostsLinesAndTheirNumberIsTold) {
  const auto writer = StartOn(write_end_.get(), options_);
  LogSink& sink = **writer->AddProducer("shard-1");
  Stuff(*writer, sink);
  EXPECT_EQ(writer->Flush(Milliseconds(1)).error().code(), ErrorCode::kDeadlineExceeded);
  const uint64_t dropped = writer->stats().dropped_total;
  const std::string text = ReadUntil([&](const std::string& so_far) {
    return Told(so_far, "Dropped log lines") == dropped && so_far.ends_with('\n');
  });
  sink.Write("well again\n", Severity::kInfo);
  ReadUntil([](const std::string& rest) { return rest.ends_with("well again\n"); });
  EXPECT_EQ(writer->stats().dropped_total, dropped);
  EXPECT_NE(text.find("\"Dropped log lines\" lines="), text.npos);
  EXPECT_NE(text.find("producer=\"shard-1\""), text.npos);
  EXPECT_EQ(writer->stats().lost_total, 0u);
}

TEST_P(StuckLogWriterTest, LinesCostNoSystemCallWhileTheWriterIsAwake) {
  const auto writer = StartOn(write_end_.get(), options_);
  LogSink& sink = **writer->AddProducer("main");
  Stuff(*writer, sink);
  const uint64_t before = writer->stats().wakeups_total;
  for (int i = 0; i < 10'000; ++i) sink.Write("line\n", Severity::kInfo);
  EXPECT_LE(writer->stats().wakeups_total, before + 1);
  ReadSome();
}

TEST_P(StuckLogWriterTest, StopIsBoundedAndLeavesTheThreadBehind) {
  auto writer = StartOn(write_end_.get(), options_);
  LogSink& sink = **writer->AddProducer("main");
  Stuff(*writer, sink);
  EXPECT_EQ(writer->Stop(Milliseconds(5)).error().code(), ErrorCode::kDeadlineExceeded);
  writer.reset();
  write_end_.Reset();
  // The thread ends by itself: then nobody holds the write end.
  char buffer[4096];
  ssize_t got = 1;
  ASSERT_TRUE(
      WaitUntil([&] { return (got = ::read(read_end_.get(), buffer, sizeof buffer)) == 0; }));
}

TEST_F(LogWriterTest, WithoutAReaderLinesAreLostWithoutASignalAndWithoutEnd) {
  const auto writer = StartOn(write_end_.get());
  LogSink& sink = **writer->AddProducer("main");
  read_end_.Reset();
  for (int i = 0; i < 10; ++i) sink.Write("nobody hears this\n", Severity::kError);
  EXPECT_TRUE(writer->Flush(kPatience));
  EXPECT_EQ(writer->stats().lost_total, 10u);
  EXPECT_EQ(writer->stats().written_total, 0u);
}

TEST_F(LogWriterTest, LostLinesAreToldWhenThereIsAReaderAgain) {
  const std::string path =
      testing::TempDir() + "/log_writer_test." + std::to_string(::getpid()) + ".pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  read_end_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const auto writer = StartOn(out.get());
  LogSink& sink = **writer->AddProducer("main");
  read_end_.Reset();
  for (int i = 0; i < 3; ++i) {
    sink.Write("nobody hears this\n", Severity::kInfo);
    EXPECT_TRUE(writer->Flush(kPatience));
  }
  read_end_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  sink.Write("somebody hears this\n", Severity::kInfo);
  EXPECT_TRUE(writer->Flush(kPatience));
  const std::string text = ReadSome();
  EXPECT_EQ(Told(text, "Lost log lines"), 3u);
  EXPECT_NE(text.find("err=\"Broken pipe\""), text.npos) << text;
  EXPECT_TRUE(text.ends_with("\nsomebody hears this\n"));
  ::unlink(path.c_str());
}

TEST_F(LogWriterTest, ATornLineDoesNotRunIntoTheNext) {
  const std::string path =
      testing::TempDir() + "/log_writer_test." + std::to_string(::getpid()) + ".log";
  const UniqueFd out(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  const auto writer = StartOn(out.get());
  LogSink& sink = **writer->AddProducer("main");
  // gtest's own output may be a file too, longer than the limit: SIGXFSZ is ignored meanwhile.
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  sink.Write("whole\n", Severity::kInfo);
  sink.Write("torn in the middle\n", Severity::kInfo);
  const Status flushed = writer->Flush(kPatience);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(flushed);
  EXPECT_EQ(writer->stats().lost_total, 1u);
  sink.Write("next\n", Severity::kInfo);
  EXPECT_TRUE(writer->Stop(kPatience));
  const std::vector<std::string> lines = Lines(Content(path));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "whole");
  EXPECT_EQ(lines[1], "torn");
  EXPECT_NE(lines[2].find("\"Lost log lines\" lines=1 err=\"File too large\""), std::string::npos);
  EXPECT_EQ(lines[3], "next");
  ::unlink(path.c_str());
}

TEST_F(LogWriterTest, ItsOwnLinesHaveTheFormatOfTheOthers) {
  LogWriterOptions options;
  options.format.style = LogStyle::kJson;
  const auto writer = StartOn(write_end_.get(), options);
  LogSink& sink = **writer->AddProducer("main");
  sink.Write(std::string(kLineBytesMax + 1, 'x'), Severity::kInfo);  // too long: lost
  EXPECT_TRUE(writer->Flush(kPatience));
  sink.Write("next\n", Severity::kInfo);
  EXPECT_TRUE(writer->Flush(kPatience));
  const std::vector<std::string> lines = Lines(ReadSome());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with('{') && lines[0].ends_with('}')) << lines[0];
  EXPECT_NE(lines[0].find("\"msg\":\"Lost log lines\""), std::string::npos) << lines[0];
}

TEST_F(LogWriterTest, ProducersAreBounded) {
  LogWriterOptions options;
  options.producers_max = 1;
  const auto writer = StartOn(write_end_.get(), options);
  EXPECT_TRUE(writer->AddProducer("one"));
  EXPECT_EQ(writer->AddProducer("two").error().code(), ErrorCode::kOverloaded);
}

TEST_F(LogWriterTest, ABadDescriptorIsAnErrorOfTheStart) {
  EXPECT_EQ(LogWriter::Start(-1, clock_).error().code(), ErrorCode::kIo);
}

TEST_F(LogWriterTest, TheThreadHasANameAndTakesNoSignals) {
  const auto writer = StartOn(write_end_.get());
  ASSERT_TRUE(writer->Flush(kPatience));  // it runs
  int found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (Content(task.path() / "comm") != "log-writer\n") continue;
    ++found;
    for (const std::string& line : Lines(Content(task.path() / "status"))) {
      if (!line.starts_with("SigBlk:")) continue;
      const uint64_t blocked = std::stoull(line.substr(line.find('\t')), nullptr, 16);
      for (const int signal : {SIGTERM, SIGPIPE, SIGXFSZ}) {
        EXPECT_TRUE(blocked & (uint64_t{1} << (signal - 1))) << signal;
      }
    }
  }
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace denselet::reactor
