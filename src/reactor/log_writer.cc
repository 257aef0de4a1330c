#include "reactor/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/check.h"
#include "reactor/signals_blocked.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {
namespace {

// How producers wake the writer. Flags, so that the system call is made only when it sleeps.
class Waker {
 public:
  explicit Waker(UniqueFd event) : event_(std::move(event)) {}

  // Producer: there is something, whenever you look next.
  void Wake() noexcept {
    if (asleep_.exchange(false, std::memory_order_acq_rel)) Signal();
  }
  // Producer: look now.
  void WakeNow() noexcept {
    const bool asleep = asleep_.exchange(false, std::memory_order_acq_rel);
    const bool napping = napping_.exchange(false, std::memory_order_acq_rel);
    if (asleep || napping) Signal();
  }
  void Signal() noexcept {
    const uint64_t one = 1;
    signals_total_.fetch_add(1, std::memory_order_relaxed);
    (void)!::write(event_.get(), &one, sizeof one);  // full means: it will wake
  }

  // Writer. Announced before the last look: who appends after that look sees it. An exchange, as in
  // EventLoop: either it comes later than a producer's and sees its line, or earlier and is seen.
  void AnnounceSleep() { asleep_.exchange(true, std::memory_order_acq_rel); }
  void AwakeAgain() { asleep_.store(false, std::memory_order_relaxed); }
  void Sleep() {
    Wait(-1, 0, nullptr);
    AwakeAgain();
  }
  void Nap(Duration d) {
    const auto seconds = std::chrono::duration_cast<Seconds>(d);
    const timespec limit{seconds.count(), (d - seconds).count()};
    napping_.exchange(true, std::memory_order_acq_rel);
    Wait(-1, 0, &limit);
    napping_.store(false, std::memory_order_relaxed);
  }
  // Until `fd` takes bytes, or a signal.
  void WaitWritable(int fd) { Wait(fd, POLLOUT, nullptr); }

  uint64_t signals_total() const { return signals_total_.load(std::memory_order_relaxed); }

 private:
  void Wait(int fd, short events, const timespec* limit) {
    std::array<pollfd, 2> fds = {pollfd{event_.get(), POLLIN, 0}, pollfd{fd, events, 0}};
    (void)::ppoll(fds.data(), fds.size(), limit, nullptr);
    uint64_t count;
    (void)!::read(event_.get(), &count, sizeof count);
  }

  const UniqueFd event_;
  std::atomic<bool> asleep_ = false;   // until there is something
  std::atomic<bool> napping_ = false;  // for flush_delay
  std::atomic<uint64_t> signals_total_ = 0;
};

// A producer's end: its ring, and the wake-up behind it.
class RingSink final : public LogSink {
 public:
  RingSink(const char* name, const LogRingConfig& config, Waker& waker)
      : name_(name), loud_bytes_(config.capacity_bytes / 4), ring_(config), waker_(waker) {}

  void Write(std::string_view line, Severity severity) noexcept override {
    const bool kept = ring_.TryAppend(line, severity);
    quiet_bytes_ += line.size();
    if (kept && quiet_bytes_ < loud_bytes_) return waker_.Wake();
    quiet_bytes_ = 0;
    waker_.WakeNow();
  }

  const char* name() const { return name_; }
  LogRing& ring() { return ring_; }

 private:
  const char* const name_;
  const size_t loud_bytes_;
  LogRing ring_;
  size_t quiet_bytes_ = 0;  // since the writer was last told not to nap on
  Waker& waker_;
};

// The buffer in front of the descriptor, and the account of what did not get through. Of the
// writer's thread, but for GiveUp and the totals.
class Output {
 public:
  Output(UniqueFd fd, const LogWriterOptions& options, Waker& waker)
      : fd_(std::move(fd)), nap_(options.flush_delay), format_(options.format), waker_(waker) {}

  // Before the first line of a round.
  void SetTime(WallTime now) { now_ = now; }
  void SetThread(uint64_t id) { format_.thread_id = id; }

  void PutLine(std::string_view line);
  void PutDropped(uint64_t lines, const char* producer);
  void WriteOut();

  // Any thread: no more writes; what is put from now on is lost.
  void GiveUp() { given_up_.store(true, std::memory_order_release); }
  uint64_t written_total() const { return written_total_.load(std::memory_order_relaxed); }
  uint64_t lost_total() const { return lost_total_.load(std::memory_order_relaxed); }

 private:
  enum class Kind : uint8_t { kLine, kNotice };
  struct Piece {
    size_t end;      // in the buffer
    uint64_t lines;  // that are lost with it: 1, or as many as the notice tells of
    Kind kind;
  };
  static constexpr size_t kPiecesMax = 1024;
  static constexpr size_t kNoticeBytesMax = 512;
  static constexpr size_t kBufferBytes = 64 * 1024;
  static_assert(kBufferBytes >= kLineBytesMax + 2 * kNoticeBytesMax);

  void PutNotice(const LogMessage& message, uint64_t lines, const LogPair& about);
  void MakeRoom(size_t bytes);
  void Add(std::string_view text, uint64_t lines, Kind kind);
  void Lose(const Piece& piece);
  size_t WriteBytes();

