#include "managers/source/http_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/managers/source/manifest_server.h"
#include "tests/managers/source/manifests.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HttpSourceSim : public testing::Test {
 protected:
  void Build(uint64_t seed = 1) {
    source_.reset();
    server_.reset();
    world_ = std::make_unique<sim::World>(sim::WorldOptions{.seed = seed});
    server_ = std::make_unique<ManifestServer>(world_->loop(0));
    keeper_ = PodKeeper();
  }
  HttpSourceSim() { Build(); }
  ~HttpSourceSim() override {
    source_.reset();
    server_.reset();
  }

  void Start(HttpSourceOptions options = {}) {
    if (options.url.empty()) options.url = "http://manifests/pods";
    options.node_name = "n";
    source_ = std::make_unique<HttpSource>(
        world_->loop(1),
        [this](const Context& context, const ManifestUrl& url,
               reactor::Done<std::unique_ptr<net::Stream>> done) {
          hosts_.push_back(url.host);
          net::Connect(world_->loop(1), context, server_->address(),
                       [done = std::move(done)](Result<std::unique_ptr<net::Socket>> s) mutable {
                         if (!s) return done(s.error());
                         done(std::unique_ptr<net::Stream>(*std::move(s)));
                       });
        },
        std::move(options), keeper_);
  }
  void Run(Duration time) { world_->RunUntil(world_->clock().Now() + time); }

  PodKeeper keeper_;
  std::vector<std::string> hosts_;
  std::unique_ptr<sim::World> world_;
  std::unique_ptr<ManifestServer> server_;
  std::unique_ptr<HttpSource> source_;
};

TEST_F(HttpSourceSim, APodIsFetchedAgainAndAgainAndDecodedOnce) {
  server_->body = PodJson("a", "app:1");
  Start({.headers = {{"X-Node", "1"}, {"Host", "evil"}}});
  Run(Seconds(1));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n"));
  Run(Seconds(100));
  EXPECT_GE(source_->stats().polls, 5u);
  EXPECT_LE(source_->stats().polls, 6u);
  EXPECT_EQ(source_->stats().decodes, 1u);
  EXPECT_EQ(keeper_.sets, 1);
  const net::HttpRequest& request = server_->requests.at(0);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/pods");
  EXPECT_EQ(request.authority, "manifests");
  ASSERT_NE(request.headers.Find("X-Node"), nullptr);
  EXPECT_EQ(*request.headers.Find("X-Node"), "1");
}

TEST_F(HttpSourceSim, AChangedBodyIsANewSet) {
  server_->body = PodYaml("a", "app:1");
  Start();
  Run(Seconds(1));
  server_->body = R"({"apiVersion":"v1","kind":"PodList","items":[)" + PodJson("a", "app:2") + "," +
                  PodJson("b", "app:1") + "]}";
  Run(Seconds(21));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n", "b-n"));
  EXPECT_EQ(keeper_.sets, 2);
}

TEST_F(HttpSourceSim, ABadAnswerLeavesThePods) {
  server_->body = PodYaml("a", "app:1");
  Start();
  Run(Seconds(1));
  struct Row {
    int status;
    std::string body, says;
  };
  const Row rows[] = {
      {500, PodYaml("b", "app:1"), "500"},
      {404, "", "404"},
      {200, "{\"kind\":", "line 1"},
      {200, "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n", "spec.containers"},
      {200, PodYaml("b", "app:1") + "#" + std::string(kManifestBytesMax, 'x'), ""},
  };
  for (const Row& row : rows) {
    server_->status = row.status;
    server_->body = row.body;
    // The long one takes a while over a simulated network.
    Run(Seconds(60));
    EXPECT_THAT(keeper_.Names(), ElementsAre("a-n")) << row.says;
    ASSERT_EQ(keeper_.troubles.count("http://manifests/pods"), 1u) << row.says;
    EXPECT_THAT(keeper_.troubles.at("http://manifests/pods"), HasSubstr(row.says));
  }
  server_->status = 200;
  server_->body = PodYaml("c", "app:1");
  Run(Seconds(60));
  EXPECT_THAT(keeper_.Names(), ElementsAre("c-n"));
  EXPECT_THAT(keeper_.troubles, IsEmpty());
}

