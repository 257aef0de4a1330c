#include "tests/sim/disk.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>

namespace denselet::sim {

using Kind = reactor::FileInfo::Kind;

namespace {

std::string Quoted(std::string_view doing, std::string_view path) {
  return std::string(doing).append(" \"").append(path).append("\"");
}

Error Failed(int error, std::string_view doing, std::string_view path) {
  return Error::FromErrno(error, Quoted(doing, path));
}

// The one spelling of a path under which it is kept; empty for a path that names nothing.
std::string NameOf(std::string_view path) {
  std::string name;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) name.append("/").append(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (name.empty() && path.empty()) name = "/";
  }
  return name;
}

constexpr int kLinksMax = 40;  // as Linux has it

std::string ParentOf(const std::string& name) {
  const size_t slash = name.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : name.substr(0, slash);
}

std::string PrefixOf(const std::string& directory) {
  return directory == "/" ? directory : directory + "/";
}

}  // namespace

Disk::Disk() {
  names_["/"] = std::make_shared<Inode>(Inode{Kind::kDirectory, 0755, {}, {}, {}});
  synced_names_ = names_;
}

std::string Disk::Resolve(std::string_view path, Last last) const {
  std::string rest = NameOf(path), done;
  for (int links = 0; !rest.empty();) {
    const size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string next = done + rest.substr(0, end);
    const auto found = names_.find(next);
    const bool is_link = found != names_.end() && found->second->kind == Kind::kSymlink;
    const bool stays = end == rest.size() && last == Last::kItself;
    if (!is_link || stays || links == kLinksMax) {
      done = next;
      rest.erase(0, end);
      continue;
    }
    ++links;
    const std::string& target = found->second->content;
    rest = NameOf((target.starts_with('/') ? "" : done + "/") + target + rest.substr(end));
    done.clear();
  }
  return done;
}

Disk::Found Disk::Find(const std::string& name) const {
  if (name.empty()) return {nullptr, ENOENT};
  const auto found = names_.find(name);
  if (found != names_.end()) return {found->second, 0};
  const int error = CheckParent(name);
  return {nullptr, error != 0 ? error : ENOENT};
}

int Disk::CheckParent(const std::string& name) const {
  if (name.empty()) return ENOENT;
  if (name == "/") return 0;
  const Found parent = Find(ParentOf(name));
  if (parent.inode == nullptr) return parent.error;
  if (parent.inode->kind == Kind::kSymlink) return ELOOP;
  return parent.inode->kind == Kind::kDirectory ? 0 : ENOTDIR;
}

bool Disk::IsEmpty(const std::string& directory) const {
  const std::string prefix = PrefixOf(directory);
  const auto below = names_.upper_bound(prefix);
  return below == names_.end() || !below->first.starts_with(prefix);
}

Result<std::string> Disk::ReadFile(const std::string& path, size_t bytes_max) const {
  const auto [inode, error] = Find(Resolve(path, Last::kFollowed));
  if (inode == nullptr) return Failed(error, "read", path);
  if (inode->kind == Kind::kSymlink) return Failed(ELOOP, "read", path);
  if (inode->kind == Kind::kDirectory) return Failed(EISDIR, "read", path);
  if (inode->content.size() > bytes_max) {
    return Error(ErrorCode::kInvalid, "more than " + std::to_string(bytes_max) + " bytes")
        .With("read", path);
  }
  return inode->content;
}

Status Disk::ReplaceFile(const std::string& path, std::string content, uint32_t mode,
                         reactor::Durability durability, WallTime now) {
  if (path.empty() || path.ends_with('/')) {
    return Error(ErrorCode::kInvalid, "not the name of a file").With("replace", path);
  }
  const std::string name = Resolve(path, Last::kItself);
  if (const int error = CheckParent(name); error != 0) {
    return Error::FromErrno(error, "open directory").With("replace", path);
  }
  if (faults_.read_only) return Error::FromErrno(EROFS, "open").With("replace", path);
  if (content.size() > FreeBytes()) return Error::FromErrno(ENOSPC, "write").With("replace", path);
  const InodeRef old = Find(name).inode;
  if (old != nullptr && old->kind == Kind::kDirectory) {
    return Error::FromErrno(EISDIR, "rename").With("replace", path);
  }
  if (faults_.full) return Error::FromErrno(ENOSPC, "write").With("replace", path);
  auto inode = std::make_shared<Inode>(Inode{Kind::kFile, mode, std::move(content), {}, now});
  names_[name] = inode;
  if (durability == reactor::Durability::kSynced) {
    inode->synced = inode->content;
    synced_names_[name] = inode;
  }
  return Ok();
}

