#include "managers/volume/atomic_writer.h"

#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "managers/volume/share_bits.h"

namespace denselet::managers {
namespace {

using reactor::DirectoryEntry;
using reactor::DiskCalls;
using reactor::FileInfo;

constexpr const char* kData = "..data";
constexpr const char* kNewData = "..data_tmp";
constexpr uint32_t kFolderMode = 0755;
constexpr size_t kEntriesMax = 100'000;
constexpr size_t kDepthMax = 128;  // of directories in a payload: a path has 4096 bytes
constexpr uint32_t kNamesTried = 100;

std::string TopOf(const std::string& path) { return path.substr(0, path.find('/')); }

// Directories that the files of a payload lie in, and the files.
std::set<std::string> PathsOf(const Payload& payload) {
  std::set<std::string> paths;
  for (const auto& [path, content] : payload) {
    for (size_t end = path.size(); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      paths.insert(path.substr(0, end));
    }
  }
  return paths;
}

Status ListBelow(DiskCalls& disk, const std::string& folder, const std::string& prefix,
                 size_t depth, std::set<std::string>& found) {
  if (depth == kDepthMax) return Error(ErrorCode::kCorrupt, "too deep").With("list", folder);
  const Result<std::vector<DirectoryEntry>> entries = disk.List(folder, kEntriesMax);
  if (!entries) return entries.error();
  for (const DirectoryEntry& entry : *entries) {
    found.insert(prefix + entry.name);
    if (entry.kind != FileInfo::Kind::kDirectory) continue;
    if (Status listed =
            ListBelow(disk, folder + "/" + entry.name, prefix + entry.name + "/", depth + 1, found);
        !listed) {
      return listed;
    }
  }
  return Ok();
}

// Whether the directory has the payload's files and no others. One that cannot be read is replaced.
bool IsUpToDate(DiskCalls& disk, const std::string& folder, const Payload& payload) {
  std::set<std::string> found;
  if (const Status listed = ListBelow(disk, folder, "", 0, found); !listed) return false;
  if (found != PathsOf(payload)) return false;
  for (const auto& [path, content] : payload) {
    const Result<std::string> there = disk.Read(folder + "/" + path, content.data.view().size());
    if (!there || *there != content.data.view()) return false;
  }
  return true;
}

Result<std::string> MakeFolder(DiskCalls& disk, const ContentWrite& write) {
  Status made = Ok();
  for (uint32_t i = 0; i < kNamesTried; ++i) {
    std::string name = write.stamp + std::to_string(write.number + i);
    made = disk.MakeDirectory(write.folder + "/" + name, kFolderMode);
    if (made) return name;
    if (made.error().code() != ErrorCode::kAlreadyExists) break;
  }
  return made.error();
}

Status WriteFiles(DiskCalls& disk, const std::string& folder, const Payload& payload) {
  for (const auto& [path, content] : payload) {
    const std::string file = folder + "/" + path;
    if (path.find('/') != std::string::npos) {
      const std::string parent = file.substr(0, file.rfind('/'));
      if (Status made = disk.MakeDirectories(parent, kFolderMode); !made) return made;
    }
    const std::string data(content.data.view());  // one file's at a time
    if (Status written = disk.WriteNew(file, data, content.mode); !written) return written;
    if (!content.uid) continue;
    if (Status given = disk.ChangeUser(file, *content.uid); !given) return given;
  }
  return Ok();
}

Status Publish(DiskCalls& disk, const ContentWrite& write, const std::string& name) {
  const std::string link = write.folder + "/" + kNewData;
  // Of a writer that was killed.
  const Status gone = disk.Unlink(link);
  if (!gone && gone.error().code() != ErrorCode::kNotFound) return gone;
  if (Status linked = disk.Symlink(name, link); !linked) return linked;
  Status renamed = disk.Rename(link, write.folder + "/" + kData);
  if (!renamed) (void)disk.Unlink(link);
  return renamed;
}

Status FillAndPublish(DiskCalls& disk, const ContentWrite& write, const std::string& name) {
  if (Status written = WriteFiles(disk, write.folder + "/" + name, write.payload); !written) {
    return written;
  }
  if (write.fs_group) {
    const Status shared = disk.ShareTree(write.folder, ReadableBy(*write.fs_group));
    if (!shared) return shared;
  }
  return Publish(disk, write, name);
}

// Directories that nobody reads: of before, and of writers that failed or were killed. Others are
// places for mounts.
Status RemoveFolders(DiskCalls& disk, const ContentWrite& write, const std::string& current) {
  const Result<std::vector<DirectoryEntry>> entries = disk.List(write.folder, kEntriesMax);
  if (!entries) return entries.error();
  for (const DirectoryEntry& entry : *entries) {
    if (entry.kind == FileInfo::Kind::kSymlink || entry.name == current) continue;
    if (!entry.name.starts_with("..")) continue;
    const Status removed = disk.RemoveTree(write.folder + "/" + entry.name);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  return Ok();
}

// What others left goes first: the place that it takes may be the place that is missing. And one
// that cannot be removed is not joined by another at each try.
Status WriteNewFolder(DiskCalls& disk, const ContentWrite& write, std::string& current) {
  if (Status removed = RemoveFolders(disk, write, current); !removed) return removed;
  Result<std::string> made = MakeFolder(disk, write);
  if (!made) return made.error();
  Status published = FillAndPublish(disk, write, *made);
  if (published) {
    current = *std::move(made);
    return Ok();
  }
  // Why it failed is told; where this fails, too, the next write removes it.
  (void)disk.RemoveTree(write.folder + "/" + *made);
  return published;
}

Status MakeLinks(DiskCalls& disk, const ContentWrite& write) {
  for (const auto& [path, content] : write.payload) {
    const std::string top = TopOf(path);
    const std::string link = write.folder + "/" + top;
    const Result<std::string> there = disk.ReadLink(link);
    // Something that is no link is a place for a mount.
    if (there || there.error().code() == ErrorCode::kInvalid) continue;
    if (there.error().code() != ErrorCode::kNotFound) return there.error();
    if (Status made = disk.Symlink(std::string(kData) + "/" + top, link); !made) return made;
    if (!content.uid) continue;
    if (Status given = disk.ChangeUser(link, *content.uid); !given) return given;
  }
  return Ok();
}

// Links to what is no more, and of killed writers.
Status RemoveLinks(DiskCalls& disk, const ContentWrite& write) {
  const Result<std::vector<DirectoryEntry>> entries = disk.List(write.folder, kEntriesMax);
  if (!entries) return entries.error();
  std::set<std::string> wanted = {kData};
  for (const auto& [path, content] : write.payload) wanted.insert(TopOf(path));
  for (const DirectoryEntry& entry : *entries) {
    if (entry.kind != FileInfo::Kind::kSymlink || wanted.count(entry.name) != 0) continue;
    const Status removed = disk.Unlink(write.folder + "/" + entry.name);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  return Ok();
}

}  // namespace

std::string StampOf(WallTime now) {
  const CivilTime t = ToCivil(now);
  char text[40];
  std::snprintf(text, sizeof text, "..%04d_%02d_%02d_%02d_%02d_%02d.", t.year, t.month, t.day,
                t.hour, t.minute, t.second);
  return text;
}

Status WriteContent(DiskCalls& disk, const ContentWrite& write) {
  const Result<std::string> link = disk.ReadLink(write.folder + "/" + kData);
  if (!link && link.error().code() != ErrorCode::kNotFound) return link.error();
  std::string current = link ? *link : "";
  const bool keep =
      !current.empty() && IsUpToDate(disk, write.folder + "/" + current, write.payload);
  if (!keep) {
    if (Status written = WriteNewFolder(disk, write, current); !written) return written;
  }
  if (Status linked = MakeLinks(disk, write); !linked) return linked;
  if (Status removed = RemoveLinks(disk, write); !removed) return removed;
  return RemoveFolders(disk, write, current);
}

}  // namespace denselet::managers
