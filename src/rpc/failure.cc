#include "rpc/failure.h"

#include <array>

namespace denselet::rpc {
namespace {

// The code of an answer that is the other side's word, or of a failure without any effect.
ErrorCode CodeOf(GrpcCode code) {
  switch (code) {
    case GrpcCode::kInvalidArgument:
    case GrpcCode::kOutOfRange:
      return ErrorCode::kInvalid;
    case GrpcCode::kNotFound:
      return ErrorCode::kNotFound;
    case GrpcCode::kAlreadyExists:
      return ErrorCode::kAlreadyExists;
    case GrpcCode::kPermissionDenied:
    case GrpcCode::kUnauthenticated:
      return ErrorCode::kPermission;
    case GrpcCode::kUnimplemented:
      return ErrorCode::kUnsupported;
    case GrpcCode::kFailedPrecondition:
    case GrpcCode::kAborted:
      return ErrorCode::kConflict;
    case GrpcCode::kDeadlineExceeded:
      return ErrorCode::kDeadlineExceeded;
    case GrpcCode::kResourceExhausted:
      return ErrorCode::kOverloaded;
    case GrpcCode::kUnavailable:
    case GrpcCode::kCancelled:  // by the other side, which goes
      return ErrorCode::kUnavailable;
    case GrpcCode::kDataLoss:
      return ErrorCode::kCorrupt;
    case GrpcCode::kOk:
    case GrpcCode::kUnknown:
    case GrpcCode::kInternal:
      return ErrorCode::kIo;
  }
  return ErrorCode::kIo;  // a number that gRPC does not have yet
}

// Does the answer leave open whether a change was made?
bool LeavesOpen(ErrorCode code) {
  switch (code) {
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kOverloaded:
    case ErrorCode::kUnavailable:
    case ErrorCode::kCancelled:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kBug:
      return true;
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kPermission:
    case ErrorCode::kUnsupported:
      return false;
  }
  return true;
}

// gRPC's own words for these two are not Go's.
std::string_view Description(const Failure& failure) {
  if (failure.code == GrpcCode::kDeadlineExceeded && failure.message == "Deadline Exceeded") {
    return "context deadline exceeded";
  }
  if (failure.code == GrpcCode::kCancelled && failure.cancelled) return "context canceled";
  return failure.message;
}

}  // namespace

std::string_view GrpcCodeName(GrpcCode code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const auto number = static_cast<size_t>(code);
  return number < kNames.size() ? kNames[number] : "Unknown";
}

Error ToError(const Failure& failure, Effect effect) {
  ErrorCode code = CodeOf(failure.code);
  if (failure.code == GrpcCode::kCancelled && failure.cancelled) code = ErrorCode::kCancelled;
  if (failure.sent && effect == Effect::kMutates && LeavesOpen(code)) {
    code = ErrorCode::kUnknownOutcome;
  }
  std::string message = "rpc error: code = ";
  message += GrpcCodeName(failure.code);
  message += " desc = ";
  message += Description(failure).substr(0, Failure::kMessageBytesMax);
  return Error(code, std::move(message));
}

}  // namespace denselet::rpc
