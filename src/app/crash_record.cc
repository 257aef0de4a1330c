#include "app/crash_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

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
    Text({digits.data(), static_cast<size_t>(std::snprintf(digits.data(), digits.size(), "%lld",
                                                           static_cast<long long>(n)))});
  }
  std::string_view Close() {
    std::memcpy(text_.data() + size_, "\"}\n", kTailBytes);
    return {text_.data(), size_ + kTailBytes};
  }

 private:
  static constexpr size_t kTailBytes = 3;
  std::array<char, 1024> text_;
  size_t size_ = 0;
};

void Record(const CheckFailure& failure) {
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
  const std::string_view record = line.Close();

  const int fd =
      ::open(record_path.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;  // the line on standard error is all there is
  struct stat info;
  if (::fstat(fd, &info) == 0 && info.st_size > kCrashRecordBytesMax) (void)!::ftruncate(fd, 0);
  (void)!::write(fd, record.data(), record.size());
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Status InstallCrashRecorder(const std::string& path, const Clock& clock) {
  if (path.size() >= record_path.size()) {
    return Error(ErrorCode::kInvalid, "the path of the crash record is too long");
  }
  std::memcpy(record_path.data(), path.c_str(), path.size() + 1);
  record_clock = &clock;
  SetCheckRecorder(&Record);
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
    running = !uid.empty() && uid == last ? running + 1 : 1;
    last = uid;
    if (!uid.empty() && running >= kDeathsToHoldBack) pods.insert(PodUid(std::string(uid)));
  }
  return pods;
}

void ForgetCrashes(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace denselet::app
