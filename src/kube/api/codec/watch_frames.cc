#include "kube/api/codec/watch_frames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kHeldBytesKeptMax = 64 << 10;  // a larger buffer is given back after its frame
// An event has two members; an object or list beyond these is not remembered, and refused later.
constexpr size_t kMembersMax = 8;

constexpr std::array<std::pair<WatchEventType, std::string_view>, 5> kTypes = {{
    {WatchEventType::kAdded, "ADDED"},
    {WatchEventType::kModified, "MODIFIED"},
    {WatchEventType::kDeleted, "DELETED"},
    {WatchEventType::kBookmark, "BOOKMARK"},
    {WatchEventType::kError, "ERROR"},
}};

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

Error Corrupt(const char* what) { return Error(ErrorCode::kCorrupt, what).With("watch event"); }

Result<WatchEvent> MakeEvent(std::string_view type, std::string_view object) {
  const auto* known = std::ranges::find(kTypes, type, [](const auto& row) { return row.second; });
  if (known == kTypes.end()) {
    constexpr size_t kShownBytesMax = 64;
    return Corrupt("unknown type").With("read", type.substr(0, kShownBytesMax));
  }
  if (object.empty()) return Corrupt("there is no object in it");
  return WatchEvent{known->first, object};
}

Result<WatchEvent> ReadProtobufEvent(std::string_view frame) {
  constexpr uint32_t kType = 1, kObject = 2, kRaw = 1;
  std::string_view type, raw;
  WireReader event(frame.substr(kLengthBytes));
  WireField field;
  while (event.Next(field)) {
    if (field.number != kType && field.number != kObject) continue;
    if (!Expect(event, field, WireField::Type::kBytes)) break;
    if (field.number == kType) {
      type = field.bytes;
      continue;
    }
    WireReader object(field.bytes);
    WireField inner;
    while (object.Next(inner)) {
      if (inner.number == kRaw && Expect(object, inner, WireField::Type::kBytes)) raw = inner.bytes;
    }
    if (const Status status = object.ToStatus("watch event: object"); !status)
      return status.error();
  }
  if (const Status status = event.ToStatus("watch event"); !status) return status.error();
  return MakeEvent(type, raw);
}

