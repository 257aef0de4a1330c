// The file operations as plain blocking functions: what PoolFileSystem runs on a worker. They know
// nothing of shards, threads or contexts; their errors name the operation and the path:
// read "/etc/hosts": No such file or directory
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "reactor/api/file_system.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor::file_calls {

Result<std::string> Read(const std::string& path, size_t bytes_max);
// Of a pipe with or without a name, to its end; all else is an error. Waits for who writes, but no
// longer than `idle_max` in all.
Result<std::string> ReadPipe(const std::string& path, size_t bytes_max, Duration idle_max);
Status Replace(const std::string& path, std::string_view content, uint32_t mode, Durability);
Status WriteControl(const std::string& path, std::string_view text);

// `path` is for the errors.
Result<UniqueFd> Open(const std::string& path, OpenMode open_mode, uint32_t mode);
Result<std::string> ReadAt(int fd, const std::string& path, uint64_t offset, size_t bytes_max);
Status Append(int fd, const std::string& path, std::string_view data);
Status Sync(int fd, const std::string& path);

Status SyncDirectory(const std::string& path);
Status Rename(const std::string& from, const std::string& to);
Status MakeDirectories(const std::string& path, uint32_t mode,
                       Durability durability = Durability::kCached);
Status Unlink(const std::string& path);
Status Symlink(const std::string& target, const std::string& path);
Result<std::string> ReadLink(const std::string& path);
Status RemoveDirectory(const std::string& path);
Result<FileInfo> Stat(const std::string& path);
// Of what a link leads to.
Result<FileInfo> StatTarget(const std::string& path);
// Asks the kernel for a lease, which it gives for a file that nobody has open for writing, and
// gives it back at once. Somebody who opens the file in between waits for that; who opens it with
// O_NONBLOCK may be told to try again.
Result<WriterInfo> FindWriter(const std::string& path);
Result<std::vector<DirectoryEntry>> List(const std::string& path, size_t entries_max);

}  // namespace denselet::reactor::file_calls