  const UniqueFd fd_;
  const Duration nap_;
  LogFormat format_;
  Waker& waker_;
  WallTime now_;
  std::atomic<bool> given_up_ = false;
  std::atomic<uint64_t> written_total_ = 0;
  std::atomic<uint64_t> lost_total_ = 0;

  std::array<char, kBufferBytes> buffer_;
  size_t bytes_ = 0;
  std::array<Piece, kPiecesMax> pieces_;
  size_t pieces_count_ = 0;
  uint64_t lost_untold_ = 0;
  int lost_errno_ = 0;
  bool torn_ = false;  // the last byte that was written is inside a line
};

void Output::PutLine(std::string_view line) {
  // Loggers make no such line; another user of the ring might.
  if (line.size() > kLineBytesMax) return Lose({0, 1, Kind::kLine});
  MakeRoom(line.size());
  Add(line, 1, Kind::kLine);
}

void Output::PutDropped(uint64_t lines, const char* producer) {
  MakeRoom(kNoticeBytesMax);
  PutNotice("Dropped log lines", lines, KV("producer", producer));
}

void Output::PutNotice(const LogMessage& message, uint64_t lines, const LogPair& about) {
  const std::array<LogPair, 2> pairs = {KV("lines", lines), about};
  LogRecord record;
  record.time = now_;
  record.severity = Severity::kWarning;
  record.file = message.file();
  record.line = message.line();
  record.message = message.text();
  record.pairs = pairs;
  char text[kNoticeBytesMax];
  Add(FormatLine(format_, record, text), lines, Kind::kNotice);
}

void Output::MakeRoom(size_t bytes) {
  if (bytes_ + bytes > kBufferBytes || pieces_count_ == kPiecesMax) WriteOut();
  if (bytes_ != 0) return;
  if (torn_) Add("\n", 0, Kind::kNotice);
  if (lost_untold_ == 0) return;
  const char* const reason = ::strerrordesc_np(lost_errno_);
  PutNotice("Lost log lines", std::exchange(lost_untold_, 0),
            KV("err", reason == nullptr ? "unknown error" : reason));
}

void Output::Add(std::string_view text, uint64_t lines, Kind kind) {
  std::memcpy(buffer_.data() + bytes_, text.data(), text.size());
  bytes_ += text.size();
  pieces_[pieces_count_++] = {bytes_, lines, kind};
}

void Output::Lose(const Piece& piece) {
  lost_untold_ += piece.lines;
  if (piece.kind == Kind::kLine) lost_total_.fetch_add(1, std::memory_order_relaxed);
}

void Output::WriteOut() {
  const size_t written = bytes_ == 0 ? 0 : WriteBytes();
  bool torn = written > 0;
  for (size_t i = 0; i < pieces_count_; ++i) {
    const Piece& piece = pieces_[i];
    if (piece.end > written) {
      Lose(piece);
    } else if (piece.kind == Kind::kLine) {
      written_total_.fetch_add(1, std::memory_order_relaxed);
    }
    if (piece.end == written) torn = false;
  }
  if (written > 0) torn_ = torn;
  bytes_ = pieces_count_ = 0;
}

// How many bytes of the buffer were taken before there was an error, or no more patience.
size_t Output::WriteBytes() {
  size_t written = 0;
  int fruitless = 0;
  while (written < bytes_ && !given_up_.load(std::memory_order_acquire)) {
    const ssize_t n = ::write(fd_.get(), buffer_.data() + written, bytes_ - written);
    if (n > 0) {
      written += static_cast<size_t>(n);
      fruitless = 0;
      continue;
    }
    const int error = n == 0 ? EIO : errno;
    if (error == EINTR) continue;
    lost_errno_ = error;
    if (error != EAGAIN) break;
    // A descriptor that calls itself writable and then is not must not make this a busy loop.
    if (++fruitless == 1) {
      waker_.WaitWritable(fd_.get());
    } else {
      waker_.Nap(nap_);
    }
  }
  return written;
}

}  // namespace

class LogWriter::State {
 public:
  State(UniqueFd fd, UniqueFd event, const Clock& clock, const LogWriterOptions& options)
      : options_(options),
        waker_(std::move(event)),
        output_(std::move(fd), options, waker_),
        sinks_(std::make_unique<std::unique_ptr<RingSink>[]>(options.producers_max)),
        clock_(clock) {}

  Result<LogSink*> AddProducer(const char* name);
  Status Flush(Duration wait_max);
  Status Stop(Duration wait_max);
  LogWriterStats stats() const;

  void Run();  // the thread

 private:
  struct Round {
    uint64_t request;
    bool last;
  };
  std::optional<Round> BeginRound();
  bool WriteRound();
  void EndRound(const Round& round);

