// Whatever the values hold, a line stays in its buffer and is one well-formed line from which the
// values can be read back: JSON by a JSON reader, text by the inverse of Go's strconv.Quote.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/log_format.h"

namespace denselet {
namespace {

// The length of the valid UTF-8 sequence that `text` starts with, or 0.
size_t Utf8Length(std::string_view text) {
  const auto in = [&](size_t i, unsigned low, unsigned high) {
    return i < text.size() && static_cast<uint8_t>(text[i]) >= low &&
           static_cast<uint8_t>(text[i]) <= high;
  };
  const auto tail = [&](size_t i) { return in(i, 0x80, 0xbf); };
  if (in(0, 0, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf)) return tail(1) ? 2 : 0;
  if (in(0, 0xe0, 0xe0)) return in(1, 0xa0, 0xbf) && tail(2) ? 3 : 0;
  if (in(0, 0xed, 0xed)) return in(1, 0x80, 0x9f) && tail(2) ? 3 : 0;
  if (in(0, 0xe1, 0xef)) return tail(1) && tail(2) ? 3 : 0;
  if (in(0, 0xf0, 0xf0)) return in(1, 0x90, 0xbf) && tail(2) && tail(3) ? 4 : 0;
  if (in(0, 0xf4, 0xf4)) return in(1, 0x80, 0x8f) && tail(2) && tail(3) ? 4 : 0;
  return in(0, 0xf1, 0xf3) && tail(1) && tail(2) && tail(3) ? 4 : 0;
}

// What JSON can show of `text`.
std::string Sanitized(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    out += length == 0 ? std::string_view("\ufffd") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  if (code < 0x10000) {
    return put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  }
  put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f));
  put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
}

// Reads what FormatLine writes. Every CHECK is a line that is not well-formed.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  bool Ended() const { return text_.empty(); }
  bool Skip(std::string_view wanted) {
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }
  void Expect(std::string_view wanted) { CHECK(Skip(wanted)); }

  std::string Until(std::string_view stops) {
    const size_t end = text_.find_first_of(stops);
    CHECK(end != text_.npos && end > 0);
    return Take(end);
  }

  // A string in quotes; the escapes of both styles.
  std::string Quoted() {
    std::string out;
    Expect("\"");
    while (!Skip("\"")) {
      CHECK(!text_.empty() && static_cast<uint8_t>(text_[0]) >= 0x20);
      if (Skip("\\")) {
        Escape(out);
      } else {
        const size_t length = Utf8Length(text_);
        CHECK(length > 0);
        out += Take(length);
      }
    }
    return out;
  }

  // klog's form of a value of several lines, without its last line end.
  std::string Indented() {
    std::string out;
    Expect("<\n");
    while (!Skip(" >")) {
      Expect("\t");
      const size_t end = text_.find('\n');
      CHECK(end != text_.npos);
      out += Take(end + 1);
    }
    return out;
  }

  using Pairs = std::map<std::string, std::string>;

  Pairs Object() {
    Pairs pairs;
    Expect("{");
    do {
      const std::string key = Quoted();
      Expect(":");
      CHECK(pairs.emplace(key, Value()).second);  // no key twice
    } while (Skip(","));
    Expect("}");
    return pairs;
  }

  Pairs TextPairs() {
    Pairs pairs;
    Quoted();
    while (Skip(" ")) {
      const std::string key = Until("=");
      Expect("=");
      CHECK(pairs.emplace(key, Value()).second);
    }
    Expect("\n");
    return pairs;
  }

 private:
  std::string Take(size_t bytes) {
    std::string taken(text_.substr(0, bytes));
    text_.remove_prefix(bytes);
    return taken;
  }

  std::string Value() {
    if (text_.starts_with("\"")) return Quoted();
    if (text_.starts_with("<")) return Indented();
    if (!text_.starts_with("{")) return Until(" ,}\n");
    Pairs names = Object();
    return names["namespace"].empty() ? names["name"] : names["namespace"] + "/" + names["name"];
  }

  void Escape(std::string& out) {
    constexpr std::string_view kNames = "abfnrtv\\\"", kNamed = "\a\b\f\n\r\t\v\\\"";
    CHECK(!text_.empty());
    const char name = Take(1)[0];
    const size_t named = kNames.find(name);
    if (named != kNames.npos) return void(out += kNamed[named]);
    CHECK(name == 'x' || name == 'u' || name == 'U');
    const std::string hex = Take(name == 'x' ? 2 : name == 'u' ? 4 : 8);
    const auto code = static_cast<uint32_t>(std::stoul(hex, nullptr, 16));
    if (name == 'x') return void(out += static_cast<char>(code));
    AppendUtf8(out, code);
  }

  std::string_view text_;
};

