#include "tests/fakes/api_answers.h"

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::fakes {
namespace {

std::string Quoted(const kube::Resource& resource, std::string_view name) {
  return QualifiedName(resource) + " \"" + std::string(name) + "\"";
}

}  // namespace

std::string QualifiedName(const kube::Resource& resource) {
  std::string name(resource.plural);
  if (!resource.group.empty()) name.append(".").append(resource.group);
  return name;
}

ModelAnswer Refuse(const StatusWords& words) {
  kube::meta::Status status;
  status.mutable_metadata()->set_continue_(words.continue_token);
  status.set_status("Failure");
  status.set_code(words.code);
  status.set_reason(words.reason);
  status.set_message(words.message);
  if (!words.cause.empty()) status.mutable_details()->add_causes()->set_reason(words.cause);
  if (words.retry_after_seconds > 0) {
    status.mutable_details()->set_retryafterseconds(words.retry_after_seconds);
  }
  ModelAnswer answer{
      .http_status = words.code, .type = {"v1", "Status"}, .wire = kube::EncodeWire(status)};
  if (words.retry_after_seconds > 0) answer.retry_after_seconds = words.retry_after_seconds;
  return answer;
}

ModelAnswer NotFound(const kube::Resource& resource, std::string_view name) {
  return Refuse(
      {.code = 404, .reason = "NotFound", .message = Quoted(resource, name) + " not found"});
}

ModelAnswer AlreadyExists(const kube::Resource& resource, std::string_view name) {
  return Refuse({.code = 409,
                 .reason = "AlreadyExists",
                 .message = Quoted(resource, name) + " already exists"});
}

ModelAnswer Conflict(const kube::Resource& resource, std::string_view name, std::string_view why) {
  return Refuse({.code = 409,
                 .reason = "Conflict",
                 .message = "Operation cannot be fulfilled on " + Quoted(resource, name) + ": " +
                            std::string(why)});
}

ModelAnswer Invalid(std::string_view kind, std::string_view name, std::string_view why) {
  return Refuse({.code = 422,
                 .reason = "Invalid",
                 .message = std::string(kind) + " \"" + std::string(name) +
                            "\" is invalid: " + std::string(why)});
}

ModelAnswer BadRequest(std::string_view why) {
  return Refuse({.code = 400, .reason = "BadRequest", .message = std::string(why)});
}

ModelAnswer Unauthorized() {
  return Refuse({.code = 401, .reason = "Unauthorized", .message = "Unauthorized"});
}

ModelAnswer TooOld(std::string_view why, std::string continue_token) {
  return Refuse({.code = 410,
                 .reason = "Expired",
                 .message = std::string(why),
                 .continue_token = std::move(continue_token)});
}

ModelAnswer TooLarge(uint64_t wanted, uint64_t current) {
  return Refuse({.code = 504,
                 .reason = "Timeout",
                 .message = "Too large resource version: " + std::to_string(wanted) +
                            ", current: " + std::to_string(current),
                 .cause = "ResourceVersionTooLarge",
                 .retry_after_seconds = 1});
}

ModelAnswer TooManyRequests(int retry_after_seconds) {
  return Refuse({.code = 429,
                 .reason = "TooManyRequests",
                 .message = "Too many requests, please try again later.",
                 .retry_after_seconds = retry_after_seconds});
}

ModelAnswer InternalError() {
  return Refuse(
      {.code = 500, .reason = "InternalError", .message = "an error on the server was provoked"});
}

ModelAnswer Success(const kube::Resource& resource, std::string_view name, std::string_view uid) {
  kube::meta::Status status;
  status.set_status("Success");
  status.mutable_details()->set_name(std::string(name));
  status.mutable_details()->set_kind(std::string(resource.plural));
  status.mutable_details()->set_group(std::string(resource.group));
  status.mutable_details()->set_uid(std::string(uid));
  return {.http_status = 200, .type = {"v1", "Status"}, .wire = kube::EncodeWire(status)};
}

}  // namespace denselet::fakes
