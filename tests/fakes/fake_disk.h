// A machine's disk and mount table in memory, for jobs of DiskCalls: with faults in every call, and
// an agent that is killed before any of them. Outlives agents. Paths are absolute and plain; links
// are followed in StatTarget, BindBelow and ReadBelow only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reactor/api/disk_jobs.h"

namespace denselet::fakes {

class FakeDisk final : public reactor::DiskCalls {
 public:
  FakeDisk();

  // From here on calls work; after `calls` of them the agent is dead: they fail and do nothing.
  void Live(uint64_t calls = UINT64_MAX);
  bool dead() const { return calls_left_ == 0; }
  uint64_t calls_made() const { return calls_made_; }
  // Asked before each call, with its name and path: an error is its answer, and it has no effect.
  using Fault =
      std::function<std::optional<Error>(const std::string& call, const std::string& path)>;
  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // tmpfs of a kernel without noswap.
  bool knows_noswap = true;

  struct Mounted {
    std::string point;
    std::string what;  // "tmpfs size=4096,noswap", "bind /a/b"
    friend bool operator==(const Mounted&, const Mounted&) = default;
  };
  std::vector<Mounted> mounts() const;
  // All paths at or below one, with what is mounted there, sorted: "0755 0:5 dir", "0644 0:0 text",
  // "-> target".
  std::map<std::string, std::string> Tree(const std::string& path) const;
  // The content, links followed; nothing: no such file.
  std::optional<std::string> Content(const std::string& path) const;
  // By others than the agent: no faults, no count.
  void Put(const std::string& path, const std::string& content);
  void PutFolder(const std::string& path);
  void PutLink(const std::string& path, const std::string& target);
  void PutKind(const std::string& path, reactor::PathInfo::Kind kind);
  void PutMount(const std::string& path);  // of somebody else

  Result<reactor::PathInfo> Stat(const std::string& path) override;
  Result<reactor::PathInfo> StatTarget(const std::string& path) override;
  Result<std::string> Read(const std::string& path, size_t bytes_max) override;
  Result<std::string> ReadLink(const std::string& path) override;
  Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path,
                                                    size_t entries_max) override;
  Status MakeDirectory(const std::string& path, uint32_t mode) override;
  Status MakeDirectories(const std::string& path, uint32_t mode) override;
  Status WriteNew(const std::string& path, const std::string& content, uint32_t mode) override;
  Status Symlink(const std::string& target, const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Unlink(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status ChangeMode(const std::string& path, uint32_t mode) override;
  Status ChangeUser(const std::string& path, uint32_t uid) override;
  Status RemoveTree(const std::string& path) override;
  Status ShareTree(const std::string& path, const reactor::GroupAccess& access) override;
  Status Mount(reactor::MountKind kind, const std::string& path,
               const std::string& options) override;
  Status Unmount(const std::string& path) override;
  Status BindBelow(const reactor::PathBelow& from, uint32_t mode,
                   const std::string& target) override;
  Result<std::string> ReadBelow(const reactor::PathBelow& file, size_t bytes_max) override;

 private:
  struct Node {
    reactor::PathInfo info = {};
    std::string text = {};  // content, or where a link leads
  };
  // By path within it; "" is its root.
  using Tree_ = std::map<std::string, Node>;
  struct MountEntry {
    std::string point;
    std::shared_ptr<Tree_> tree;
    std::string root;  // of a bind mount: what is shown
    std::string what;
    // Of a bind mount: what it shows stays, also when its name in the tree has gone.
    reactor::PathInfo shown = {};
  };
  struct Place {
    Tree_* tree = nullptr;
    std::string path;
    std::shared_ptr<Tree_> owner;
  };

  std::optional<Error> Begin(const char* call, const std::string& path);
  Place Locate(const std::string& path) const;
  const MountEntry* MountAt(const std::string& path) const;
  bool MountBelow(const std::string& path) const;
  Node* Find(const std::string& path) const;
  Status MakeNode(const std::string& path, Node node);
  // The path without links; out of the folder is kPermission.
  Result<std::string> Follow(const std::string& folder, const std::string& relative) const;

  std::vector<MountEntry> mounts_;
  uint64_t calls_left_ = UINT64_MAX;
  uint64_t calls_made_ = 0;
  Fault fault_;
};

}  // namespace denselet::fakes
