// The HTTP source on real loops, against a real server.
#include "managers/source/http_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "managers/source/url_dialer.h"
#include "tests/integration/loop_fixture.h"
#include "tests/managers/source/manifest_server.h"
#include "tests/managers/source/manifests.h"

namespace denselet::managers {
namespace {

using testing::ElementsAre;

class HttpSourceTest : public reactor::LoopTest {
 protected:
  HttpSourceTest()
      : server_(std::make_unique<ManifestServer>(loop())),
        dialer_(loop(), [this](const Context&, const std::string& host, uint16_t port,
                               reactor::Done<std::vector<net::Address>> done) {
          looked_up_ = host;
          loop().Post([port, done = std::move(done)]() mutable {
            done(std::vector{*net::Address::Ip("127.0.0.1", port)});
          });
        }) {}
  ~HttpSourceTest() override {
    source_.reset();
    server_.reset();
    // Cancelled operations call back, descriptors are closed.
    for (int i = 0; i < 5; ++i) loop_->RunTurn(clock_.Now());
  }

  void Start(const std::string& scheme = "http") {
    HttpSourceOptions options;
    options.url =
        scheme + "://manifests:" + std::to_string(server_->address().port()) + "/pods?node=n";
    options.headers = {{"Metadata-Flavor", "test"}};
    options.node_name = "n";
    options.check_period = Milliseconds(5);
    source_ = std::make_unique<HttpSource>(
        loop(),
        [this](const Context& context, const ManifestUrl& url,
               reactor::Done<std::unique_ptr<net::Stream>> done) {
          dialer_.Dial(context, url, std::move(done));
        },
        options, keeper_);
  }

  std::unique_ptr<ManifestServer> server_;
  std::string looked_up_;
  UrlDialer dialer_;
  PodKeeper keeper_;
  std::unique_ptr<HttpSource> source_;
};
INSTANTIATE_LOOP_TEST(HttpSourceTest);

TEST_P(HttpSourceTest, PodsComeAndChange) {
  server_->body = PodYaml("a", "app:1");
  Start();
  ASSERT_TRUE(RunUntil([&] { return keeper_.sets == 1; }));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n"));
  EXPECT_EQ(looked_up_, "manifests");
  EXPECT_EQ(server_->requests[0].target, "/pods?node=n");
  EXPECT_EQ(*server_->requests[0].headers.Find("Metadata-Flavor"), "test");
  server_->body = R"({"apiVersion":"v1","kind":"PodList","items":[)" + PodJson("b", "app:1") + "," +
                  PodJson("c", "app:1") + "]}";
  ASSERT_TRUE(RunUntil([&] { return keeper_.sets == 2; }));
  EXPECT_THAT(keeper_.Names(), ElementsAre("b-n", "c-n"));
  const uint64_t polls = source_->stats().polls;
  ASSERT_TRUE(RunUntil([&] { return source_->stats().polls > polls + 3; }));
  EXPECT_EQ(source_->stats().decodes, 2u);
}

TEST_P(HttpSourceTest, ATroubleComesAndGoes) {
  server_->status = 503;
  Start();
  ASSERT_TRUE(RunUntil([&] { return keeper_.troubles.size() == 1; }));
  EXPECT_EQ(keeper_.sets, 0);
  server_->status = 200;
  server_->body = PodYaml("a", "app:1");
  ASSERT_TRUE(RunUntil([&] { return keeper_.sets == 1; }));
  EXPECT_TRUE(keeper_.troubles.empty());
}

TEST_P(HttpSourceTest, AServerWithoutTlsIsNoServerOfHttps) {
  Start("https");
  ASSERT_TRUE(RunUntil([&] { return keeper_.troubles.size() == 1; }));
  EXPECT_EQ(keeper_.sets, 0);
  EXPECT_TRUE(server_->requests.empty());
}

}  // namespace
}  // namespace denselet::managers
