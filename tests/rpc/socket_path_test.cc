#include <gtest/gtest.h>

#include <string>

#include "rpc/client.h"
#include "rpc/endpoint.h"

namespace denselet::rpc {
namespace {

TEST(SocketPath, HasThreeForms) {
  EXPECT_EQ(*SocketPath("unix:///run/x.sock"), "/run/x.sock");
  EXPECT_EQ(*SocketPath("unix:/run/x.sock"), "/run/x.sock");
  EXPECT_EQ(*SocketPath("/run/x.sock"), "/run/x.sock");
}

TEST(SocketPath, RefusesOthers) {
  for (const std::string& address :
       {std::string(), std::string("unix://"), std::string("run/x.sock"),
        std::string("unix://run/x.sock"), std::string("tcp://127.0.0.1:1"), std::string("/a\0b", 4),
        "/" + std::string(107, 'x')}) {
    const auto path = SocketPath(address);
    ASSERT_FALSE(path) << address;
    EXPECT_EQ(path.error().code(), ErrorCode::kInvalid);
  }
  EXPECT_TRUE(SocketPath("/" + std::string(106, 'x')));
}

TEST(ShareOf, SumsUpToTheWhole) {
  for (const uint32_t shards : {1u, 2u, 3u, 4u, 7u}) {
    for (uint32_t limit_max = shards; limit_max < 40; ++limit_max) {
      const LimiterOptions all{
          .limit_min = shards, .limit_max = limit_max, .limit_start = limit_max};
      uint32_t sum = 0;
      for (uint32_t i = 0; i < shards; ++i) {
        const LimiterOptions share = ShareOf(all, i, shards);
        sum += share.limit_max;
        EXPECT_EQ(share.limit_min, 1u);
        EXPECT_LE(share.limit_start, share.limit_max);
      }
      EXPECT_EQ(sum, limit_max);
    }
  }
}

TEST(ShareOf, IsOneAtLeast) {
  const LimiterOptions share = ShareOf({.limit_min = 1, .limit_max = 2, .limit_start = 1}, 3, 4);
  EXPECT_EQ(share.limit_min, 1u);
  EXPECT_EQ(share.limit_max, 1u);
  EXPECT_EQ(share.limit_start, 1u);
}

}  // namespace
}  // namespace denselet::rpc
