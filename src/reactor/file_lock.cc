#include "reactor/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/quoted.h"
#include "reactor/file_calls.h"

namespace denselet::reactor {
namespace {

constexpr size_t kHolderBytesMax = 64;
constexpr size_t kPathBytesMax = 300;

Error Failed(int error, const char* doing, const std::string& path) {
  return Error::FromErrno(error, std::string(doing) + " " + Quoted(path, kPathBytesMax));
}

}  // namespace

Result<std::optional<FileLock>> FileLock::Try(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return Failed(errno, "open", path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
    return std::optional<FileLock>(FileLock(std::move(file), path));
  }
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return Failed(errno, "lock", path);
}

Status FileLock::WriteHolder() {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file_.get(), 0) != 0) return Failed(errno, "truncate", path_);
  const ssize_t written = ::pwrite(file_.get(), text.data(), text.size(), 0);
  if (written < 0) return Failed(errno, "write", path_);
  return Ok();
}

std::optional<int64_t> FileLock::ReadHolder(const std::string& path) {
  const Result<std::string> text = file_calls::Read(path, kHolderBytesMax);
  if (!text) return std::nullopt;
  int64_t holder = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), holder);
  if (parsed.ec != std::errc{} || holder <= 0) return std::nullopt;
  return holder;
}

}  // namespace denselet::reactor
