#include "tests/fakes/fake_disk.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace denselet::fakes {
namespace {

using reactor::DirectoryEntry;
using reactor::FileInfo;
using reactor::PathInfo;

constexpr int kLinksMax = 40;

Error Refused(ErrorCode code, const char* what, const std::string& path) {
  return Error(code, what).With("fake", path);
}

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool IsBelow(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::vector<std::string> Names(const std::string& path) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin && path.substr(begin, end - begin) != ".") {
      names.push_back(path.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return names;
}

PathInfo Folder(uint32_t mode) { return {.kind = PathInfo::Kind::kDirectory, .mode = mode}; }

}  // namespace

FakeDisk::FakeDisk() {
  auto root = std::make_shared<Tree_>();
  (*root)[""] = {.info = Folder(0755)};
  mounts_.push_back({"", std::move(root), "", "root", {}});
}

void FakeDisk::Live(uint64_t calls) { calls_left_ = calls; }

std::optional<Error> FakeDisk::Begin(const char* call, const std::string& path) {
  if (calls_left_ == 0) return Refused(ErrorCode::kCancelled, "the agent is dead", path);
  if (calls_left_ != UINT64_MAX) --calls_left_;
  ++calls_made_;
  return fault_ ? fault_(call, path) : std::nullopt;
}

FakeDisk::Place FakeDisk::Locate(const std::string& path) const {
  const MountEntry* best = nullptr;
  for (const MountEntry& mount : mounts_) {
    if (path != mount.point && !IsBelow(path, mount.point)) continue;
    if (best == nullptr || mount.point.size() >= best->point.size()) best = &mount;
  }
  return {best->tree.get(), best->root + path.substr(best->point.size()), best->tree};
}

const FakeDisk::MountEntry* FakeDisk::MountAt(const std::string& path) const {
  const MountEntry* found = nullptr;
  for (const MountEntry& mount : mounts_) {
    if (mount.point == path) found = &mount;
  }
  return found;
}

bool FakeDisk::MountBelow(const std::string& path) const {
  return std::ranges::any_of(mounts_,
                             [&](const auto& mount) { return IsBelow(mount.point, path); });
}

FakeDisk::Node* FakeDisk::Find(const std::string& path) const {
  const Place place = Locate(path);
  const auto found = place.tree->find(place.path);
  return found == place.tree->end() ? nullptr : &found->second;
}

std::vector<FakeDisk::Mounted> FakeDisk::mounts() const {
  std::vector<Mounted> list;
  for (const MountEntry& mount : mounts_) {
    if (!mount.point.empty()) list.push_back({mount.point, mount.what});
  }
  return list;
}

std::map<std::string, std::string> FakeDisk::Tree(const std::string& path) const {
  std::map<std::string, std::string> all;
  std::set<std::string> paths;
  for (const MountEntry& mount : mounts_) {
    for (const auto& [inner, node] : *mount.tree) {
      if (inner != mount.root && !IsBelow(inner, mount.root)) continue;
      paths.insert(mount.point + inner.substr(mount.root.size()));
    }
  }
  for (const std::string& candidate : paths) {
    if (candidate != path && !IsBelow(candidate, path)) continue;
    const Node* node = Find(candidate);
    if (node == nullptr) continue;  // hidden by a mount
    if (node->info.kind == PathInfo::Kind::kSymlink) {
      all[candidate] = "-> " + node->text;
      continue;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%04o %u:%u ", node->info.mode, node->info.uid,
                  node->info.gid);
    all[candidate] = text + (node->info.kind == PathInfo::Kind::kDirectory ? "dir" : node->text);
  }
  return all;
}

std::optional<std::string> FakeDisk::Content(const std::string& path) const {
  const Result<std::string> plain = Follow("", path.substr(1));
  const Node* node = plain ? Find(*plain) : nullptr;
  if (node == nullptr || node->info.kind != PathInfo::Kind::kFile) return std::nullopt;
  return node->text;
}

void FakeDisk::PutFolder(const std::string& path) {
  std::string so_far;
  for (const std::string& name : Names(path)) {
    so_far += "/" + name;
    if (Find(so_far) == nullptr) static_cast<void>(MakeNode(so_far, {.info = Folder(0755)}));
  }
}

void FakeDisk::Put(const std::string& path, const std::string& content) {
  PutFolder(ParentOf(path));
  const Place place = Locate(path);
  (*place.tree)[place.path] = {.info = {.mode = 0644}, .text = content};
}

void FakeDisk::PutLink(const std::string& path, const std::string& target) {
  PutFolder(ParentOf(path));
  const Place place = Locate(path);
  (*place.tree)[place.path] = {.info = {.kind = PathInfo::Kind::kSymlink, .mode = 0777},
                               .text = target};
}

void FakeDisk::PutKind(const std::string& path, PathInfo::Kind kind) {
  Put(path, "");
  Find(path)->info.kind = kind;
}

void FakeDisk::PutMount(const std::string& path) {
  PutFolder(path);
  auto tree = std::make_shared<Tree_>();
  (*tree)[""] = {.info = Folder(0755)};
  mounts_.push_back({path, std::move(tree), "", "foreign", {}});
}

Result<PathInfo> FakeDisk::Stat(const std::string& path) {
  if (auto fault = Begin("stat", path)) return *fault;
  const Node* node = Find(path);
  const MountEntry* mount = MountAt(path);
  if (node == nullptr && mount == nullptr) {
    return Refused(ErrorCode::kNotFound, "not there", path);
  }
  PathInfo info = node != nullptr ? node->info : mount->shown;
  info.mount_point = mount != nullptr;
  return info;
}

Result<PathInfo> FakeDisk::StatTarget(const std::string& path) {
  const Result<std::string> plain = Follow("", path.substr(1));
  if (!plain) return plain.error();
  return Stat(*plain);
}

Result<std::string> FakeDisk::Read(const std::string& path, size_t bytes_max) {
  if (auto fault = Begin("read", path)) return *fault;
  const Node* node = Find(path);
  if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", path);
  if (node->info.kind != PathInfo::Kind::kFile) return Refused(ErrorCode::kInvalid, "?", path);
  if (node->text.size() > bytes_max) return Refused(ErrorCode::kInvalid, "too large", path);
  return node->text;
}

Result<std::string> FakeDisk::ReadLink(const std::string& path) {
  if (auto fault = Begin("read link", path)) return *fault;
  const Node* node = Find(path);
  if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", path);
  if (node->info.kind != PathInfo::Kind::kSymlink) {
    return Refused(ErrorCode::kInvalid, "not a link", path);
  }
  return node->text;
}

Result<std::vector<DirectoryEntry>> FakeDisk::List(const std::string& path, size_t entries_max) {
  if (auto fault = Begin("list", path)) return *fault;
  const Node* folder = Find(path);
  if (folder == nullptr || folder->info.kind != PathInfo::Kind::kDirectory) {
    return Refused(ErrorCode::kNotFound, "no directory", path);
  }
  std::vector<DirectoryEntry> entries;
  const Place place = Locate(path);
  for (const auto& [inner, node] : *place.tree) {
    if (!IsBelow(inner, place.path) || ParentOf(inner) != place.path) continue;
    const FileInfo::Kind kind =
        node.info.kind == PathInfo::Kind::kDirectory ? FileInfo::Kind::kDirectory
        : node.info.kind == PathInfo::Kind::kSymlink ? FileInfo::Kind::kSymlink
                                                     : FileInfo::Kind::kFile;
    entries.push_back({NameOf(inner), kind});
  }
  if (entries.size() > entries_max) return Refused(ErrorCode::kOverloaded, "too many", path);
  return entries;
}

Status FakeDisk::MakeNode(const std::string& path, Node node) {
  const Node* parent = Find(ParentOf(path));
  if (parent == nullptr || parent->info.kind != PathInfo::Kind::kDirectory) {
    return Refused(ErrorCode::kNotFound, "no parent", path);
  }
  // What is made in a directory of a group is the group's.
  if ((parent->info.mode & 02000) != 0) node.info.gid = parent->info.gid;
  const Place place = Locate(path);
  if (!place.tree->emplace(place.path, std::move(node)).second) {
    return Refused(ErrorCode::kAlreadyExists, "there already", path);
  }
  return Ok();
}

Status FakeDisk::MakeDirectory(const std::string& path, uint32_t mode) {
  if (auto fault = Begin("make directory", path)) return *fault;
  return MakeNode(path, {.info = Folder(mode)});
}

Status FakeDisk::MakeDirectories(const std::string& path, uint32_t mode) {
  if (auto fault = Begin("make directories", path)) return *fault;
  std::string so_far;
  for (const std::string& name : Names(path)) {
    so_far += "/" + name;
    const Node* there = Find(so_far);
    if (there != nullptr && there->info.kind == PathInfo::Kind::kDirectory) continue;
    if (Status made = MakeNode(so_far, {.info = Folder(mode)}); !made) return made;
  }
  return Ok();
}

Status FakeDisk::WriteNew(const std::string& path, const std::string& content, uint32_t mode) {
  if (auto fault = Begin("write", path)) return *fault;
  return MakeNode(path, {.info = {.mode = mode}, .text = content});
}

Status FakeDisk::Symlink(const std::string& target, const std::string& path) {
  if (auto fault = Begin("link", path)) return *fault;
  return MakeNode(path, {.info = {.kind = PathInfo::Kind::kSymlink, .mode = 0777}, .text = target});
}

Status FakeDisk::Rename(const std::string& from, const std::string& to) {
  if (auto fault = Begin("rename", from)) return *fault;
  const Place source = Locate(from);
  const Place target = Locate(to);
  const auto found = source.tree->find(source.path);
  if (found == source.tree->end()) return Refused(ErrorCode::kNotFound, "not there", from);
  if (found->second.info.kind == PathInfo::Kind::kDirectory || source.tree != target.tree) {
    return Refused(ErrorCode::kUnsupported, "only files and links, in one tree", from);
  }
  Node node = found->second;
  source.tree->erase(found);
  (*target.tree)[target.path] = std::move(node);
  return Ok();
}

Status FakeDisk::Unlink(const std::string& path) {
  if (auto fault = Begin("unlink", path)) return *fault;
  const Node* node = Find(path);
  if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", path);
  if (MountAt(path) != nullptr) return Refused(ErrorCode::kConflict, "mounted", path);
  if (node->info.kind == PathInfo::Kind::kDirectory) {
    return Refused(ErrorCode::kInvalid, "a directory", path);
  }
  const Place place = Locate(path);
  place.tree->erase(place.path);
  return Ok();
}

Status FakeDisk::RemoveDirectory(const std::string& path) {
  if (auto fault = Begin("remove directory", path)) return *fault;
  const Node* node = Find(path);
  if (node == nullptr || node->info.kind != PathInfo::Kind::kDirectory) {
    return Refused(ErrorCode::kNotFound, "no directory", path);
  }
  if (MountAt(path) != nullptr) return Refused(ErrorCode::kConflict, "mounted", path);
  const Place place = Locate(path);
  for (const auto& [inner, other] : *place.tree) {
    if (IsBelow(inner, place.path)) return Refused(ErrorCode::kAlreadyExists, "not empty", path);
  }
  place.tree->erase(place.path);
  return Ok();
}

Status FakeDisk::ChangeMode(const std::string& path, uint32_t mode) {
  if (auto fault = Begin("change mode", path)) return *fault;
  Node* node = Find(path);
  if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", path);
  node->info.mode = mode;
  return Ok();
}

Status FakeDisk::ChangeUser(const std::string& path, uint32_t uid) {
  if (auto fault = Begin("change user", path)) return *fault;
  Node* node = Find(path);
  if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", path);
  node->info.uid = uid;
  return Ok();
}

Status FakeDisk::RemoveTree(const std::string& path) {
  if (auto fault = Begin("remove tree", path)) return *fault;
  if (Find(path) == nullptr) return Ok();
  if (MountAt(path) != nullptr || MountBelow(path)) {
    return Refused(ErrorCode::kUnavailable, "something is mounted there", path);
  }
  const Place place = Locate(path);
  std::erase_if(*place.tree, [&](const auto& entry) {
    return entry.first == place.path || IsBelow(entry.first, place.path);
  });
  return Ok();
}

Status FakeDisk::ShareTree(const std::string& path, const reactor::GroupAccess& access) {
  if (auto fault = Begin("share tree", path)) return *fault;
  const Place place = Locate(path);
  for (auto& [inner, node] : *place.tree) {
    if (inner != place.path && !IsBelow(inner, place.path)) continue;
    node.info.gid = access.gid;
    if (node.info.kind == PathInfo::Kind::kSymlink) continue;
    node.info.mode |=
        node.info.kind == PathInfo::Kind::kDirectory ? access.directory_bits : access.file_bits;
  }
  return Ok();
}

Status FakeDisk::Mount(reactor::MountKind kind, const std::string& path,
                       const std::string& options) {
  if (auto fault = Begin("mount", path)) return *fault;
  const bool tmpfs = kind == reactor::MountKind::kTmpfs;
  if (tmpfs && !knows_noswap && options.find("noswap") != std::string::npos) {
    return Refused(ErrorCode::kInvalid, "no such option", path);
  }
  const Node* node = Find(path);
  if (node == nullptr || node->info.kind != PathInfo::Kind::kDirectory) {
    return Refused(ErrorCode::kNotFound, "no directory", path);
  }
  auto tree = std::make_shared<Tree_>();
  (*tree)[""] = {.info = Folder(tmpfs ? 01777 : 0755)};
  mounts_.push_back({path, std::move(tree), "", (tmpfs ? "tmpfs " : "hugetlbfs ") + options, {}});
  return Ok();
}

Status FakeDisk::Unmount(const std::string& path) {
  if (auto fault = Begin("unmount", path)) return *fault;
  const MountEntry* found = MountAt(path);
  if (found == nullptr) return Refused(ErrorCode::kInvalid, "not mounted", path);
  if (MountBelow(path)) return Refused(ErrorCode::kConflict, "busy", path);
  mounts_.erase(mounts_.begin() + (found - mounts_.data()));
  return Ok();
}

Result<std::string> FakeDisk::Follow(const std::string& folder, const std::string& relative) const {
  std::vector<std::string> todo = Names(relative);
  std::reverse(todo.begin(), todo.end());
  std::string at = folder;
  int links = 0;
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    if (name == "..") {
      if (at == folder) return Refused(ErrorCode::kPermission, "out of the volume", relative);
      at = ParentOf(at);
      continue;
    }
    const std::string next = at + "/" + name;
    const Node* node = Find(next);
    if (node == nullptr) return Refused(ErrorCode::kNotFound, "not there", next);
    if (node->info.kind != PathInfo::Kind::kSymlink) {
      at = next;
      continue;
    }
    if (++links > kLinksMax) return Refused(ErrorCode::kInvalid, "too many links", relative);
    if (node->text.starts_with('/')) {
      if (!folder.empty()) return Refused(ErrorCode::kPermission, "out of the volume", relative);
      at.clear();
    }
    std::vector<std::string> more = Names(node->text);
    todo.insert(todo.end(), more.rbegin(), more.rend());
  }
  return at;
}

