#include "reactor/file_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"

namespace denselet::reactor::file_calls {
namespace {

std::string Quoted(std::string_view doing, std::string_view path) {
  std::string text(doing);
  return text.append(" \"").append(path).append("\"");
}

// Of the system call that has just failed.
Error Failed(std::string_view doing, std::string_view path) {
  return Error::FromErrno(errno, Quoted(doing, path));
}
Error Failed(std::string_view doing, std::string_view path, std::string_view step) {
  return Error::FromErrno(errno, step).With(doing, path);
}

Status Check(int result, std::string_view doing, std::string_view path) {
  if (result != 0) return Failed(doing, path);
  return Ok();
}

// A directory's. EINVAL: a file system without directories to sync, such as procfs or some of FUSE.
bool SyncNames(int directory) { return ::fsync(directory) == 0 || errno == EINVAL; }

// Of a directory that was opened as a place only.
bool SyncNamesIn(int place) {
  const UniqueFd directory(::openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && SyncNames(directory.get());
}

// Up to the end or to bytes_max, however little the file says of its size: files of procfs and
// cgroupfs say 0. `offset` is where to begin; below zero: a stream, read from where it stands.
Result<std::string> ReadUpTo(int fd, off_t offset, size_t bytes_max, const std::string& path) {
  constexpr size_t kFirstBytes = 4096;
  std::string content;
  size_t size = 0;
  while (size < bytes_max) {
    if (size == content.size()) {
      content.resize(std::min(bytes_max, std::max(kFirstBytes, 2 * content.size())));
    }
    char* const at = content.data() + size;
    const size_t room = content.size() - size;
    const ssize_t got = offset < 0 ? ::read(fd, at, room)
                                   : ::pread(fd, at, room, offset + static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return content;
}

// How much of `data` was written; less than all of it leaves the reason in errno.
size_t WriteAll(int fd, std::string_view data) {
  size_t written = 0;
  while (written < data.size()) {
    const ssize_t n = ::write(fd, data.data() + written, data.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;  // does not happen; must not go on for ever
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  return written;
}

struct SplitPath {
  std::string directory;
  std::string name;
};

SplitPath Split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// A new file in a directory, gone again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(int directory) : directory_(directory) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_) ::unlinkat(directory_, name_.c_str(), 0);
  }

  // False: the reason is in errno. Names are of this process and used once; what a killed process
  // of the same number left behind is passed over. The dot hides them from who lists manifests.
  bool Create() {
    constexpr int kAttemptsMax = 1000;
    static std::atomic<uint64_t> next = 0;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      name_ = ".denselet-" + std::to_string(::getpid()) + "-" + std::to_string(next++) + ".tmp";
      constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
      fd_ = UniqueFd(::openat(directory_, name_.c_str(), kFlags, 0600));
      if (fd_ || errno != EEXIST) break;
    }
    return static_cast<bool>(fd_);
  }

  bool RenameTo(const std::string& name) {
    if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) return false;
    fd_.Reset();
    return true;
  }

  int fd() const { return fd_.get(); }

 private:
  const int directory_;
  std::string name_;
  UniqueFd fd_;
};

constexpr mode_t PermissionBits(uint32_t mode) { return static_cast<mode_t>(mode & 07777); }

// A file that was made here: its mode is set apart from the umask.
Result<UniqueFd> OpenNew(const std::string& path, int flags, uint32_t mode) {
  UniqueFd fd(::open(path.c_str(), flags | O_CREAT | O_EXCL, PermissionBits(mode)));
  if (!fd) return Failed("open", path);
  if (::fchmod(fd.get(), PermissionBits(mode)) != 0) return Failed("open", path, "set mode");
  return fd;
}

// Opens what is there, makes what is not: known apart, for the mode.
Result<UniqueFd> OpenOrMake(const std::string& path, int flags, int existing_flags, uint32_t mode) {
  UniqueFd found(::open(path.c_str(), flags | existing_flags));
  if (found) return found;
  if (errno != ENOENT) return Failed("open", path);
  Result<UniqueFd> made = OpenNew(path, flags, mode);
  if (made || made.error().code() != ErrorCode::kAlreadyExists) return made;
  // Somebody was quicker. Or it is a link to nothing, which is an error this time.
  UniqueFd other(::open(path.c_str(), flags | existing_flags));
  if (!other) return made;
  return other;
}

FileInfo::Kind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return FileInfo::Kind::kFile;
  if (S_ISDIR(mode)) return FileInfo::Kind::kDirectory;
  if (S_ISLNK(mode)) return FileInfo::Kind::kSymlink;
  return FileInfo::Kind::kOther;
}

// Not all file systems tell the kind with the name.
FileInfo::Kind KindOf(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return KindOf(static_cast<mode_t>(DTTOIF(entry.d_type)));
  struct stat info;
  if (::fstatat(directory, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return FileInfo::Kind::kOther;  // gone meanwhile
  }
  return KindOf(info.st_mode);
}

// SIGIO, which tells the holder of a lease that somebody waits for it and would end the process,
// goes to this thread alone while this lives, and to nobody.
class LeaseSignalHeld {
 public:
  explicit LeaseSignalHeld(int fd) {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGIO);
    CHECK(::pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0);
    const f_owner_ex owner{.type = F_OWNER_TID, .pid = ::gettid()};
    owned_ = ::fcntl(fd, F_SETOWN_EX, &owner) == 0;
  }
  ~LeaseSignalHeld() {
    const timespec at_once{};
    while (::sigtimedwait(&signal_, nullptr, &at_once) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  LeaseSignalHeld(const LeaseSignalHeld&) = delete;
  LeaseSignalHeld& operator=(const LeaseSignalHeld&) = delete;

  bool owned() const { return owned_; }

 private:
  sigset_t signal_;
  sigset_t before_;
  bool owned_ = false;
};

// False only when somebody has the file open for writing: file systems without leases, and files of
// others where we may not ask, give none for another reason.
bool LeaseIsGiven(int fd) {
  const LeaseSignalHeld held(fd);
  if (!held.owned()) return true;
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno != EAGAIN;
  (void)::fcntl(fd, F_SETLEASE, F_UNLCK);
  return true;
}

}  // namespace

Result<std::string> Read(const std::string& path, size_t bytes_max) {
  // Non-blocking changes nothing for files and keeps a pipe from holding the worker.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return Failed("read", path);
  const size_t one_more =
      bytes_max == std::numeric_limits<size_t>::max() ? bytes_max : bytes_max + 1;
  Result<std::string> content = ReadUpTo(fd.get(), -1, one_more, path);
  if (content && content->size() > bytes_max) {
    return Error(ErrorCode::kInvalid, "more than " + std::to_string(bytes_max) + " bytes")
        .With("read", path);
  }
  return content;
}

Result<std::string> ReadPipe(const std::string& path, size_t bytes_max, Duration idle_max) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Failed("read", path);
  if (!S_ISFIFO(info.st_mode)) {
    return Error(ErrorCode::kInvalid, "a socket or a device, wanted a file or a pipe")
        .With("read", path);
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return Failed("read", path);
  constexpr Duration kWait = Milliseconds(50);
  constexpr size_t kPieceBytes = 64 << 10;
  std::string content;
  for (Duration idle{}; content.size() <= bytes_max;) {
    // Before anybody has opened the other end there is nothing, and no end either.
    pollfd ready{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(kWait / Milliseconds(1)));
    if (polled < 0 && errno != EINTR) return Failed("read", path);
    if (polled <= 0) {
      idle += kWait;
      if (idle < idle_max) continue;
      return Error(ErrorCode::kUnavailable, "nobody writes into this pipe").With("read", path);
    }
    const size_t had = content.size();
    content.resize(had + kPieceBytes);
    const ssize_t got = ::read(fd.get(), content.data() + had, kPieceBytes);
    content.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return content;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return Failed("read", path);
  }
  return Error(ErrorCode::kOverloaded, "more than " + std::to_string(bytes_max) + " bytes")
      .With("read", path);
}

Status Replace(const std::string& path, std::string_view content, uint32_t mode,
               Durability durability) {
  const SplitPath split = Split(path);
  if (split.name.empty() || split.name == "." || split.name == "..") {
    return Error(ErrorCode::kInvalid, "not the name of a file").With("replace", path);
  }
  const UniqueFd directory(::open(split.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Failed("replace", path, "open directory");
  TemporaryFile file(directory.get());
  if (!file.Create()) return Failed("replace", path, "create temporary file");
  if (WriteAll(file.fd(), content) < content.size()) return Failed("replace", path, "write");
  if (::fchmod(file.fd(), PermissionBits(mode)) != 0) return Failed("replace", path, "set mode");
  const bool synced = durability == Durability::kSynced;
  if (synced && ::fsync(file.fd()) != 0) return Failed("replace", path, "sync");
  if (!file.RenameTo(split.name)) return Failed("replace", path, "rename");
  if (synced && !SyncNames(directory.get())) {
    return Error(ErrorCode::kUnknownOutcome, Failed("replace", path, "sync directory").message());
  }
  return Ok();
}

Status WriteControl(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return Failed("write", path);
  ssize_t written;
  do {
    written = ::write(fd.get(), text.data(), text.size());  // in one piece: it is one command
  } while (written < 0 && errno == EINTR);
  if (written < 0) return Failed("write", path);
  if (static_cast<size_t>(written) < text.size()) {
    return Error(ErrorCode::kUnknownOutcome, "only a part was taken").With("write", path);
  }
  return Ok();
}

Result<UniqueFd> Open(const std::string& path, OpenMode open_mode, uint32_t mode) {
  constexpr int kFlags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  constexpr int kAppendFlags = kFlags | O_WRONLY | O_APPEND;
  switch (open_mode) {
    case OpenMode::kRead: {
      UniqueFd fd(::open(path.c_str(), kFlags | O_RDONLY));
      if (!fd) return Failed("open", path);
      return fd;
    }
    case OpenMode::kAppend:
      return OpenOrMake(path, kAppendFlags, 0, mode);
    case OpenMode::kCreateNew:
      return OpenNew(path, kAppendFlags, mode);
    case OpenMode::kCreateOrTruncate:
      return OpenOrMake(path, kAppendFlags, O_TRUNC, mode);
  }
  return Error(ErrorCode::kInvalid, "no such way to open").With("open", path);
}

Result<std::string> ReadAt(int fd, const std::string& path, uint64_t offset, size_t bytes_max) {
  constexpr auto kOffsetMax = static_cast<uint64_t>(std::numeric_limits<off_t>::max());
  if (offset > kOffsetMax || bytes_max > kOffsetMax - offset) {
    return Error(ErrorCode::kInvalid, "beyond the end of any file").With("read", path);
  }
  return ReadUpTo(fd, static_cast<off_t>(offset), bytes_max, path);
}

Status Append(int fd, const std::string& path, std::string_view data) {
  const size_t written = WriteAll(fd, data);
  if (written == data.size()) return Ok();
  if (written == 0) return Failed("append to", path);
  const std::string part =
      "wrote " + std::to_string(written) + " of " + std::to_string(data.size()) + " bytes";
  return Error(ErrorCode::kUnknownOutcome, Failed("append to", path, part).message());
}

Status Sync(int fd, const std::string& path) { return Check(::fdatasync(fd), "sync", path); }

Status SyncDirectory(const std::string& path) {
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || !SyncNames(directory.get())) return Failed("sync directory", path);
  return Ok();
}

Status Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return Ok();
  return Error::FromErrno(errno, Quoted(Quoted("rename", from) + " to", to));
}

Status MakeDirectories(const std::string& path, uint32_t mode, Durability durability) {
  constexpr int kFlags = O_DIRECTORY | O_CLOEXEC;
  if (path.empty()) return Error::FromErrno(ENOENT, Quoted("make directory", path));
  UniqueFd at(::open(path.starts_with('/') ? "/" : ".", O_PATH | kFlags));
  if (!at) return Failed("make directory", path);
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    const bool made = ::mkdirat(at.get(), name.c_str(), PermissionBits(mode)) == 0;
    if (!made && errno != EEXIST) return Failed("make directory", path);
    // What was made is opened without following links: nobody can put another's directory in its
    // place and have us change its mode.
    UniqueFd next(
        ::openat(at.get(), name.c_str(), kFlags | (made ? O_RDONLY | O_NOFOLLOW : O_PATH)));
    if (!next && !made && errno == ENOTDIR) errno = EEXIST;
    if (!next) return Failed("make directory", path);
    if (made && ::fchmod(next.get(), PermissionBits(mode)) != 0) {
      return Failed("make directory", path, "set mode");
    }
    // Also where it was there: whoever made it may have died before this. What leads there is
    // somebody else's, who may not let us read it.
    const bool ours = made || path.find_first_not_of('/', end) == std::string::npos;
    if (durability == Durability::kSynced && !SyncNamesIn(at.get()) && ours) {
      return Failed("make directory", path, "sync its name");
    }
    at = std::move(next);
  }
  return Ok();
}

Status Unlink(const std::string& path) { return Check(::unlink(path.c_str()), "unlink", path); }

Status Symlink(const std::string& target, const std::string& path) {
  return Check(::symlink(target.c_str(), path.c_str()), "link", path);
}

Result<std::string> ReadLink(const std::string& path) {
  std::string target(PATH_MAX, '\0');  // no link leads to more
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return Failed("read link", path);
  target.resize(static_cast<size_t>(size));
  return target;
}

Status RemoveDirectory(const std::string& path) {
  return Check(::rmdir(path.c_str()), "remove directory", path);
}

namespace {

FileInfo InfoOf(const struct stat& info) {
  return {.kind = KindOf(info.st_mode),
          .mode = PermissionBits(info.st_mode),
          .size = static_cast<uint64_t>(info.st_size),
          .modified = WallTime(Seconds(info.st_mtim.tv_sec) + Duration(info.st_mtim.tv_nsec))};
}

}  // namespace

Result<FileInfo> Stat(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return Failed("stat", path);
  return InfoOf(info);
}

Result<FileInfo> StatTarget(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return Failed("stat", path);
  return InfoOf(info);
}

Result<WriterInfo> FindWriter(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return Failed("find writer of", path);
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return Failed("find writer of", path);
  const WallTime modified = InfoOf(info).modified;
  if (!S_ISREG(info.st_mode)) return WriterInfo{.open_for_writing = false, .modified = modified};
  return WriterInfo{.open_for_writing = !LeaseIsGiven(fd.get()), .modified = modified};
}

Result<std::vector<DirectoryEntry>> List(const std::string& path, size_t entries_max) {
  const auto close = [](DIR* dir) { ::closedir(dir); };
  const std::unique_ptr<DIR, decltype(close)> dir(::opendir(path.c_str()), close);
  if (!dir) return Failed("list", path);
  std::vector<DirectoryEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == entries_max) {
      return Error(ErrorCode::kOverloaded, "more than " + std::to_string(entries_max) + " entries")
          .With("list", path);
    }
    entries.push_back({std::string(name), KindOf(::dirfd(dir.get()), *entry)});
  }
  if (errno != 0) return Failed("list", path);
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace denselet::reactor::file_calls
