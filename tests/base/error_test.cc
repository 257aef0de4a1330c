#include "base/error.h"

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace denselet {
namespace {

TEST(ErrorCodeName, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(ErrorCode::kBug); ++i) {
    const std::string_view name = ErrorCodeName(static_cast<ErrorCode>(i));
    EXPECT_NE(name, "?") << "code " << int{i};
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(ErrorCodeName, ValueOutsideTheEnumIsAQuestionMark) {
  EXPECT_EQ(ErrorCodeName(static_cast<ErrorCode>(200)), "?");
}

TEST(Error, KeepsCodeAndMessage) {
  const Error error(ErrorCode::kConflict, "uid changed");
  EXPECT_EQ(error.code(), ErrorCode::kConflict);
  EXPECT_EQ(error.message(), "uid changed");
}

TEST(Error, WithPutsContextInFront) {
  const Error error(ErrorCode::kPermission, "permission denied");
  EXPECT_EQ(error.With("sync pod").message(), "sync pod: permission denied");
}

TEST(Error, WithQuotesTheSubject) {
  const Error error(ErrorCode::kPermission, "permission denied");
  EXPECT_EQ(error.With("mount volume", "data").message(),
            "mount volume \"data\": permission denied");
  EXPECT_EQ(error.With("mount volume", "").message(), "mount volume \"\": permission denied");
}

TEST(Error, ContextGrowsOutwards) {
  const Error error(ErrorCode::kPermission, "permission denied");
  EXPECT_EQ(error.With("mount volume", "data").With("sync pod").message(),
            "sync pod: mount volume \"data\": permission denied");
}

TEST(Error, WithKeepsTheCodeAndLeavesTheOriginalAlone) {
  const Error error(ErrorCode::kUnknownOutcome, "stream closed");
  EXPECT_EQ(error.With("stop container").code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(error.With("stop container", "web").code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(error.message(), "stream closed");
}

TEST(Error, RemembersWhetherItIsAnAnswer) {
  const Error error(ErrorCode::kUnavailable, "busy");
  EXPECT_FALSE(error.answered());
  EXPECT_FALSE(error.With("ask").answered());
  EXPECT_TRUE(error.AsAnswer().answered());
  EXPECT_TRUE(error.AsAnswer().With("ask", "it").answered());
  EXPECT_EQ(error.AsAnswer().message(), "busy");
}

TEST(Error, EqualWhenCodeAndMessageAre) {
  const Error error(ErrorCode::kIo, "read");
  EXPECT_EQ(error, Error(ErrorCode::kIo, "read"));
  EXPECT_NE(error, Error(ErrorCode::kCorrupt, "read"));
  EXPECT_NE(error, Error(ErrorCode::kIo, "write"));
}

TEST(Error, FromErrnoSaysWhatWasTriedAndWhy) {
  const Error error = Error::FromErrno(ENOENT, "open /etc/denselet");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(), "open /etc/denselet: No such file or directory");
}

TEST(Error, FromErrnoChoosesTheCodeThatFitsTheNumber) {
  struct Case {
    int error_number;
    ErrorCode code;
  };
  const std::vector<Case> cases = {
      {ENOENT, ErrorCode::kNotFound},
      {ENOTDIR, ErrorCode::kNotFound},
      {ESRCH, ErrorCode::kNotFound},
      {EEXIST, ErrorCode::kAlreadyExists},
      {ENOTEMPTY, ErrorCode::kAlreadyExists},
      {EACCES, ErrorCode::kPermission},
      {EPERM, ErrorCode::kPermission},
      {EROFS, ErrorCode::kPermission},
      {EINVAL, ErrorCode::kInvalid},
      {ENAMETOOLONG, ErrorCode::kInvalid},
      {ELOOP, ErrorCode::kInvalid},
      {EAGAIN, ErrorCode::kOverloaded},
      {EWOULDBLOCK, ErrorCode::kOverloaded},
      {ENOMEM, ErrorCode::kOverloaded},
      {ENOBUFS, ErrorCode::kOverloaded},
      {EISDIR, ErrorCode::kInvalid},
      {EMFILE, ErrorCode::kOverloaded},
      {ENFILE, ErrorCode::kOverloaded},
      {ENOSPC, ErrorCode::kOverloaded},
      {EDQUOT, ErrorCode::kOverloaded},
      {ECONNREFUSED, ErrorCode::kUnavailable},
      {ECONNRESET, ErrorCode::kUnavailable},
      {ECONNABORTED, ErrorCode::kUnavailable},
      {EPIPE, ErrorCode::kUnavailable},
      {EHOSTUNREACH, ErrorCode::kUnavailable},
      {ENETUNREACH, ErrorCode::kUnavailable},
      {ENETDOWN, ErrorCode::kUnavailable},
      {ECANCELED, ErrorCode::kCancelled},
      {ENOSYS, ErrorCode::kUnsupported},
      {EOPNOTSUPP, ErrorCode::kUnsupported},
      {ENOTSUP, ErrorCode::kUnsupported},
      {EIO, ErrorCode::kIo},
  };
  for (const Case& c : cases) {
    const Error error = Error::FromErrno(c.error_number, "call");
    EXPECT_EQ(error.code(), c.code) << error.message();
  }
}

TEST(Error, FromErrnoOfANumberNobodyKnowsIsIo) {
  const Error error = Error::FromErrno(99999, "call");
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_EQ(error.message(), "call: Unknown error 99999");
}

}  // namespace
}  // namespace denselet
