#include "managers/source/manifest_url.h"

#include <gtest/gtest.h>

namespace denselet::managers {
namespace {

TEST(ManifestUrl, IsTakenApart) {
  struct Row {
    const char* url;
    ManifestUrl parts;
    const char* authority;
  };
  const Row rows[] = {
      {"http://a", {false, "a", 80, "/", ""}, "a"},
      {"HTTPS://a.b:8443/p/q?x=1#frag", {true, "a.b", 8443, "/p/q?x=1", ""}, "a.b:8443"},
      {"http://[::1]:80/x", {false, "::1", 80, "/x", ""}, "[::1]"},
      {"http://a?q", {false, "a", 80, "/?q", ""}, "a"},
      {"http://me:p%40ss@a:81/", {false, "a", 81, "/", "me:p@ss"}, "a:81"},
  };
  for (const Row& row : rows) {
    const auto url = ParseManifestUrl(row.url);
    ASSERT_TRUE(url) << row.url << ": " << url.error().message();
    EXPECT_EQ(*url, row.parts) << row.url;
    EXPECT_EQ(url->Authority(), row.authority);
  }
}

TEST(ManifestUrl, WhatIsNoneIsRefused) {
  for (const char* url :
       {"", "a", "ftp://a/", "http://", "http:///x", "http://a:0/", "http://a:x/",
        "http://a:70000/", "http://[::1/", "http://a b/", "http://a/\r\nx", "http://u%zz@a/"}) {
    const auto parsed = ParseManifestUrl(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalid);
  }
}

TEST(ManifestUrl, ErrorsDoNotShowThePassword) {
  const auto parsed = ParseManifestUrl("http://me:secret@a:x/");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message().find("secret"), std::string::npos);
}

TEST(ManifestUrl, RedirectsAreSeenFromWhereTheyCome) {
  const ManifestUrl base = *ParseManifestUrl("https://a:444/p/q?x");
  struct Row {
    const char* location;
    const char* url;
  };
  const Row rows[] = {
      {"http://b/c", "http://b/c"},
      {"//b/c", "https://b/c"},
      {"/c", "https://a:444/c"},
      {"c", "https://a:444/p/c"},
      {"?y", "https://a:444/p/q?y"},
      {"c#frag", "https://a:444/p/c"},
      {"/c?u=http://b/", "https://a:444/c?u=http://b/"},
  };
  for (const Row& row : rows) {
    const auto next = FollowLocation(base, row.location);
    ASSERT_TRUE(next) << row.location;
    EXPECT_EQ(*next, *ParseManifestUrl(row.url)) << row.location;
  }
  EXPECT_FALSE(FollowLocation(base, "ftp://a/"));
}

}  // namespace
}  // namespace denselet::managers
