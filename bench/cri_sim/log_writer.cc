#include "bench/cri_sim/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace denselet::cri_sim {
namespace {

Result<int> OpenForAppend(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  int fd = open(path.c_str(), kFlags, 0640);
  if (fd < 0 && errno == ENOENT) {
    std::error_code ignored;  // the second open tells
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    fd = open(path.c_str(), kFlags, 0640);
  }
  if (fd < 0) return Error::FromErrno(errno, "failed to open log file " + path);
  return fd;
}

}  // namespace

LogWriter::~LogWriter() {
  for (const auto& [path, file] : files_) close(file.fd);
}

Status LogWriter::Open(const std::string& path) {
  const Result<int> fd = OpenForAppend(path);
  if (!fd) return fd.error();
  close(*fd);
  return Ok();
}

Result<int> LogWriter::Descriptor(const std::string& path) {
  if (const auto found = files_.find(path); found != files_.end()) {
    used_.splice(used_.begin(), used_, found->second.used);
    return found->second.fd;
  }
  const Result<int> fd = OpenForAppend(path);
  if (!fd) return fd.error();
  if (files_.size() == kOpenMax) Close(std::string(used_.back()));
  used_.push_front(path);
  files_.emplace(path, File{*fd, used_.begin()});
  return *fd;
}

Status LogWriter::Write(const std::string& path, WallTime at, std::string_view stream,
                        std::string_view line) {
  const Result<int> fd = Descriptor(path);
  if (!fd) return fd.error();
  std::string text = FormatRfc3339(at, 9);
  text.append(" ").append(stream).append(" F ").append(line).append("\n");
  if (write(*fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error::FromErrno(errno, "failed to write log file " + path);
  }
  return Ok();
}

Status LogWriter::Reopen(const std::string& path) {
  Close(path);
  return Open(path);
}

void LogWriter::Close(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  close(found->second.fd);
  used_.erase(found->second.used);
  files_.erase(found);
}

}  // namespace denselet::cri_sim
