#include "kube/client/api_failure.h"

#include <algorithm>
#include <charconv>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

// Of a body that is no Status, and of a header.
constexpr size_t kTextBytesMax = 256;
constexpr int64_t kRetryAfterSecondsMax = 3600;
constexpr Duration kSpreadMin = Seconds(1);
constexpr std::string_view kNamespaceTerminating = "NamespaceTerminating";
constexpr std::string_view kVersionTooLarge = "ResourceVersionTooLarge";

std::string CutText(std::string_view text) {
  std::string cut(text.substr(0, kTextBytesMax));
  std::ranges::replace_if(
      cut, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  while (!cut.empty() && cut.back() == ' ') cut.pop_back();
  return cut;
}

std::optional<Duration> SecondsAfter(int64_t seconds) {
  if (seconds <= 0) return std::nullopt;
  return Seconds(std::min(seconds, kRetryAfterSecondsMax));
}

// False: it is none.
bool ReadStatus(std::string_view object, meta::Status& status) {
  if (IsEnvelope(object)) {
    const Result<Envelope> envelope = DecodeEnvelope(object);
    return envelope && envelope->kind == "Status" &&
           status.ParseFromArray(envelope->raw.data(), static_cast<int>(envelope->raw.size()));
  }
  const DecodeReport report = DecodeJson(object, status);
  if (!report.ok()) return false;
  // The server's time limit for requests answers without a kind.
  const bool nameless = report.type.kind.empty() && status.status() == "Failure";
  return nameless || report.type.kind == "Status";
}

bool HasCause(const meta::Status& status, std::string_view reason) {
  return std::ranges::any_of(status.details().causes(), [reason](const meta::StatusCause& cause) {
    return cause.reason() == reason;
  });
}

void Take(const meta::Status& status, ApiFailure& failure) {
  failure.reason = status.reason();
  failure.message = status.message();
  failure.namespace_terminating = HasCause(status, kNamespaceTerminating);
  failure.version_too_large = HasCause(status, kVersionTooLarge);
  if (const auto after = SecondsAfter(status.details().retryafterseconds())) {
    failure.retry_after = after;
  }
}

std::optional<Duration> RetryAfter(const net::Headers& headers) {
  const std::string* value = headers.Find("retry-after");
  if (value == nullptr) return std::nullopt;
  int64_t seconds = 0;
  const char* end = value->data() + value->size();
  const auto [read, error] = std::from_chars(value->data(), end, seconds);
  if (error != std::errc() || read != end) return std::nullopt;
  return SecondsAfter(std::max<int64_t>(seconds, 1));
}

ErrorCode CodeOf(const ApiFailure& failure, sync::ApiVerb verb) {
  switch (failure.http_status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return ErrorCode::kInvalid;
    case 401:
      return ErrorCode::kPermission;
    case 403:
      return failure.namespace_terminating ? ErrorCode::kConflict : ErrorCode::kPermission;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return failure.reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410:
    case 412:
      return ErrorCode::kConflict;
    case 429:
      return ErrorCode::kOverloaded;
    case 503:
      return ErrorCode::kUnavailable;
    default:
      break;
  }
  if (failure.http_status < 500) return ErrorCode::kInvalid;
  return verb == sync::ApiVerb::kGet ? ErrorCode::kUnavailable : ErrorCode::kUnknownOutcome;
}

}  // namespace

ApiFailure ReadApiFailure(int http_status, const net::Headers& headers, std::string_view body) {
  ApiFailure failure;
  failure.http_status = http_status;
  failure.retry_after = RetryAfter(headers);
  meta::Status status;
  if (ReadStatus(body, status)) {
    Take(status, failure);
  } else {
    failure.message = CutText(body);
  }
  if (failure.message.empty()) failure.message = net::ReasonPhrase(http_status);
  return failure;
}

ApiFailure ReadStatusObject(std::string_view object) {
  ApiFailure failure;
  meta::Status status;
  if (!ReadStatus(object, status)) {
    failure.message = "an error event without a status";
    return failure;
  }
  Take(status, failure);
  failure.http_status = status.code();
  return failure;
}

Duration SpreadRetryAfter(Duration retry_after, Random& random) {
  const Duration spread = std::max<Duration>(kSpreadMin, retry_after / 8);
  return random.Jitter(spread, 1.0) - spread + retry_after;
}

Error ToError(const ApiFailure& failure, sync::ApiVerb verb) {
  return Error(CodeOf(failure, verb), "the API server said " + std::to_string(failure.http_status) +
                                          ": " + failure.message)
      .AsAnswer();
}

}  // namespace denselet::kube