Status Disk::WriteControl(const std::string& path, std::string text, WallTime now) {
  const auto [inode, error] = Find(Resolve(path, Last::kFollowed));
  if (inode == nullptr) return Failed(error, "write", path);
  if (inode->kind == Kind::kSymlink) return Failed(ELOOP, "write", path);
  if (inode->kind == Kind::kDirectory) return Failed(EISDIR, "write", path);
  inode->content = std::move(text);
  inode->modified = now;
  return Ok();
}

Result<Disk::InodeRef> Disk::Open(const std::string& path, reactor::OpenMode mode, uint32_t bits,
                                  WallTime now) {
  // A link to nothing is there, and nothing is made where it leads.
  const InodeRef itself = Find(Resolve(path, Last::kItself)).inode;
  const bool is_link = itself != nullptr && itself->kind == Kind::kSymlink;
  if (is_link && mode == reactor::OpenMode::kCreateNew) return Failed(EEXIST, "open", path);
  const std::string name = Resolve(path, Last::kFollowed);
  const auto [inode, error] = Find(name);
  if (faults_.read_only && mode != reactor::OpenMode::kRead) return Failed(EROFS, "open", path);
  if (inode == nullptr && is_link && mode != reactor::OpenMode::kRead) {
    return Failed(EEXIST, "open", path);
  }
  if (inode == nullptr && (mode == reactor::OpenMode::kRead || CheckParent(name) != 0)) {
    return Failed(error, "open", path);
  }
  if (inode == nullptr && faults_.full) return Failed(ENOSPC, "open", path);
  if (inode == nullptr) {
    const auto made = std::make_shared<Inode>(Inode{Kind::kFile, bits, {}, {}, now});
    names_[name] = made;
    return made;
  }
  if (inode->kind == Kind::kSymlink) return Failed(ELOOP, "open", path);
  if (mode == reactor::OpenMode::kCreateNew) return Failed(EEXIST, "open", path);
  if (mode != reactor::OpenMode::kRead && inode->kind == Kind::kDirectory) {
    return Failed(EISDIR, "open", path);
  }
  if (mode == reactor::OpenMode::kCreateOrTruncate) inode->content.clear();
  return inode;
}

uint64_t Disk::UsedBytes() const {
  uint64_t used = 0;
  for (const auto& [path, inode] : names_) used += inode->content.size();
  return used;
}

uint64_t Disk::FreeBytes() const {
  if (faults_.bytes_max == UINT64_MAX) return UINT64_MAX;
  return faults_.bytes_max - std::min(UsedBytes(), faults_.bytes_max);
}

Status Disk::Append(const InodeRef& inode, std::string_view data, const std::string& path,
                    WallTime now) {
  if (faults_.read_only) return Failed(EROFS, "append to", path);
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(data.size(), FreeBytes()));
  if (taken == 0 && !data.empty()) return Failed(ENOSPC, "append to", path);
  inode->content += data.substr(0, taken);
  inode->modified = now;
  if (taken == data.size()) return Ok();
  return Error(ErrorCode::kUnknownOutcome, Failed(ENOSPC, "append to", path).message());
}

void Disk::Sync(const InodeRef& inode) { inode->synced = inode->content; }

Status Disk::SyncDirectory(const std::string& path) {
  const std::string name = Resolve(path, Last::kFollowed);
  const auto [inode, error] = Find(name);
  if (inode == nullptr) return Failed(error, "sync directory", path);
  if (inode->kind != Kind::kDirectory) return Failed(ENOTDIR, "sync directory", path);
  const auto is_in = [&name](const auto& entry) {
    return entry.first != "/" && ParentOf(entry.first) == name;
  };
  std::erase_if(synced_names_, is_in);
  std::copy_if(names_.begin(), names_.end(), std::inserter(synced_names_, synced_names_.end()),
               is_in);
  return Ok();
}

