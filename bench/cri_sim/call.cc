#include "bench/cri_sim/call.h"

#include <array>

namespace denselet::cri_sim {
namespace {

constexpr std::array<std::string_view, 17> kCodes = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

int CodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 3;
    case ErrorCode::kDeadlineExceeded:
      return 4;
    case ErrorCode::kNotFound:
      return 5;
    case ErrorCode::kPermission:
      return 7;
    case ErrorCode::kOverloaded:
      return 8;
    case ErrorCode::kUnsupported:
      return 12;
    case ErrorCode::kUnavailable:
      return 14;
    case ErrorCode::kCancelled:
      return 1;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kBug:
      return 2;
  }
  return 2;
}

}  // namespace

RpcStatus ToRpcStatus(const Error& error) { return {CodeOf(error.code()), error.message()}; }

int RpcCodeByName(std::string_view name) {
  for (size_t i = 0; i < kCodes.size(); ++i) {
    if (kCodes[i] == name) return static_cast<int>(i);
  }
  return -1;
}

RpcStatus TooLong(size_t bytes, size_t bytes_max) {
  return {8, "grpc: trying to send message larger than max (" + std::to_string(bytes) + " vs. " +
                 std::to_string(bytes_max) + ")"};
}

}  // namespace denselet::cri_sim
