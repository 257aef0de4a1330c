#include "reactor/net/http1/head_text.h"

#include <array>
#include <charconv>
#include <cstring>

namespace denselet::net {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool IsOurs(std::string_view name, AfterMessage after) {
  switch (name.size()) {
    case 4:
      return EqualsIgnoringCase(name, "Host");
    case 10:
      return after != AfterMessage::kUpgrade && EqualsIgnoringCase(name, "Connection");
    case 14:
      return EqualsIgnoringCase(name, "Content-Length");
    case 17:
      return EqualsIgnoringCase(name, "Transfer-Encoding");
    default:
      return false;
  }
}

void PutNumber(char* at, int digits, int number) {
  for (int i = digits - 1; i >= 0; --i, number /= 10) at[i] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string_view DateLine::At(WallTime now) {
  const int64_t second = std::chrono::floor<Seconds>(now.time_since_epoch()).count();
  if (second != second_) {
    second_ = second;
    const CivilTime civil = ToCivil(now);
    const int64_t day = std::chrono::floor<std::chrono::days>(now.time_since_epoch()).count();
    std::memcpy(line_, "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 37);
    std::memcpy(line_ + 6, kDays[static_cast<size_t>(((day % 7) + 7) % 7)].data(), 3);
    PutNumber(line_ + 11, 2, civil.day);
    std::memcpy(line_ + 14, kMonths[static_cast<size_t>(civil.month - 1)].data(), 3);
    PutNumber(line_ + 18, 4, civil.year);
    PutNumber(line_ + 23, 2, civil.hour);
    PutNumber(line_ + 26, 2, civil.minute);
    PutNumber(line_ + 29, 2, civil.second);
  }
  return {line_, 37};
}

void AppendNumber(std::string& out, uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void AppendStatusLine(std::string& out, int status) {
  if (status == 200) return void(out += "HTTP/1.1 200 OK\r\n");
  out += "HTTP/1.1 ";
  AppendNumber(out, static_cast<uint64_t>(status));
  out.append(" ").append(ReasonPhrase(status)).append("\r\n");
}

void AppendFraming(std::string& out, const BodyFraming& framing) {
  switch (framing.kind) {
    case BodyFraming::Kind::kNone:
    case BodyFraming::Kind::kClose:
      return;
    case BodyFraming::Kind::kLength:
      out += "Content-Length: ";
      AppendNumber(out, framing.length);
      out += "\r\n";
      return;
    case BodyFraming::Kind::kChunked:
      out += "Transfer-Encoding: chunked\r\n";
      return;
  }
}

void AppendHeaders(std::string& out, const Headers& headers, AfterMessage after) {
  for (const auto& [name, value] : headers.entries()) {
    if (IsOurs(name, after) || !IsHeaderName(name) || !IsHeaderValue(value)) continue;
    AppendHeader(out, name, value);
  }
}

void AppendChunk(std::string& out, std::string_view data) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, data.size(), 16);
  out.append(digits, end.ptr).append("\r\n").append(data).append("\r\n");
}

std::optional<uint64_t> LengthIn(const Headers& headers) {
  const std::string* text = headers.Find("Content-Length");
  if (text == nullptr) return std::nullopt;
  uint64_t length = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, length);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return length;
}

size_t TextBytes(const Headers& headers) {
  size_t bytes = 0;
  for (const auto& [name, value] : headers.entries()) bytes += name.size() + value.size() + 4;
  return bytes;
}

}  // namespace denselet::net