int Disk::CheckRename(const std::string& from, const std::string& to) const {
  const Found source = Find(from);
  if (source.inode == nullptr) return source.error;
  if (const int error = CheckParent(to); error != 0) return error;
  if (from == "/" || to == "/") return EBUSY;
  const bool directory = source.inode->kind == Kind::kDirectory;
  if (directory && to.starts_with(PrefixOf(from))) return EINVAL;
  const InodeRef target = Find(to).inode;
  if (target == nullptr || target == source.inode) return 0;
  if (directory && target->kind != Kind::kDirectory) return ENOTDIR;
  if (!directory && target->kind == Kind::kDirectory) return EISDIR;
  return directory && !IsEmpty(to) ? ENOTEMPTY : 0;
}

void Disk::MoveAll(Names& names, const std::string& from, const std::string& to) {
  const std::string prefix = PrefixOf(from);
  Names moved;
  for (const auto& [name, inode] : names) {
    if (name == from || name.starts_with(prefix)) moved[to + name.substr(from.size())] = inode;
  }
  EraseAll(names, from);
  for (const auto& [name, inode] : moved) names[name] = inode;
}

void Disk::EraseAll(Names& names, const std::string& name) {
  std::erase_if(names, [&, prefix = PrefixOf(name)](const auto& entry) {
    return entry.first == name || entry.first.starts_with(prefix);
  });
}

Status Disk::Rename(const std::string& from, const std::string& to) {
  const std::string old_name = Resolve(from, Last::kItself);
  const std::string new_name = Resolve(to, Last::kItself);
  if (const int error = CheckRename(old_name, new_name); error != 0) {
    return Error::FromErrno(error, Quoted(Quoted("rename", from) + " to", to));
  }
  if (old_name == new_name) return Ok();
  if (faults_.read_only) {
    return Error::FromErrno(EROFS, Quoted(Quoted("rename", from) + " to", to));
  }
  if (names_[old_name]->kind == Kind::kDirectory) {
    EraseAll(synced_names_, new_name);  // what was in an empty directory that is replaced
    MoveAll(synced_names_, old_name, new_name);
  }
  MoveAll(names_, old_name, new_name);
  return Ok();
}

Status Disk::MakeDirectories(const std::string& path, uint32_t mode,
                             reactor::Durability durability) {
  const std::string name = Resolve(path, Last::kFollowed);
  if (name.empty()) return Failed(ENOENT, "make directory", path);
  for (size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    const InodeRef there = Find(part).inode;
    if (there == nullptr && faults_.read_only) return Failed(EROFS, "make directory", path);
    if (there == nullptr && faults_.full) return Failed(ENOSPC, "make directory", path);
    if (there == nullptr) {
      names_[part] = std::make_shared<Inode>(Inode{Kind::kDirectory, mode, {}, {}, {}});
    } else if (there->kind != Kind::kDirectory) {
      return Failed(EEXIST, "make directory", path);
    }
    if (durability == reactor::Durability::kSynced && part != "/") {
      if (const Status synced = SyncDirectory(ParentOf(part)); !synced) return synced;
    }
    if (end == std::string::npos) return Ok();
  }
}

Status Disk::Unlink(const std::string& path) {
  const std::string name = Resolve(path, Last::kItself);
  const auto [inode, error] = Find(name);
  if (inode == nullptr) return Failed(error, "unlink", path);
  if (inode->kind == Kind::kDirectory) return Failed(EISDIR, "unlink", path);
  if (faults_.read_only) return Failed(EROFS, "unlink", path);
  names_.erase(name);
  return Ok();
}

Status Disk::Symlink(const std::string& target, const std::string& path, WallTime now) {
  const std::string name = Resolve(path, Last::kItself);
  if (target.empty()) return Failed(ENOENT, "link", path);
  if (const int error = CheckParent(name); error != 0) return Failed(error, "link", path);
  if (Find(name).inode != nullptr) return Failed(EEXIST, "link", path);
  if (faults_.read_only) return Failed(EROFS, "link", path);
  if (faults_.full) return Failed(ENOSPC, "link", path);
  names_[name] = std::make_shared<Inode>(Inode{Kind::kSymlink, 0777, target, target, now});
  return Ok();
}

Result<std::string> Disk::ReadLink(const std::string& path) const {
  const auto [inode, error] = Find(Resolve(path, Last::kItself));
  if (inode == nullptr) return Failed(error, "read link", path);
  if (inode->kind != Kind::kSymlink) return Failed(EINVAL, "read link", path);
  return inode->content;
}

