#include "reactor/shared_mount.h"

#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/quoted.h"
#include "reactor/file_calls.h"

namespace denselet::reactor {
namespace {

constexpr const char* kTable = "/proc/thread-self/mountinfo";
constexpr size_t kTableBytesMax = size_t{64} << 20;
constexpr size_t kShownMax = 256;  // bytes of a path in a message

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, newline and backslash as \ooo.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool code = text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) &&
                      IsOctal(text[i + 2]) && IsOctal(text[i + 3]);
    plain += code ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0'))
                  : text[i];
    if (code) i += 3;
  }
  return plain;
}

std::string_view TakeField(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

bool IsWithin(std::string_view path, std::string_view point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

Status Mounted(int result, const std::string& path) {
  if (result == 0) return Ok();
  return Error::FromErrno(errno, "mount " + Quoted(path, kShownMax));
}

}  // namespace

// 36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/root rw: any number of fields before the
// dash. Of mounts above each other the last counts.
bool IsOnSharedMount(std::string_view table, std::string_view path) {
  bool shared = false;
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    for (int before = 0; before < 4; ++before) TakeField(line);  // ids, device, root
    if (!IsWithin(path, Unescaped(TakeField(line)))) continue;
    shared = false;
    for (std::string_view field = TakeField(line); !field.empty() && field != "-";
         field = TakeField(line)) {
      shared = shared || field.starts_with("shared:");
    }
  }
  return shared;
}

Result<bool> MakeSharedMount(const std::string& path) {
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) {
    return Error::FromErrno(errno, "look for " + Quoted(path, kShownMax));
  }
  const Result<std::string> table = file_calls::Read(kTable, kTableBytesMax);
  if (!table) return table.error();
  if (IsOnSharedMount(*table, real)) return false;
  if (Status bound = Mounted(::mount(real, real, nullptr, MS_BIND, nullptr), path); !bound) {
    return bound.error();
  }
  const Status made = Mounted(::mount(real, real, nullptr, MS_SHARED | MS_REC, nullptr), path);
  if (!made) return made.error();
  return true;
}

}  // namespace denselet::reactor
