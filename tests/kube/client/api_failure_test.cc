#include "kube/client/api_failure.h"

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

using sync::ApiVerb;

TEST(ApiFailure, AStatusIsReadFromProtobufAndFromJson) {
  meta::Status status;
  status.set_message("pods \"a\" already exists");
  status.set_reason("AlreadyExists");
  status.set_code(409);
  const std::string bodies[] = {EncodeEnvelope({"v1", "Status"}, EncodeWire(status)),
                                EncodeJson(status, {"v1", "Status"})};
  for (const std::string& body : bodies) {
    const ApiFailure failure = ReadApiFailure(409, {}, body);
    EXPECT_EQ(failure.reason, "AlreadyExists");
    const Error error = ToError(failure, ApiVerb::kCreate);
    EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
    EXPECT_EQ(error.message(), "the API server said 409: pods \"a\" already exists");
  }
}

TEST(ApiFailure, ATimeoutOfTheServerIsAStatusWithoutAKind) {
  const ApiFailure failure = ReadApiFailure(
      504, {},
      R"({"metadata":{},"status":"Failure","message":"Timeout: request did not complete within )"
      R"(the allotted timeout","reason":"Timeout","details":{},"code":504})");
  EXPECT_EQ(failure.message, "Timeout: request did not complete within the allotted timeout");
  EXPECT_EQ(failure.reason, "Timeout");
  const std::string other = R"({"status":"Success","message":"m"})";
  EXPECT_EQ(ReadApiFailure(504, {}, other).message, other);
  const std::string another = R"({"kind":"Pod","status":"Failure","message":"m"})";
  EXPECT_EQ(ReadApiFailure(504, {}, another).message, another);
}

TEST(ApiFailure, IsAnAnswer) {
  EXPECT_TRUE(ToError(ReadApiFailure(500, {}, ""), ApiVerb::kCreate).answered());
}

// It is no lack of a right: the namespace is in the wrong state.
TEST(ApiFailure, ANamespaceThatIsBeingDeletedIsAConflict) {
  const ApiFailure failure = ReadApiFailure(
      403, {},
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"events )"
      R"(\"a\" is forbidden","reason":"Forbidden","details":{"name":"a","kind":"events","causes":[)"
      R"({"reason":"NamespaceTerminating","message":"m","field":"metadata.namespace"}]},"code":403})");
  EXPECT_TRUE(failure.namespace_terminating);
  EXPECT_EQ(ToError(failure, ApiVerb::kCreate).code(), ErrorCode::kConflict);
}

TEST(ApiFailure, WhatAProxySaysIsCutAndPrintable) {
  const ApiFailure failure = ReadApiFailure(502, {}, "<html>\n" + std::string(5000, 'x'));
  EXPECT_EQ(failure.message.size(), 256u);
  EXPECT_EQ(failure.message.substr(0, 8), "<html> x");
  EXPECT_EQ(ReadApiFailure(502, {}, "").message, "Bad Gateway");
}

TEST(ApiFailure, TheServerSaysWhenToComeAgain) {
  EXPECT_EQ(ReadApiFailure(429, {{"retry-after", "7"}}, "").retry_after, Seconds(7));
  EXPECT_EQ(ReadApiFailure(503, {{"retry-after", "soon"}}, "").retry_after, std::nullopt);
  EXPECT_EQ(ReadApiFailure(503, {{"retry-after", "999999999"}}, "").retry_after, Seconds(3600));
  EXPECT_TRUE(ReadApiFailure(503, {{"retry-after", "1"}}, "").IsWorthRetrying());
  EXPECT_FALSE(ReadApiFailure(503, {}, "").IsWorthRetrying());
  EXPECT_TRUE(ReadApiFailure(429, {}, "").IsWorthRetrying());
}

TEST(ApiFailure, CodesSayHowTheCallerReacts) {
  const auto code = [](int status, std::string reason = "", ApiVerb verb = ApiVerb::kPatch) {
    return ToError({.http_status = status,
                    .reason = std::move(reason),
                    .message = {},
                    .retry_after = {}},
                   verb)
        .code();
  };
  EXPECT_EQ(code(401), ErrorCode::kPermission);
  EXPECT_EQ(code(403), ErrorCode::kPermission);
  EXPECT_EQ(code(404), ErrorCode::kNotFound);
  EXPECT_EQ(code(409, "Conflict"), ErrorCode::kConflict);
  EXPECT_EQ(code(410), ErrorCode::kConflict);
  EXPECT_EQ(code(422), ErrorCode::kInvalid);
  EXPECT_EQ(code(429), ErrorCode::kOverloaded);
  EXPECT_EQ(code(503), ErrorCode::kUnavailable);
  EXPECT_EQ(code(500), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(code(500, "", ApiVerb::kGet), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace denselet::kube