TEST_F(HttpSourceSim, AnEmptyAnswerMeansNoPods) {
  server_->body = PodYaml("a", "app:1");
  Start();
  Run(Seconds(1));
  server_->body = "";
  Run(Seconds(21));
  EXPECT_THAT(keeper_.Names(), IsEmpty());
  EXPECT_EQ(keeper_.troubles.size(), 1u);
  server_->body = PodYaml("a", "app:1");
  Run(Seconds(21));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n")) << "the same pod as before the gap";
}

TEST_F(HttpSourceSim, AServerThatDoesNotAnswerIsAskedAgain) {
  server_->silent = true;
  Start();
  Run(Seconds(9));
  EXPECT_EQ(keeper_.sets, 0);
  EXPECT_THAT(keeper_.troubles, IsEmpty());
  Run(Seconds(3));
  EXPECT_EQ(keeper_.troubles.size(), 1u);
  server_->silent = false;
  server_->body = PodYaml("a", "app:1");
  Run(Seconds(21));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n"));
}

TEST_F(HttpSourceSim, RedirectsAreFollowedButNotWithSecrets) {
  server_->redirects = {{"/pods", "/moved"}, {"/moved", "http://elsewhere/there?x=1"}};
  server_->body = PodYaml("a", "app:1");
  Start({.url = "http://me:pw@manifests/pods", .headers = {{"Cookie", "c"}, {"X-Node", "1"}}});
  Run(Seconds(1));
  EXPECT_THAT(keeper_.Names(), ElementsAre("a-n"));
  EXPECT_THAT(hosts_, ElementsAre("manifests", "manifests", "elsewhere"));
  ASSERT_EQ(server_->requests.size(), 3u);
  EXPECT_EQ(*server_->requests[1].headers.Find("Authorization"), "Basic bWU6cHc=");
  EXPECT_EQ(*server_->requests[1].headers.Find("Cookie"), "c");
  EXPECT_EQ(server_->requests[2].target, "/there?x=1");
  EXPECT_EQ(server_->requests[2].headers.Find("Authorization"), nullptr);
  EXPECT_EQ(server_->requests[2].headers.Find("Cookie"), nullptr);
  EXPECT_EQ(*server_->requests[2].headers.Find("X-Node"), "1");
}

TEST_F(HttpSourceSim, ARedirectInACircleEnds) {
  server_->redirects = {{"/pods", "/pods"}};
  Start({.url = "http://me:pw@manifests/pods"});
  Run(Seconds(1));
  EXPECT_EQ(server_->requests.size(), 11u);
  EXPECT_THAT(keeper_.troubles.at("http://manifests/pods"), HasSubstr("redirects"));
}

TEST_F(HttpSourceSim, AUrlThatIsNoneIsReported) {
  Start({.url = "gopher://x/"});
  Run(Seconds(1));
  EXPECT_EQ(keeper_.troubles.size(), 1u);
  EXPECT_EQ(keeper_.sets, 0);
}

TEST_F(HttpSourceSim, ThroughABadNetworkThePodsComeInTheEnd) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Build(seed);
    sim::NetworkFaults& faults = world_->network().faults();
    const sim::NetworkFaults peace = faults;
    faults.reset = 0.05;
    faults.silence = 0.02;
    Start();
    for (int i = 0; i < 10; ++i) {
      server_->body = PodYaml("p" + std::to_string(i), "app:1");
      Run(Seconds(30));
      for (const std::string& name : keeper_.Names()) EXPECT_TRUE(name.starts_with("p")) << name;
    }
    faults = peace;
    Run(Seconds(60));
    EXPECT_THAT(keeper_.Names(), ElementsAre("p9-n"));
    EXPECT_THAT(keeper_.troubles, IsEmpty());
  }
}

TEST_F(HttpSourceSim, MayEndAtAnyTime) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Build(seed);
    server_->body = PodYaml("a", "app:1");
    Start();
    Run(Microseconds(static_cast<int64_t>(world_->random().Below(30'000))));
    source_.reset();
    const int sets = keeper_.sets;
    Run(Minutes(1));
    EXPECT_EQ(keeper_.sets, sets);
  }
}

}  // namespace
}  // namespace denselet::managers