  const LogWriterOptions options_;
  Waker waker_;
  Output output_;
  // Grows only; the first sinks_count_ may be read by any thread.
  const std::unique_ptr<std::unique_ptr<RingSink>[]> sinks_;
  std::atomic<size_t> sinks_count_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  const Clock& clock_;  // not to be read once given_up_: it goes with main
  uint64_t requested_ = 0;
  uint64_t completed_ = 0;
  bool stopping_ = false;
  bool given_up_ = false;
  bool ended_ = false;
};

Result<LogSink*> LogWriter::State::AddProducer(const char* name) {
  const std::lock_guard lock(mutex_);
  const size_t count = sinks_count_.load(std::memory_order_relaxed);
  if (count == options_.producers_max) {
    return Error(ErrorCode::kOverloaded, "too many threads log").With("add log producer", name);
  }
  sinks_[count] = std::make_unique<RingSink>(name, options_.ring, waker_);
  sinks_count_.store(count + 1, std::memory_order_release);
  return sinks_[count].get();
}

void LogWriter::State::Run() {
  ::pthread_setname_np(::pthread_self(), "log-writer");
  output_.SetThread(static_cast<uint64_t>(::gettid()));
  bool announced = false;
  while (const std::optional<Round> round = BeginRound()) {
    const bool wrote = WriteRound();
    EndRound(*round);
    if (round->last) return;
    // Nothing found: one more look after the announcement, then sleep.
    if (wrote) {
      waker_.AwakeAgain();
      waker_.Nap(options_.flush_delay);
      announced = false;
    } else if (!announced) {
      waker_.AnnounceSleep();
      announced = true;
    } else {
      waker_.Sleep();
      announced = false;
    }
  }
}

std::optional<LogWriter::State::Round> LogWriter::State::BeginRound() {
  const std::lock_guard lock(mutex_);
  if (given_up_) return std::nullopt;
  output_.SetTime(clock_.WallNow());
  return Round{requested_, stopping_};
}

// Writes everything that was in the rings when it began, and perhaps some more.
bool LogWriter::State::WriteRound() {
  bool any = false;
  const size_t count = sinks_count_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    RingSink& sink = *sinks_[i];
    sink.ring().Drain(
        options_.ring.capacity_bytes,
        [&](std::string_view line, Severity) {
          any = true;
          output_.PutLine(line);
        },
        [&](uint64_t dropped) {
          any = true;
          output_.PutDropped(dropped, sink.name());
        });
  }
  output_.WriteOut();
  return any;
}

void LogWriter::State::EndRound(const Round& round) {
  const std::lock_guard lock(mutex_);
  completed_ = round.request;
  ended_ = round.last;
  changed_.notify_all();
}

Status LogWriter::State::Flush(Duration wait_max) {
  std::unique_lock lock(mutex_);
  const uint64_t request = ++requested_;
  waker_.WakeNow();
  const auto over = [&] { return ended_ || given_up_; };
  changed_.wait_for(lock, wait_max, [&] { return completed_ >= request || over(); });
  if (completed_ >= request) return Ok();
  if (over()) return Error(ErrorCode::kCancelled, "flush log: the writer has stopped");
  return Error(ErrorCode::kDeadlineExceeded, "flush log: not all lines are written yet");
}

Status LogWriter::State::Stop(Duration wait_max) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  waker_.WakeNow();
  if (changed_.wait_for(lock, wait_max, [&] { return ended_ || given_up_; }) && ended_) return Ok();
  given_up_ = true;
  output_.GiveUp();
  waker_.Signal();
  changed_.notify_all();
  return Error(ErrorCode::kDeadlineExceeded, "stop log: not all lines could be written");
}

LogWriterStats LogWriter::State::stats() const {
  LogWriterStats stats;
  stats.written_total = output_.written_total();
  stats.lost_total = output_.lost_total();
  stats.wakeups_total = waker_.signals_total();
  const size_t count = sinks_count_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) stats.dropped_total += sinks_[i]->ring().dropped_total();
  return stats;
}

Result<std::unique_ptr<LogWriter>> LogWriter::Start(int fd, const Clock& clock,
                                                    const LogWriterOptions& options) {
  UniqueFd out(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!out) return Error::FromErrno(errno, "start log writer: duplicate descriptor");
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return Error::FromErrno(errno, "start log writer: eventfd");
  auto state = std::make_shared<State>(std::move(out), std::move(event), clock, options);
  try {
    const AllSignalsBlocked blocked;
    std::thread([state] { state->Run(); }).detach();
  } catch (const std::system_error& error) {
    return Error::FromErrno(error.code().value(), "start log writer: thread");
  }
  return std::unique_ptr<LogWriter>(new LogWriter(std::move(state)));
}

LogWriter::LogWriter(std::shared_ptr<State> state) : state_(std::move(state)) {}

LogWriter::~LogWriter() { (void)Stop(Seconds(1)); }

Result<LogSink*> LogWriter::AddProducer(const char* name) { return state_->AddProducer(name); }
Status LogWriter::Flush(Duration wait_max) { return state_->Flush(wait_max); }
Status LogWriter::Stop(Duration wait_max) { return state_->Stop(wait_max); }
LogWriterStats LogWriter::stats() const { return state_->stats(); }

}  // namespace denselet::reactor
