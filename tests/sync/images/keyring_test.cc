#include "sync/images/keyring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kube/api/types.h"
#include "sync/images/image_name.h"
#include "sync/images/url_glob.h"
#include "tests/golden.h"

namespace denselet::sync {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ObjectBytes Secret(const std::string& kind, const std::string& text) {
  kube::core::Secret secret;
  secret.mutable_metadata()->set_name("s");
  secret.set_type(kind == "json" ? "kubernetes.io/dockerconfigjson" : "kubernetes.io/dockercfg");
  (*secret.mutable_data())[kind == "json" ? ".dockerconfigjson" : ".dockercfg"] = text;
  return std::make_shared<const std::string>(secret.SerializeAsString());
}

std::string Found(const std::vector<ObjectBytes>& secrets, const std::string& image) {
  const Result<std::string> repository = RepositoryOf(image);
  if (!repository) return "name";
  const Result<Keyring> keyring = Keyring::Read(secrets);
  if (!keyring) return "error";
  std::string users;
  for (const ImageCredentials& user : keyring->Lookup(*repository)) {
    users += (users.empty() ? "" : " ") + user.username + ":" + user.password;
  }
  return users;
}

// third_party/peers/keyring prints it.
TEST(Keyring, FindsWhatUpstreamFinds) {
  size_t rows = 0, with = 0;
  for (const std::vector<std::string>& row :
       tests::ReadGolden("tests/sync/images/golden/keyring.txt")) {
    const size_t count = std::stoul(row[0]);
    ASSERT_EQ(row.size(), 3 + 2 * count);
    std::vector<ObjectBytes> secrets;
    std::string told;
    for (size_t i = 0; i < count; ++i) {
      secrets.push_back(Secret(row[1 + 2 * i], row[2 + 2 * i]));
      told += row[2 + 2 * i] + " ";
    }
    const std::string& image = row[1 + 2 * count];
    const std::string& expected = row[2 + 2 * count];
    EXPECT_EQ(Found(secrets, image), expected) << told << "for " << image;
    ++rows;
    if (expected.find(':') != std::string::npos) ++with;
  }
  EXPECT_GT(rows, 1000u);
  EXPECT_GT(with, 100u);
}

TEST(Keyring, ASecretOfAnotherTypeHasNone) {
  kube::core::Secret secret;
  secret.set_type("Opaque");
  (*secret.mutable_data())[".dockerconfigjson"] = R"({"auths":{"a.b":{"auth":"dTpw"}}})";
  EXPECT_EQ(Found({std::make_shared<const std::string>(secret.SerializeAsString())}, "a.b/c"), "");
  EXPECT_EQ(Found({}, "a.b/c"), "");
}

TEST(Keyring, AFaultNamesTheSecretAndNothingOfWhatIsInIt) {
  const Result<Keyring> read =
      Keyring::Read({Secret("json", R"({"auths":{"a.b":{"auth":"cGFzcw=="}}})")});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(),
            "image pull secret s: unable to parse auth field, must be formatted as "
            "base64(username:password)");
  EXPECT_THAT(Keyring::Read({Secret("json", R"({"auths": pass)")}).error().message(),
              Not(HasSubstr("pass\"")));
}

TEST(Keyring, OfOnePlaceTheOrderOfTheSecretsCounts) {
  const ObjectBytes one = Secret("json", R"({"auths":{"a.b":{"auth":"dTE6cA=="}}})");
  const ObjectBytes two = Secret("json", R"({"auths":{"https://a.b/v1/":{"auth":"dTI6cA=="}}})");
  EXPECT_EQ(Found({one, two}, "a.b/c"), "u1:p u2:p");
  EXPECT_EQ(Found({two, one}, "a.b/c"), "u2:p u1:p");
}

TEST(MatchesPattern, AStarIsAnyText) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("", ""));
  EXPECT_TRUE(MatchesPattern("a*b*c", "axxbyyc"));
  EXPECT_TRUE(MatchesPattern("a*b", "ab"));
  EXPECT_TRUE(MatchesPattern("*ab", "aab"));
  EXPECT_FALSE(MatchesPattern("a*b*c", "axxbyy"));
  EXPECT_FALSE(MatchesPattern("a", "ab"));
  EXPECT_FALSE(MatchesPattern("ab", "a"));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

TEST(RepositoryOf, IsCompletedAsDockerDoesIt) {
  EXPECT_EQ(*RepositoryOf("busybox:1"), "docker.io/library/busybox");
  EXPECT_EQ(*RepositoryOf("user/app"), "docker.io/user/app");
  EXPECT_EQ(*RepositoryOf("index.docker.io/app"), "docker.io/library/app");
  EXPECT_EQ(*RepositoryOf("localhost:5000/a/b:v1@sha256:" + std::string(64, 'a')),
            "localhost:5000/a/b");
  EXPECT_FALSE(RepositoryOf("UPPER"));
}

}  // namespace
}  // namespace denselet::sync
