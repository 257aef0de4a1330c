#include "managers/poddirs/last_words.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/quoted.h"

namespace denselet::managers {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a path in a message

struct TailRead {
  reactor::FileSystem& files;
  const Context context;
  const std::string path;
  const size_t bytes_max;
  reactor::Done<FileTail> done;
};

void ReadFrom(std::unique_ptr<TailRead> read, reactor::FileId file, uint64_t offset) {
  TailRead& it = *read;
  it.files.ReadAt(
      it.context, file, offset, it.bytes_max,
      [read = std::move(read), file, whole = offset == 0](Result<std::string> bytes) mutable {
        read->files.Close(file);
        if (!bytes) return read->done(bytes.error());
        read->done(FileTail{.bytes = *std::move(bytes), .whole = whole});
      });
}

// "2026-01-02T15:04:05.123456789Z stdout F text"; nothing: it is none.
std::optional<std::string_view> TextOfLine(std::string_view line) {
  const auto word = [&line]() -> std::string_view {
    const size_t space = line.find(' ');
    if (space == line.npos) return {};
    const std::string_view taken = line.substr(0, space);
    line.remove_prefix(space + 1);
    return taken;
  };
  const std::string_view time = word();
  const std::string_view stream = word();
  const std::string_view tags = word();
  if (time.empty() || (stream != "stdout" && stream != "stderr")) return std::nullopt;
  const bool is_part = tags.substr(0, tags.find(':')) == "P";
  if (is_part && line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

// The length of the character at the front; 0: there is none.
size_t CharacterLength(std::string_view bytes) {
  const auto at = [&bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  // Too long for what it says, half of a pair, or beyond the last one.
  if ((first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F)) return 0;
  if ((first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F)) return 0;
  return length;
}

}  // namespace

void ReadTail(reactor::FileSystem& files, const Context& context, std::string path,
              size_t bytes_max, reactor::Done<FileTail> done) {
  auto read = std::make_unique<TailRead>(
      TailRead{files, context, std::move(path), bytes_max, std::move(done)});
  TailRead& it = *read;
  // A pipe would hang whoever opens it.
  it.files.Stat(
      it.context, it.path, [read = std::move(read)](Result<reactor::FileInfo> info) mutable {
        if (!info) return read->done(info.error());
        if (info->kind != reactor::FileInfo::Kind::kFile) {
          return read->done(
              Error(ErrorCode::kInvalid, Quoted(read->path, kShownMax) + " is no regular file"));
        }
        const uint64_t offset = info->size > read->bytes_max ? info->size - read->bytes_max : 0;
        TailRead& stated = *read;
        stated.files.Open(stated.context, stated.path, reactor::OpenMode::kRead, 0,
                          [read = std::move(read), offset](Result<reactor::FileId> file) mutable {
                            if (!file) return read->done(file.error());
                            ReadFrom(std::move(read), *file, offset);
                          });
      });
}

std::string LastOfLog(const FileTail& tail) {
  std::string_view left = tail.bytes;
  if (!tail.whole) left.remove_prefix(std::min(left.size() - 1, left.find('\n')) + 1);
  // Back over as many ends of lines as there may be lines.
  size_t begin = left.size();
  size_t ends = 0;
  while (begin > 0) {
    if (left[begin - 1] == '\n' && ++ends > kLogLinesMax) break;
    --begin;
  }
  left.remove_prefix(begin);
  std::string text;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, std::min(left.size(), left.find('\n')) + 1);
    left.remove_prefix(line.size());
    text += TextOfLine(line).value_or(std::string_view());
  }
  if (text.size() > kLogBytesMax) text.erase(0, text.size() - kLogBytesMax);
  return text;
}

std::string ToText(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = CharacterLength(bytes);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace denselet::managers