Status FakeDisk::BindBelow(const reactor::PathBelow& from, uint32_t mode,
                           const std::string& target) {
  if (auto fault = Begin("bind", target)) return *fault;
  Result<std::string> source = Follow(from.folder, from.relative);
  if (!source && source.error().code() != ErrorCode::kNotFound) return source.error();
  if (!source) {
    std::string so_far = from.folder;
    for (const std::string& name : Names(from.relative)) {
      so_far += "/" + name;
      if (Find(so_far) != nullptr) continue;
      if (Status made = MakeNode(so_far, {.info = Folder(mode)}); !made) return made;
    }
    source = Follow(from.folder, from.relative);
    if (!source) return source.error();
  }
  const Place shown = Locate(*source);
  if (const MountEntry* there = MountAt(target)) {
    if (there->tree.get() == shown.tree && there->root == shown.path) return Ok();
    mounts_.erase(mounts_.begin() + (there - mounts_.data()));
  }
  PutFolder(ParentOf(target));
  if (Find(target) == nullptr) {
    const bool folder = Find(*source)->info.kind == PathInfo::Kind::kDirectory;
    const Status made =
        MakeNode(target, folder ? Node{.info = Folder(0750)} : Node{.info = {.mode = 0640}});
    if (!made) return made;
  }
  mounts_.push_back({target, shown.owner, shown.path, "bind " + *source, Find(*source)->info});
  return Ok();
}

Result<std::string> FakeDisk::ReadBelow(const reactor::PathBelow& file, size_t bytes_max) {
  if (auto fault = Begin("read below", file.folder)) return *fault;
  const Result<std::string> plain = Follow(file.folder, file.relative);
  if (!plain) return plain.error();
  const Node* node = Find(*plain);
  if (node->info.kind != PathInfo::Kind::kFile) {
    return Refused(ErrorCode::kInvalid, "not a file", file.relative);
  }
  if (node->text.size() > bytes_max) return Refused(ErrorCode::kOverloaded, "large", *plain);
  return node->text;
}

}  // namespace denselet::fakes
