// Trees: path_below.h. Each directory is opened below its parent's descriptor on the same mount and
// without following links, so whoever changes the tree meanwhile cannot lead us elsewhere.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "base/quoted.h"
#include "reactor/path_below.h"

namespace denselet::reactor::path_below {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message
constexpr size_t kDepthMax = 64;   // descriptors that are open at once
constexpr size_t kShareDepthMax = 512;
constexpr int kPassesMax = 1000;  // over one directory that somebody fills while we empty it
// Names are taken in portions: a directory of a million files is not one list.
constexpr size_t kPortion = 4096;

Error At(int number, const char* doing, const std::string& path) {
  if (number == EXDEV || number == EBUSY) {
    return Error(ErrorCode::kUnavailable, "something is mounted there").With(doing, path);
  }
  return Error::FromErrno(number, doing + std::string(" ") + Quoted(path, kShownMax));
}

// A directory in `parent`, on the same mount.
UniqueFd OpenDirectory(int parent, const char* name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, parent, name, &how, sizeof how)));
}

Result<UniqueFd> OpenRoot(const char* doing, const std::string& path) {
  UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root) return At(errno, doing, path);
  return root;
}

// The next names in a directory, a portion of them; reading goes on where it stopped.
class Names {
 public:
  explicit Names(int directory) {
    UniqueFd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (own) stream_.reset(::fdopendir(own.get()));
    if (stream_) static_cast<void>(own.Release());  // the stream's now
  }
  explicit operator bool() const { return stream_ != nullptr; }

  std::vector<std::string> Next() {
    std::vector<std::string> names;
    while (names.size() < kPortion) {
      const dirent* entry = ::readdir(stream_.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
  }

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

class Removal {
 public:
  Removal(int root, const std::string& path) : root_(root), path_(path) {}

  // Empties the directory. What lies too deep is first renamed to the top, as often as it takes.
  Status Empty(int directory, size_t depth) {
    for (int pass = 0; pass < kPassesMax; ++pass) {
      Names names(directory);
      if (!names) return At(errno, "list", path_);
      bool any = false;
      for (auto portion = names.Next(); !portion.empty(); portion = names.Next()) {
        any = true;
        for (const std::string& name : portion) {
          if (Status removed = RemoveOne(directory, name, depth); !removed) return removed;
        }
      }
      if (!any) return Ok();
    }
    return Error(ErrorCode::kUnavailable, "it is being filled").With("empty", path_);
  }

 private:
  Status RemoveOne(int parent, const std::string& name, size_t depth) {
    const UniqueFd child = OpenDirectory(parent, name.c_str());
    if (!child) {
      if (errno == ENOENT) return Ok();
      if (errno != ENOTDIR && errno != ELOOP) return At(errno, "remove", path_ + "/.../" + name);
      if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT || errno == EISDIR) {
        return Ok();  // a directory in its place is for the next pass
      }
      return At(errno, "remove", path_ + "/.../" + name);
    }
    if (depth + 1 >= kDepthMax) return Raise(parent, name);
    if (Status emptied = Empty(child.get(), depth + 1); !emptied) return emptied;
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
        errno == ENOTEMPTY || errno == ENOTDIR) {
      return Ok();
    }
    return At(errno, "remove", path_ + "/.../" + name);
  }

  Status Raise(int parent, const std::string& name) {
    const std::string up = "..deep-" + std::to_string(raised_++);
    if (::renameat2(parent, name.c_str(), root_, up.c_str(), RENAME_NOREPLACE) == 0 ||
        errno == ENOENT || errno == EEXIST) {
      return Ok();
    }
    return At(errno, "remove", path_ + "/.../" + name);
  }

  const int root_;
  const std::string& path_;
  uint64_t raised_ = 0;
};

// Upstream passes over what cannot be changed, and so does this: a file system may not know groups.
void ShareOne(int fd, const GroupAccess& access) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return;
  if (::fchownat(fd, "", static_cast<uid_t>(-1), access.gid, AT_EMPTY_PATH) != 0) errno = 0;
  if (S_ISLNK(info.st_mode)) return;
  const mode_t bits = S_ISDIR(info.st_mode) ? access.directory_bits : access.file_bits;
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  if (::chmod(self.c_str(), (info.st_mode & 07777) | bits) != 0) errno = 0;
}

Status ShareBelow(int directory, const GroupAccess& access, const std::string& path, size_t depth) {
  if (depth == kShareDepthMax) {
    return Error(ErrorCode::kInvalid, "directories are too deep").With("share", path);
  }
  Names names(directory);
  if (!names) return At(errno, "list", path);
  for (auto portion = names.Next(); !portion.empty(); portion = names.Next()) {
    for (const std::string& name : portion) {
      const UniqueFd child = OpenDirectory(directory, name.c_str());
      if (child) {
        if (Status shared = ShareBelow(child.get(), access, path, depth + 1); !shared) {
          return shared;
        }
        ShareOne(child.get(), access);
        continue;
      }
      if (errno != ENOTDIR && errno != ELOOP) continue;  // gone, or another mount
      const UniqueFd other(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (other) ShareOne(other.get(), access);
    }
  }
  return Ok();
}

}  // namespace

Status RemoveTree(const std::string& path) {
  Result<UniqueFd> root = OpenRoot("remove", path);
  if (!root && root.error().code() == ErrorCode::kNotFound) return Ok();
  if (!root) return root.error();
  if (Status emptied = Removal(root->get(), path).Empty(root->get(), 0); !emptied) return emptied;
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return At(errno, "remove", path);
  return Ok();
}

Status ShareTree(const std::string& path, const GroupAccess& access) {
  Result<UniqueFd> root = OpenRoot("share", path);
  if (!root) return root.error();
  if (Status shared = ShareBelow(root->get(), access, path, 0); !shared) return shared;
  ShareOne(root->get(), access);
  return Ok();
}

}  // namespace denselet::reactor::path_below
