#include "rpc/failure.h"

#include <gtest/gtest.h>

#include <string>

namespace denselet::rpc {
namespace {

struct Row {
  GrpcCode code;
  bool sent;
  bool cancelled;
  ErrorCode of_read;
  ErrorCode of_mutating;
};

using enum ErrorCode;

const Row kRows[] = {
    // The other side's word.
    {GrpcCode::kNotFound, true, false, kNotFound, kNotFound},
    {GrpcCode::kAlreadyExists, true, false, kAlreadyExists, kAlreadyExists},
    {GrpcCode::kInvalidArgument, true, false, kInvalid, kInvalid},
    {GrpcCode::kOutOfRange, true, false, kInvalid, kInvalid},
    {GrpcCode::kPermissionDenied, true, false, kPermission, kPermission},
    {GrpcCode::kUnauthenticated, true, false, kPermission, kPermission},
    {GrpcCode::kUnimplemented, true, false, kUnsupported, kUnsupported},
    {GrpcCode::kFailedPrecondition, true, false, kConflict, kConflict},
    {GrpcCode::kAborted, true, false, kConflict, kConflict},
    // No clear answer.
    {GrpcCode::kUnknown, true, false, kIo, kUnknownOutcome},
    {GrpcCode::kInternal, true, false, kIo, kUnknownOutcome},
    {GrpcCode::kDataLoss, true, false, kCorrupt, kUnknownOutcome},
    {GrpcCode::kUnavailable, true, false, kUnavailable, kUnknownOutcome},
    {GrpcCode::kResourceExhausted, true, false, kOverloaded, kUnknownOutcome},
    {GrpcCode::kDeadlineExceeded, true, false, kDeadlineExceeded, kUnknownOutcome},
    {GrpcCode::kCancelled, true, false, kUnavailable, kUnknownOutcome},
    {GrpcCode::kCancelled, true, true, kCancelled, kUnknownOutcome},
    // Cancelled by us, but the answer was quicker.
    {GrpcCode::kNotFound, true, true, kNotFound, kNotFound},
    {GrpcCode::kUnavailable, true, true, kUnavailable, kUnknownOutcome},
    // Never sent: no effect, whatever it was.
    {GrpcCode::kUnavailable, false, false, kUnavailable, kUnavailable},
    {GrpcCode::kDeadlineExceeded, false, false, kDeadlineExceeded, kDeadlineExceeded},
    {GrpcCode::kCancelled, false, true, kCancelled, kCancelled},
    {GrpcCode::kResourceExhausted, false, false, kOverloaded, kOverloaded},
    {GrpcCode::kInternal, false, false, kIo, kIo},
    // A number from the future.
    {static_cast<GrpcCode>(77), true, false, kIo, kUnknownOutcome},
};

TEST(Failure, MeansWhatItIsKnownToHaveDone) {
  for (const Row& row : kRows) {
    const Failure failure{
        .code = row.code, .message = "m", .sent = row.sent, .cancelled = row.cancelled};
    SCOPED_TRACE(std::string(GrpcCodeName(row.code)) + (row.sent ? " sent" : " unsent") +
                 (row.cancelled ? " cancelled" : ""));
    EXPECT_EQ(ErrorCodeName(ToError(failure, Effect::kRead).code()), ErrorCodeName(row.of_read));
    EXPECT_EQ(ErrorCodeName(ToError(failure, Effect::kMutates).code()),
              ErrorCodeName(row.of_mutating));
  }
}

TEST(Failure, ReadsAsGoWritesIt) {
  EXPECT_EQ(ToError({.code = GrpcCode::kNotFound, .message = "no \"x\""}, Effect::kRead).message(),
            "rpc error: code = NotFound desc = no \"x\"");
  EXPECT_EQ(
      ToError({.code = GrpcCode::kDeadlineExceeded, .message = "Deadline Exceeded"}, Effect::kRead)
          .message(),
      "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
  EXPECT_EQ(ToError({.code = GrpcCode::kCancelled, .message = "CANCELLED", .cancelled = true},
                    Effect::kRead)
                .message(),
            "rpc error: code = Canceled desc = context canceled");
  EXPECT_EQ(ToError({.code = static_cast<GrpcCode>(77), .message = ""}, Effect::kRead).message(),
            "rpc error: code = Unknown desc = ");
}

TEST(Failure, LongStoriesAreCut) {
  const std::string story(Failure::kMessageBytesMax + 1, 'x');
  const Error error = ToError({.code = GrpcCode::kInternal, .message = story}, Effect::kRead);
  EXPECT_EQ(error.message().size(),
            std::string("rpc error: code = Internal desc = ").size() + Failure::kMessageBytesMax);
}

}  // namespace
}  // namespace denselet::rpc
