// What file calls make of directories that belong to others.
#include "reactor/file_calls.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace denselet::reactor {
namespace {

constexpr uid_t kNobody = 65534;

// As somebody else, on this thread alone.
class As {
 public:
  explicit As(uid_t uid) : before_(static_cast<uid_t>(::setfsuid(uid))) {}
  ~As() { ::setfsuid(before_); }
  As(const As&) = delete;
  As& operator=(const As&) = delete;

 private:
  const uid_t before_;
};

TEST(FileCalls, DirectoriesAreMadeAndSyncedBelowOnesThatMayOnlyBePassed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another";
  std::string top = "/tmp/file_calls_test.XXXXXX";
  ASSERT_NE(::mkdtemp(top.data()), nullptr);
  ASSERT_EQ(::chmod(top.c_str(), 0711), 0);
  const std::string own = top + "/own";
  ASSERT_EQ(::mkdir(own.c_str(), 0700), 0);
  ASSERT_EQ(::chown(own.c_str(), kNobody, kNobody), 0);
  {
    const As nobody(kNobody);
    EXPECT_TRUE(file_calls::MakeDirectories(own + "/a/b", 0755, Durability::kSynced));
    EXPECT_TRUE(file_calls::MakeDirectories(own + "/a/b/", 0755, Durability::kSynced));
    EXPECT_EQ(file_calls::MakeDirectories(top + "/other", 0755, Durability::kSynced).error().code(),
              ErrorCode::kPermission);
  }
  for (const std::string& made : {own + "/a/b", own + "/a", own, top}) {
    EXPECT_EQ(::rmdir(made.c_str()), 0) << made;
  }
}

}  // namespace
}  // namespace denselet::reactor
