#include "app/crash_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace denselet::app {
namespace {

// Static, because the recorder runs in a process that can no longer be trusted to allocate.
std::array<char, 4096> record_path;
const Clock* record_clock = nullptr;

// A line in a fixed buffer. What does not fit is cut; the closing brace always fits.
class Line {
 public:
  void Text(std::string_view text) {
    const size_t room = text_.size() - kTailBytes - size_;
    const size_t n = std::min(text.size(), room);
    std::memcpy(text_.data() + size_, text.data(), n);
    size_ += n;
  }
  // Printable ASCII as it is, everything else as '?': names of pods need no more.
  void Escaped(std::string_view text) {
    for (const char c : text) {
      const bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
      Text(plain ? std::string_view(&c, 1) : "?");
    }
  }
  void Number(int64_t n) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr;
    Text({digits.data(), static_cast<size_t>(end - digits.data())});
  }
  // `tail`: at most kTailBytes.
  std::string_view End(std::string_view tail) {
    std::memcpy(text_.data() + size_, tail.data(), tail.size());
    return {text_.data(), size_ + tail.size()};
  }

 private:
  static constexpr size_t kTailBytes = 3;
  std::array<char, 1024> text_;
  size_t size_ = 0;
};

std::atomic<bool> dying{false};
thread_local bool dying_here = false;

// Of several threads that die at once the first writes; the others wait for its end, which is
// theirs. False: this one has written already, and dies of it now.
bool IsTheFirst() {
  if (dying_here) return false;
  while (dying.exchange(true)) ::pause();
  dying_here = true;
  return true;
}

void Write(const CheckFailure& failure) {
  Line line;
  line.Text("{\"unixMillis\":");
  line.Number(
      std::chrono::duration_cast<Milliseconds>(record_clock->WallNow().time_since_epoch()).count());
  line.Text(",\"file\":\"");
  line.Escaped(failure.file);
  line.Text("\",\"line\":");
  line.Number(failure.line);
  line.Text(",\"pod\":\"");
  line.Escaped(failure.pod);
  line.Text("\",\"podUID\":\"");
  line.Escaped(failure.uid);
  line.Text("\",\"condition\":\"");
  line.Escaped(failure.condition);
  const std::string_view record = line.End("\"}\n");

  const int fd =
      ::open(record_path.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;  // the line on standard error is all there is
  struct stat info;
  if (::fstat(fd, &info) == 0 && info.st_size > kCrashRecordBytesMax) (void)!::ftruncate(fd, 0);
  (void)!::write(fd, record.data(), record.size());
  ::fsync(fd);
  ::close(fd);
}

void Record(const CheckFailure& failure) {
  if (IsTheFirst()) Write(failure);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

constexpr std::array<std::pair<int, const char*>, 5> kDeadly = {{{SIGSEGV, "SIGSEGV"},
                                                                 {SIGBUS, "SIGBUS"},
                                                                 {SIGFPE, "SIGFPE"},
                                                                 {SIGILL, "SIGILL"},
                                                                 {SIGABRT, "SIGABRT"}}};

// As CheckFailed does, for who reads standard error.
void Tell(const CheckFailure& failure) {
  Line line;
  line.Text("Died of ");
  line.Text(failure.condition);
  if (!failure.uid.empty()) {
    line.Text(" (while working on pod ");
    line.Escaped(failure.pod);
    line.Text(", uid ");
    line.Escaped(failure.uid);
    line.Text(")");
  }
  const std::string_view text = line.End("\n");
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

// On the thread that dies: nothing here allocates, locks or formats. An abort() of a failed CHECK
// comes here, too, when its record is written.
void OnDeadlySignal(int number, siginfo_t* info, void* /*context*/) {
  if (IsTheFirst()) {
    CheckFailure failure{"signal", number, "", {}, {}};
    for (const auto& [known, name] : kDeadly) {
      if (known == number) failure.condition = name;
    }
    // What somebody sent to the process has nothing to do with what this thread works on.
    const bool sent = info->si_code == SI_USER;
    if (const WorkScope* const work = WorkScope::Current(); work != nullptr && !sent) {
      failure.pod = work->pod();
      failure.uid = work->uid();
    }
    Tell(failure);
    Write(failure);
  }
  struct sigaction otherwise = {};
  otherwise.sa_handler = SIG_DFL;
  ::sigaction(number, &otherwise, nullptr);
  ::raise(number);  // delivered when this returns
}

void CatchDeadlySignals() {
  struct sigaction action = {};
  action.sa_sigaction = &OnDeadlySignal;
  // A stack that has run over has no room for this; threads that bring another one are on that.
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (const auto& [number, name] : kDeadly) ::sigaction(number, &action, nullptr);
}

#else

void CatchDeadlySignals() {}  // a sanitizer tells more, and wants them for itself

#endif

}  // namespace

Status InstallCrashRecorder(const std::string& path, const Clock& clock) {
  if (path.size() >= record_path.size()) {
    return Error(ErrorCode::kInvalid, "the path of the crash record is too long");
  }
  std::memcpy(record_path.data(), path.c_str(), path.size() + 1);
  record_clock = &clock;
  SetCheckRecorder(&Record);
  CatchDeadlySignals();
  return Ok();
}

std::string ReadCrashRecord(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  std::string record;
  std::array<char, 4096> piece;
  // A line more than the bound may have been written before it was noticed.
  while (record.size() <= 2 * static_cast<size_t>(kCrashRecordBytesMax)) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got <= 0) break;
    record.append(piece.data(), static_cast<size_t>(got));
  }
  ::close(fd);
  return record;
}

std::set<PodUid> PodsToHoldBack(std::string_view record) {
  constexpr std::string_view kKey = "\"podUID\":\"";
  std::set<PodUid> pods;
  std::string_view last;
  int running = 0;
  // A line without its end is one that a death in the middle of writing left behind.
  for (size_t end = record.find('\n'); end != std::string_view::npos; end = record.find('\n')) {
    const std::string_view line = record.substr(0, end);
    record.remove_prefix(end + 1);
    const size_t key = line.find(kKey);
    std::string_view uid;
    if (key != std::string_view::npos) {
      uid = line.substr(key + kKey.size());
      uid = uid.substr(0, uid.find('"'));
    }
    // Under nobody's work: that is no word for or against anybody.
    if (uid.empty()) continue;
    running = uid == last ? running + 1 : 1;
    last = uid;
    if (running >= kDeathsToHoldBack) pods.insert(PodUid(std::string(uid)));
  }
  return pods;
}

void ForgetCrashes(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace denselet::app