struct Sample {
  LogRecord record;
  size_t buffer_bytes;
  std::map<std::string, std::string> expected;  // of the pairs that are strings or objects
};

void CheckText(const Sample& sample) {
  std::vector<char> buffer(sample.buffer_bytes);
  const std::string_view line = FormatLine({}, sample.record, buffer);
  CHECK(line.size() <= buffer.size() && line.data() == buffer.data());
  LineReader reader(line.substr(line.find("] ") + 2));
  LineReader::Pairs pairs = reader.TextPairs();
  CHECK(reader.Ended());
  if (pairs.contains("cutBytes")) return;
  for (auto [key, value] : sample.expected) {
    if (value.find('\n') != value.npos && value.back() != '\n' && key != "pod") value += '\n';
    CHECK(pairs[key] == value);
  }
}

void CheckJson(const Sample& sample) {
  std::vector<char> buffer(sample.buffer_bytes);
  const LogFormat format{.style = LogStyle::kJson, .utc_offset = Seconds(0), .thread_id = 0};
  const std::string_view line = FormatLine(format, sample.record, buffer);
  CHECK(line.size() <= buffer.size() && line.data() == buffer.data());
  LineReader reader(line);
  LineReader::Pairs pairs = reader.Object();
  reader.Expect("\n");
  CHECK(reader.Ended());
  CHECK(pairs.contains("ts") && pairs.contains("caller") && pairs.contains("msg"));
  if (pairs.contains("cutBytes")) return;
  for (const auto& [key, value] : sample.expected) CHECK(pairs[key] == Sanitized(value));
}

}  // namespace
}  // namespace denselet

// The input: a byte for the buffer's size, eight for numbers, then strings that end at 0xfe, a byte
// that UTF-8 never has.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  if (size < 9) return 0;
  uint64_t number = 0;
  std::memcpy(&number, data + 1, sizeof(number));
  std::string_view rest(reinterpret_cast<const char*>(data) + 9, size - 9);
  std::string strings[6];
  for (std::string& text : strings) {
    text = rest.substr(0, rest.find('\xfe'));
    rest.remove_prefix(rest.size() > text.size() ? text.size() + 1 : rest.size());
  }
  const ObjectRef pod{strings[0], strings[1]};
  const Error error(ErrorCode::kIo, strings[2]);
  double real = 0;
  std::memcpy(&real, &number, sizeof(real));
  const LogPair carried[] = {Pod(pod), KV("again", strings[3])};
  const LogPair pairs[] = {KV("one", strings[4]), KV("n", number),
                           KV("real", real),      KV("d", Duration(static_cast<int64_t>(number))),
                           KV("two", strings[5]), KV("again", strings[5])};
  Sample sample;
  sample.buffer_bytes = kLineBytesMin + data[0] * size_t{8};
  sample.record.severity = static_cast<Severity>(number % 3);
  sample.record.time = WallTime(Duration(static_cast<int64_t>(number >> 2)));
  sample.record.file = "sync/pod_worker.cc";
  sample.record.message = "Fuzzed";
  sample.record.logger = number % 2 == 0 ? "" : "fuzz";
  sample.record.error = number % 5 == 0 ? nullptr : &error;
  sample.record.carried = carried;
  sample.record.pairs = pairs;
  sample.expected = {{"pod", pod.ToString()}, {"one", strings[4]}, {"two", strings[5]}};
  sample.expected["again"] = strings[5];
  if (sample.record.error != nullptr) sample.expected["err"] = strings[2];
  CheckText(sample);
  CheckJson(sample);
  return 0;
}
