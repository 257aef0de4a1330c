// The HTTP/2 client over TLS against a real kube-apiserver; run by control_plane.sh.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/apiserver_fixture.h"

namespace denselet::net {
namespace {

class Http2ApiServerTest : public ApiServerTest {
 protected:
  // The error of connecting with the present TLS settings.
  Error Refusal() {
    std::optional<Result<std::unique_ptr<Stream>>> result;
    Dial(Context{}.WithTimeout(loop().Now(), Seconds(10)),
         [&](Result<std::unique_ptr<Stream>> r) { result.emplace(std::move(r)); });
    EXPECT_TRUE(RunUntil([&] { return result.has_value(); }));
    EXPECT_FALSE(*result);
    return result->error();
  }
};
INSTANTIATE_LOOP_TEST(Http2ApiServerTest);

std::string ConfigMap(const std::string& name, const std::string& value) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"("},"data":{"key":")" + value + R"("}})";
}

TEST_P(Http2ApiServerTest, AClientCertificateIsAccepted) {
  Call version, secret;
  EXPECT_EQ(Ask(version, "GET", "/version"), 200);
  EXPECT_NE(version.body.find("\"gitVersion\": \"v1."), std::string::npos) << version.body;
  EXPECT_EQ(Ask(secret, "GET", "/api/v1/namespaces/kube-system/secrets"), 200);
}

TEST_P(Http2ApiServerTest, WithoutOneThereIsNoAccess) {
  UseTls({.authorities = PkiFile("ca.crt"), .protocols = {"h2"}});
  Call secret;
  EXPECT_EQ(Ask(secret, "GET", "/api/v1/namespaces/kube-system/secrets"), 403);
}

TEST_P(Http2ApiServerTest, AnotherAuthoritysServerIsRefusedWithTheCause) {
  UseTls({.authorities = PkiFile("other-ca.crt"), .protocols = {"h2"}});
  const Error error = Refusal();
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_NE(error.message().find("unknown authority"), std::string::npos) << error.message();
}

TEST_P(Http2ApiServerTest, AnotherNamesServerIsRefusedWithTheCause) {
  server_name_ = "elsewhere.example";
  const Error error = Refusal();
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_NE(error.message().find("kubernetes.default.svc"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("elsewhere.example"), std::string::npos) << error.message();
}

TEST_P(Http2ApiServerTest, AWatchTellsOfWhatIsCreatedMeanwhile) {
  const std::string name = "watched-" + std::to_string(static_cast<int>(GetParam()));
  const std::string all = "/api/v1/namespaces/default/configmaps";
  Call watch, created, deleted;
  Start(watch, "GET", all + "?watch=true&fieldSelector=metadata.name%3D" + name);
  ASSERT_TRUE(RunUntil([&] { return watch.head.has_value(); }));
  EXPECT_EQ(watch.head->status, 200);
  // Large enough to need several frames and windows both ways.
  const std::string value(700'000, 'v');
  EXPECT_EQ(Ask(created, "POST", all, ConfigMap(name, value)), 201);
  ASSERT_TRUE(RunUntil([&] { return watch.body.find(value) != std::string::npos; }));
  EXPECT_NE(watch.body.find("\"ADDED\""), std::string::npos);
  EXPECT_EQ(Ask(deleted, "DELETE", all + "/" + name), 200);
  ASSERT_TRUE(RunUntil([&] { return watch.body.find("\"DELETED\"") != std::string::npos; }));
  EXPECT_FALSE(watch.over());
  watch.exchange.reset();
  Call after;
  EXPECT_EQ(Ask(after, "GET", "/healthz"), 200);
  EXPECT_EQ(client_->counters().connections, 1u);
}

TEST_P(Http2ApiServerTest, MoreWatchesThanOneConnectionCarriesAreSpread) {
  constexpr size_t kWatches = 250;
  std::vector<std::unique_ptr<Call>> watches;
  for (size_t i = 0; i < kWatches; ++i) {
    watches.push_back(std::make_unique<Call>());
    Start(*watches.back(), "GET",
          "/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dw" +
              std::to_string(i));
  }
  ASSERT_TRUE(RunUntil([&] {
    return std::all_of(watches.begin(), watches.end(),
                       [](const auto& watch) { return watch->head || watch->over(); });
  }));
  for (const auto& watch : watches) {
    ASSERT_FALSE(watch->over());
    EXPECT_EQ(watch->head->status, 200);
  }
  EXPECT_EQ(client_->counters().streams, kWatches);
  EXPECT_GE(client_->counters().connections, 3u);
  // A hundred and more are in use everywhere, and still a request does not wait.
  Call quick;
  EXPECT_EQ(Ask(quick, "GET", "/version"), 200);
}

}  // namespace
}  // namespace denselet::net
