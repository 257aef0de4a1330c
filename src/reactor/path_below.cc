#include "reactor/path_below.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/quoted.h"

namespace denselet::reactor::path_below {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message
// A way with ".." in it is looked at again while somebody renames on it.
constexpr int kAttemptsMax = 64;

constexpr uint64_t kBelow = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
// The folder is the root of every way, as for who runs with it as its root.
constexpr uint64_t kAsRoot = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;

UniqueFd OpenIn(int folder, const std::string& relative, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    UniqueFd fd(
        static_cast<int>(::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how)));
    if (fd || (errno != EAGAIN && errno != EINTR)) return fd;
  }
  return {};
}

// The path without links; empty, with errno, if there is nothing.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real == nullptr ? std::string() : std::string(real.get());
}

// The way from the folder to where it leads now, without links; empty, with errno, if that is
// nowhere or not below the folder.
std::string RealWay(const PathBelow& path) {
  std::string base = RealPath(path.folder);
  const std::string real = base.empty() ? base : RealPath(path.folder + "/" + path.relative);
  if (real.empty()) return {};
  if (real == base) return ".";
  if (!base.ends_with('/')) base += '/';
  if (real.starts_with(base)) return real.substr(base.size());
  errno = EXDEV;
  return {};
}

// The kernel refuses every absolute link, wherever it leads; one that stays below the folder is
// followed, as upstream. What it leads to is opened as carefully as all else: somebody may have
// changed the way since it was looked at.
UniqueFd OpenBelow(int folder, const PathBelow& path, uint64_t flags) {
  UniqueFd fd = OpenIn(folder, path.relative, flags, kBelow);
  if (fd || errno != EXDEV) return fd;
  const std::string way = RealWay(path);
  return way.empty() ? UniqueFd() : OpenIn(folder, way, flags, kBelow);
}

Error Failed(const PathBelow& path, const char* doing) {
  const int number = errno;
  const std::string what = doing + std::string(" ") + Quoted(path.relative, kShownMax) + " below " +
                           Quoted(path.folder, kShownMax);
  // Neither is told apart from the other by the kernel: out of the folder, by a link or by dots.
  if (number == EXDEV || number == ELOOP) {
    return Error(ErrorCode::kPermission, what + ": it leads out of the volume");
  }
  return Error::FromErrno(number, what);
}

Result<UniqueFd> OpenFolder(const PathBelow& path) {
  UniqueFd folder(::open(path.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Error::FromErrno(errno, "open " + Quoted(path.folder, kShownMax));
  return folder;
}

// The names on the way, without empty ones and dots.
std::vector<std::string> NamesOf(const std::string& relative) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= relative.size();) {
    const size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string name = relative.substr(begin, end - begin);
    if (!name.empty() && name != ".") names.push_back(name);
    begin = end + 1;
  }
  return names;
}

// A directory that was not there a moment ago. Whoever puts a link in its place is not followed.
UniqueFd MakeIn(int parent, const std::string& name, uint32_t mode) {
  const bool made = ::mkdirat(parent, name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return {};
  UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && made && ::fchmod(fd.get(), static_cast<mode_t>(mode & 07777)) != 0) return {};
  return fd;
}

}  // namespace

Result<UniqueFd> Find(const PathBelow& path) {
  Result<UniqueFd> folder = OpenFolder(path);
  if (!folder) return folder;
  UniqueFd found = OpenBelow(folder->get(), path, O_PATH);
  if (!found) return Failed(path, "open");
  return found;
}

Result<UniqueFd> FindOrMake(const PathBelow& path, uint32_t mode) {
  Result<UniqueFd> folder = OpenFolder(path);
  if (!folder) return folder;
  UniqueFd found = OpenBelow(folder->get(), path, O_PATH);
  if (found) return found;
  if (errno != ENOENT) return Failed(path, "open");

  UniqueFd at = std::move(*folder);
  const UniqueFd root(::dup(at.get()));
  if (!root) return Failed(path, "open");
  std::string so_far;
  bool making = false;
  for (const std::string& name : NamesOf(path.relative)) {
    so_far += (so_far.empty() ? "" : "/") + name;
    UniqueFd next;
    if (!making) {
      next = OpenBelow(root.get(), {path.folder, so_far}, O_PATH | O_DIRECTORY);
      if (!next && errno != ENOENT) return Failed(path, "open");
      making = !next;
    }
    if (making) {
      if (name == "..") {
        errno = EXDEV;
        return Failed(path, "make");
      }
      next = MakeIn(at.get(), name, mode);
      if (!next) return Failed(path, "make");
    }
    at = std::move(next);
  }
  return at;
}

Result<std::string> Read(const PathBelow& path, size_t bytes_max) {
  Result<UniqueFd> folder = OpenFolder(path);
  if (!folder) return folder.error();
  // Non-blocking keeps a pipe from holding the worker.
  const UniqueFd fd =
      OpenIn(folder->get(), path.relative, O_RDONLY | O_NONBLOCK | O_NOCTTY, kAsRoot);
  if (!fd) return Failed(path, "read");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Failed(path, "read");
  if (!S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalid, "not a file").With("read", path.relative);
  }
  std::string content;
  constexpr size_t kPieceBytes = size_t{64} << 10;
  while (content.size() <= bytes_max) {
    const size_t had = content.size();
    content.resize(had + std::min(kPieceBytes, bytes_max + 1 - had));
    const ssize_t got = ::read(fd.get(), content.data() + had, content.size() - had);
    content.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path, "read");
    if (got == 0) return content;
  }
  return Error(ErrorCode::kOverloaded, "more than " + std::to_string(bytes_max) + " bytes")
      .With("read", path.relative);
}

}  // namespace denselet::reactor::path_below
