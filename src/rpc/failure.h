// What a call that failed means, in the project's codes. Pure: the status as gRPC gave it, and what
// is known about the way the request went.
//
//   the other side's word              kNotFound, kAlreadyExists, kInvalid, kPermission,
//   kUnsupported,
//                                      kConflict (FailedPrecondition, Aborted)
//   it surely had no effect            kUnavailable, kOverloaded, kDeadlineExceeded, kCancelled
//   a mutating call that was sent and  kUnknownOutcome
//   has no clear answer
//
// A read has no effect to be unknown: of one that was sent, a timeout is kDeadlineExceeded, a lost
// connection kUnavailable, a cancel kCancelled, and a failure without a better name kIo.
//
// The text is the one Go's client makes ("rpc error: code = NotFound desc = ..."): people search
// for it, and events show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace denselet::rpc {

// gRPC's numbers, without its headers.
enum class GrpcCode : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// As Go names it: "NotFound".
std::string_view GrpcCodeName(GrpcCode code);

enum class Effect : uint8_t { kRead, kMutates };

struct Failure {
  static constexpr size_t kMessageBytesMax = 16 << 10;

  GrpcCode code = GrpcCode::kUnknown;
  std::string message = {};  // the other side's, or gRPC's; cut at kMessageBytesMax
  bool sent = true;          // false: surely nothing left this process
  bool cancelled = false;    // we took it back
};

Error ToError(const Failure& failure, Effect effect);

}  // namespace denselet::rpc
