#include "reactor/net/resolve.h"

#include <optional>

#include "tests/integration/loop_fixture.h"

namespace denselet::net {
namespace {

class ResolveTest : public reactor::ShardTest {
 protected:
  ~ResolveTest() override { pool_.Stop(); }

  Result<std::vector<Address>> Ask(const std::string& host, const Context& context = {}) {
    std::optional<Result<std::vector<Address>>> result;
    Resolve(shard_, pool_, context, host, 6443,
            [&](Result<std::vector<Address>> r) { result.emplace(std::move(r)); });
    EXPECT_FALSE(result.has_value()) << "called back inside the call";
    if (!RunUntil([&] { return result.has_value(); })) std::abort();
    return std::move(*result);
  }

  reactor::BlockingPool pool_{clock_};
};
INSTANTIATE_LOOP_TEST(ResolveTest);

TEST_P(ResolveTest, ANameHasItsAddresses) {
  const auto addresses = Ask("localhost");
  ASSERT_TRUE(addresses) << addresses.error().message();
  bool loopback = false;
  for (const Address& address : *addresses) {
    EXPECT_EQ(address.port(), 6443);
    const std::string text = address.ToString();
    loopback |= text == "127.0.0.1:6443" || text == "[::1]:6443";
  }
  EXPECT_TRUE(loopback);
}

TEST_P(ResolveTest, AnIpAddressIsItsOwnAnswerWithoutACall) {
  EXPECT_EQ((*Ask("192.0.2.1"))[0].ToString(), "192.0.2.1:6443");
  EXPECT_EQ((*Ask("2001:db8::1"))[0].ToString(), "[2001:db8::1]:6443");
  EXPECT_EQ(pool_.Snapshot().finished_total, 0u);
}

TEST_P(ResolveTest, WhatIsNoNameIsRefused) {
  EXPECT_EQ(Ask("").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Ask(std::string("local\0host", 10)).error().code(), ErrorCode::kInvalid);
  // No name server is asked for a label that no name can have.
  const auto too_long = Ask(std::string(300, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().message().find("resolve \"xxx"), 0u);
}

TEST_P(ResolveTest, WhoDoesNotWaitIsAnswered) {
  CancelSource source;
  source.Cancel();
  Context context;
  context.cancel = source.token();
  EXPECT_EQ(Ask("localhost", context).error().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace denselet::net