Status Disk::RemoveDirectory(const std::string& path) {
  const std::string name = Resolve(path, Last::kItself);
  const auto [inode, error] = Find(name);
  if (inode == nullptr) return Failed(error, "remove directory", path);
  if (inode->kind != Kind::kDirectory) return Failed(ENOTDIR, "remove directory", path);
  if (name == "/") return Failed(EBUSY, "remove directory", path);
  if (!IsEmpty(name)) return Failed(ENOTEMPTY, "remove directory", path);
  if (faults_.read_only) return Failed(EROFS, "remove directory", path);
  names_.erase(name);
  EraseAll(synced_names_, name);  // with what was removed from it before: names need a directory
  return Ok();
}

Result<reactor::FileInfo> Disk::Stat(const std::string& path) const {
  const auto [inode, error] = Find(Resolve(path, Last::kItself));
  if (inode == nullptr) return Failed(error, "stat", path);
  return reactor::FileInfo{inode->kind, inode->mode, inode->content.size(), inode->modified};
}

Result<reactor::WriterInfo> Disk::FindWriter(const std::string& path) const {
  const auto [inode, error] = Find(Resolve(path, Last::kFollowed));
  if (inode == nullptr) return Failed(error, "find writer of", path);
  if (inode->kind == Kind::kSymlink) return Failed(ELOOP, "find writer of", path);
  return reactor::WriterInfo{inode->writers.use_count() > 1, inode->modified};
}

Result<std::vector<reactor::DirectoryEntry>> Disk::List(const std::string& path,
                                                        size_t entries_max) const {
  const std::string directory = Resolve(path, Last::kFollowed);
  const auto [inode, error] = Find(directory);
  if (inode == nullptr) return Failed(error, "list", path);
  if (inode->kind != Kind::kDirectory) return Failed(ENOTDIR, "list", path);
  const std::string prefix = PrefixOf(directory);
  std::vector<reactor::DirectoryEntry> entries;
  for (auto it = names_.upper_bound(prefix); it != names_.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string name = it->first.substr(prefix.size());
    if (name.find('/') == std::string::npos) entries.push_back({name, it->second->kind});
  }
  if (entries.size() > entries_max) {
    return Error(ErrorCode::kOverloaded, "more than " + std::to_string(entries_max) + " entries")
        .With("list", path);
  }
  return entries;
}

void Disk::Garble(std::string& content, size_t from, Random& random) const {
  if (faults_.garble <= 0 || random.Unit() >= faults_.garble) return;
  const bool zeros = random.Below(2) == 0;
  const size_t begin = from + random.Below(content.size() - from);
  const bool to_the_end = random.Below(2) == 0;
  const size_t end = to_the_end ? content.size() : begin + 1 + random.Below(content.size() - begin);
  for (size_t at = begin; at < end; ++at) {
    content[at] = zeros ? '\0' : static_cast<char>(random.Below(256));
  }
}

void Disk::Crash(Random& random) {
  ++generation_;
  std::set<std::string> paths;
  for (const auto& [path, inode] : names_) paths.insert(path);
  for (const auto& [path, inode] : synced_names_) paths.insert(path);
  Names after;
  for (const std::string& path : paths) {
    const Names& source = random.Below(2) == 0 ? names_ : synced_names_;
    const auto found = source.find(path);
    // In the order of paths: what a lost directory had is lost with it.
    const bool has_place = path == "/" || after.contains(ParentOf(path));
    if (found != source.end() && has_place) after[path] = found->second;
  }
  for (const auto& [path, inode] : after) {
    if (inode->content == inode->synced) continue;
    // Of what was appended since the last sync, some prefix reached the disk.
    const bool appended = inode->content.starts_with(inode->synced);
    const size_t extra =
        appended ? random.Below(inode->content.size() - inode->synced.size() + 1) : 0;
    inode->content =
        appended ? inode->content.substr(0, inode->synced.size() + extra) : inode->synced;
    if (extra > 0) Garble(inode->content, inode->synced.size(), random);
  }
  names_ = after;
  synced_names_ = std::move(after);
  for (const auto& [path, inode] : names_) inode->synced = inode->content;
}

}  // namespace denselet::sim
