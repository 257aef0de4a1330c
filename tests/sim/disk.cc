#include "tests/sim/disk.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace denselet::sim {

using Kind = reactor::FileInfo::Kind;

namespace {

Error Missing(std::string_view doing, const std::string& path) {
  return Error(ErrorCode::kNotFound, "No such file or directory").With(doing, path);
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace

Disk::Disk() {
  names_["/"] = std::make_shared<Inode>(Inode{Kind::kDirectory, 0755, {}, {}, {}});
  synced_names_ = names_;
}

Disk::InodeRef Disk::Find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

Status Disk::NeedParent(const std::string& path) const {
  const InodeRef parent = Find(ParentOf(path));
  if (parent == nullptr || parent->kind != Kind::kDirectory) return Missing("open", ParentOf(path));
  return Ok();
}

Result<std::string> Disk::ReadFile(const std::string& path, size_t bytes_max) const {
  const InodeRef inode = Find(path);
  if (inode == nullptr) return Missing("read", path);
  if (inode->kind != Kind::kFile)
    return Error(ErrorCode::kInvalid, "Is a directory").With("read", path);
  if (inode->content.size() > bytes_max) {
    return Error(ErrorCode::kOverloaded, "larger than asked for").With("read", path);
  }
  return inode->content;
}

Status Disk::ReplaceFile(const std::string& path, std::string content, uint32_t mode,
                         reactor::Durability durability, WallTime now) {
  if (Status parent = NeedParent(path); !parent) return parent;
  auto inode = std::make_shared<Inode>(Inode{Kind::kFile, mode, std::move(content), {}, now});
  names_[path] = inode;
  if (durability == reactor::Durability::kSynced) {
    inode->synced = inode->content;
    synced_names_[path] = inode;
  }
  return Ok();
}

Status Disk::WriteControl(const std::string& path, std::string text, WallTime now) {
  const InodeRef inode = Find(path);
  if (inode == nullptr) return Missing("write", path);
  inode->content = std::move(text);
  inode->modified = now;
  return Ok();
}

Result<Disk::InodeRef> Disk::Open(const std::string& path, reactor::OpenMode mode, uint32_t bits,
                                  WallTime now) {
  InodeRef inode = Find(path);
  switch (mode) {
    case reactor::OpenMode::kRead:
      if (inode == nullptr) return Missing("open", path);
      return inode;
    case reactor::OpenMode::kAppend:
      if (inode != nullptr) return inode;
      break;
    case reactor::OpenMode::kCreateNew:
      if (inode != nullptr)
        return Error(ErrorCode::kAlreadyExists, "File exists").With("open", path);
      break;
    case reactor::OpenMode::kCreateOrTruncate:
      if (inode != nullptr) {
        inode->content.clear();
        return inode;
      }
      break;
  }
  if (Status parent = NeedParent(path); !parent) return parent.error();
  inode = std::make_shared<Inode>(Inode{Kind::kFile, bits, {}, {}, now});
  names_[path] = inode;
  return inode;
}

void Disk::Sync(const InodeRef& inode) { inode->synced = inode->content; }

Status Disk::SyncDirectory(const std::string& path) {
  const InodeRef inode = Find(path);
  if (inode == nullptr || inode->kind != Kind::kDirectory) return Missing("sync directory", path);
  const auto is_in = [&path](const auto& entry) {
    return entry.first != "/" && ParentOf(entry.first) == path;
  };
  std::erase_if(synced_names_, is_in);
  std::copy_if(names_.begin(), names_.end(), std::inserter(synced_names_, synced_names_.end()),
               is_in);
  return Ok();
}

Status Disk::Rename(const std::string& from, const std::string& to) {
  const InodeRef inode = Find(from);
  if (inode == nullptr) return Missing("rename", from);
  if (Status parent = NeedParent(to); !parent) return parent;
  names_.erase(from);
  names_[to] = inode;
  return Ok();
}

Status Disk::MakeDirectories(const std::string& path, uint32_t mode) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const InodeRef there = Find(part);
    if (there == nullptr) {
      names_[part] = std::make_shared<Inode>(Inode{Kind::kDirectory, mode, {}, {}, {}});
      synced_names_[part] =
          names_[part];  // losing directories teaches nothing that losing files does not
    } else if (there->kind != Kind::kDirectory) {
      return Error(ErrorCode::kNotFound, "Not a directory").With("create directory", part);
    }
    if (end == std::string::npos) return Ok();
  }
}

Status Disk::Unlink(const std::string& path) {
  if (names_.erase(path) == 0) return Missing("remove", path);
  return Ok();
}

Status Disk::RemoveDirectory(const std::string& path) {
  if (Find(path) == nullptr) return Missing("remove", path);
  const auto below = names_.upper_bound(path + "/");
  if (below != names_.end() && below->first.starts_with(path + "/")) {
    return Error(ErrorCode::kAlreadyExists, "Directory not empty").With("remove", path);
  }
  names_.erase(path);
  synced_names_.erase(path);
  return Ok();
}

Result<reactor::FileInfo> Disk::Stat(const std::string& path) const {
  const InodeRef inode = Find(path);
  if (inode == nullptr) return Missing("stat", path);
  return reactor::FileInfo{inode->kind, inode->mode, inode->content.size(), inode->modified};
}

Result<std::vector<reactor::DirectoryEntry>> Disk::List(const std::string& path,
                                                        size_t entries_max) const {
  if (Find(path) == nullptr) return Missing("list", path);
  const std::string prefix = path == "/" ? "/" : path + "/";
  std::vector<reactor::DirectoryEntry> entries;
  for (auto it = names_.upper_bound(prefix); it != names_.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string name = it->first.substr(prefix.size());
    if (name.find('/') == std::string::npos) entries.push_back({name, it->second->kind});
  }
  if (entries.size() > entries_max)
    return Error(ErrorCode::kOverloaded, "too many entries").With("list", path);
  return entries;
}

void Disk::Crash(Random& random) {
  ++generation_;
  std::set<std::string> paths;
  for (const auto& [path, inode] : names_) paths.insert(path);
  for (const auto& [path, inode] : synced_names_) paths.insert(path);
  Names after;
  for (const std::string& path : paths) {
    const Names& source = random.Below(2) == 0 ? names_ : synced_names_;
    if (const auto found = source.find(path); found != source.end()) after[path] = found->second;
  }
  for (const auto& [path, inode] : after) {
    if (inode->content == inode->synced) continue;
    // Of what was appended since the last sync, some prefix reached the disk.
    const bool appended = inode->content.starts_with(inode->synced);
    const size_t extra =
        appended ? random.Below(inode->content.size() - inode->synced.size() + 1) : 0;
    inode->content =
        appended ? inode->content.substr(0, inode->synced.size() + extra) : inode->synced;
  }
  names_ = after;
  synced_names_ = std::move(after);
  for (const auto& [path, inode] : names_) inode->synced = inode->content;
}

}  // namespace denselet::sim