// The members of a document whose nesting is known to be closed.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  size_t at() const { return at_; }
  void MoveTo(size_t at) { at_ = at; }
  void SkipBlanks() {
    while (IsBlank(Peek())) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  // A text with what stands between its quotes; escapes stay as they are.
  bool TakeText(std::string_view& text) {
    if (!Take('"')) return false;
    const size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        text = text_.substr(begin, at_++ - begin);
        return true;
      }
    }
    return false;
  }
  // A number, true, false or null.
  std::string_view TakeWord() {
    const size_t begin = at_;
    while (Peek() != ',' && Peek() != '}' && Peek() != '\0' && !IsBlank(Peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string_view WatchEventTypeName(WatchEventType type) {
  return kTypes[static_cast<size_t>(type)].second;
}

void WatchFrames::Feed(std::string_view piece) {
  CHECK(piece_.empty());  // events of the piece before would be lost
  if (!error_) piece_ = piece;
}

Result<std::optional<WatchEvent>> WatchFrames::Next() {
  if (error_) return *error_;
  DropTaken();
  const auto end = FindEnd();
  if (!end) return Fail(end.error());
  if (!*end) {
    Hold();
    return std::optional<WatchEvent>();
  }
  const auto event = ReadEvent(TakeFrame(**end));
  if (!event) return Fail(event.error());
  return std::optional(*event);
}

Error WatchFrames::Fail(Error error) {
  error_ = std::move(error);
  piece_ = {};
  held_ = {};
  frame_taken_ = false;
  return *error_;
}

Status WatchFrames::Finish() const {
  if (error_) return *error_;
  if (pending_bytes() == 0 && piece_.empty()) return Ok();
  return Error(ErrorCode::kUnavailable, "the stream ended inside an event").With("watch");
}

Result<std::optional<size_t>> WatchFrames::FindEnd() {
  auto end = encoding_ == WatchEncoding::kJson ? FindJsonEnd() : FindProtobufEnd();
  if (!end) return end;
  const size_t header = encoding_ == WatchEncoding::kJson ? 0 : kLengthBytes;
  const size_t frame = held_.size() + (*end ? **end : piece_.size());
  if (frame > header && frame - header > frame_bytes_max_) {
    return Error(ErrorCode::kOverloaded,
                 "larger than the limit of " + std::to_string(frame_bytes_max_) + " bytes")
        .With("watch event");
  }
  return end;
}

Result<std::optional<size_t>> WatchFrames::FindProtobufEnd() const {
  const size_t there = held_.size() + piece_.size();
  if (there < kLengthBytes) return std::optional<size_t>();
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    const char byte = i < held_.size() ? held_[i] : piece_[i - held_.size()];
    length = length << 8 | static_cast<uint8_t>(byte);
  }
  // One that is too large is refused before it is held.
  if (length <= frame_bytes_max_ && there < kLengthBytes + length) return std::optional<size_t>();
  return std::optional(kLengthBytes + length - held_.size());
}

Result<std::optional<size_t>> WatchFrames::FindJsonEnd() {
  if (held_.empty()) {
    while (!piece_.empty() && IsBlank(piece_.front())) piece_.remove_prefix(1);
    if (!piece_.empty() && piece_.front() != '{') return Corrupt("this is not a JSON object");
  }
  for (size_t i = 0; i < piece_.size(); ++i) {
    const char c = piece_[i];
    if (scan_.in_text) {
      if (scan_.escaped) {
        scan_.escaped = false;
      } else if (c == '\\') {
        scan_.escaped = true;
      } else if (c == '"') {
        scan_.in_text = false;
      }
      continue;
    }
    if (c == '"') {
      scan_.in_text = true;
    } else if (c == '{' || c == '[') {
      if (scan_.depth++ == 1) scan_.member_begin = held_.size() + i;
    } else if (c == '}' || c == ']') {
      if (--scan_.depth == 0) return std::optional(i + 1);
      if (scan_.depth == 1 && scan_.members.size() < kMembersMax)
        scan_.members.push_back({scan_.member_begin, held_.size() + i + 1});
    }
  }
  return std::optional<size_t>();
}

void WatchFrames::Hold() {
  held_.append(piece_);
  piece_ = {};
}

std::string_view WatchFrames::TakeFrame(size_t end) {
  const std::string_view rest = piece_.substr(0, end);
  piece_.remove_prefix(end);
  if (held_.empty()) return rest;
  held_.append(rest);
  frame_taken_ = true;
  return held_;
}

void WatchFrames::DropTaken() {
  if (!frame_taken_) return;
  frame_taken_ = false;
  held_.clear();
  if (held_.capacity() > kHeldBytesKeptMax) held_ = {};
}

Result<WatchEvent> WatchFrames::ReadEvent(std::string_view frame) {
  if (encoding_ == WatchEncoding::kProtobuf) return ReadProtobufEvent(frame);
  const JsonScan scan = std::exchange(scan_, {});
  return ReadJsonEvent(frame, scan);
}

Result<WatchEvent> WatchFrames::ReadJsonEvent(std::string_view frame, const JsonScan& scan) {
  std::string_view type, object;
  Cursor cursor(frame);
  auto member = scan.members.begin();
  cursor.Take('{');
  if (cursor.Take('}')) return MakeEvent(type, object);
  do {
    std::string_view key, text;
    if (!cursor.TakeText(key) || !cursor.Take(':')) return Corrupt("it is not valid JSON");
    cursor.SkipBlanks();
    if (cursor.Peek() == '{' || cursor.Peek() == '[') {
      if (member == scan.members.end() || member->begin != cursor.at())
        return Corrupt("it is not the JSON of an event");
      if (key == "object") object = frame.substr(member->begin, member->end - member->begin);
      cursor.MoveTo((member++)->end);
    } else if (cursor.Peek() == '"') {
      if (!cursor.TakeText(text)) return Corrupt("it is not valid JSON");
      if (key == "type") type = text;
    } else if (cursor.TakeWord().empty()) {
      return Corrupt("it is not valid JSON");
    }
  } while (cursor.Take(','));
  if (!cursor.Take('}') || cursor.at() != frame.size()) return Corrupt("it is not valid JSON");
  if (object.starts_with('[')) return Corrupt("its object is a list");
  return MakeEvent(type, object);
}

}  // namespace denselet::kube
