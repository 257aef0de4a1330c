#include "tests/managers/secrets/objects_fixture.h"

namespace denselet::managers::tests {
namespace {

using Lines = std::vector<std::string>;
using sync::ApiVerb;

class ServicesTest : public ObjectsTest {
 protected:
  void PutService(ApiVerb verb, const std::string& ns, const std::string& name,
                  const std::string& ip) {
    kube::core::Service service;
    service.mutable_metadata()->set_namespace_(ns);
    service.mutable_metadata()->set_name(name);
    service.mutable_spec()->set_clusterip(ip);
    service.mutable_spec()->add_ports()->set_port(80);
    (*service.mutable_metadata()->mutable_annotations())["long"] = std::string(1000, 'x');
    Serve(verb, service, kube::kServices);
  }
  // "ns/name ip", or the error's text.
  Lines Services(uint32_t shard, const std::string& ns, sync::WhenUnlisted when_unlisted,
                 Duration wait = Seconds(1)) {
    auto lines = std::make_shared<Lines>(Lines{"nothing"});
    fronts_[shard]->Services({}, ns, when_unlisted, [lines](Result<sync::ServiceSet> set) {
      lines->clear();
      if (!set) return lines->push_back(set.error().message());
      for (const sync::ObjectBytes& bytes : set->services) {
        EXPECT_LT(bytes->size(), 500u) << "what nobody needs is not kept";
        kube::core::Service service;
        EXPECT_TRUE(service.ParseFromString(*bytes));
        lines->push_back(service.metadata().namespace_() + "/" + service.metadata().name() + " " +
                         service.spec().clusterip());
      }
    });
    Run(wait);
    return *lines;
  }
};

TEST_F(ServicesTest, AreWatchedOnceAndOnlyWhenSomebodyAsks) {
  Make();
  Join();
  Run(Minutes(1));
  EXPECT_TRUE(api_.followed.empty());
  PutService(ApiVerb::kCreate, "default", "kubernetes", "10.0.0.1");
  PutService(ApiVerb::kCreate, "default", "other", "10.0.0.2");
  PutService(ApiVerb::kCreate, "space", "web", "10.0.0.3");
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kWait),
            (Lines{"space/web 10.0.0.3", "default/kubernetes 10.0.0.1"}));
  EXPECT_EQ(Services(0, "default", sync::WhenUnlisted::kWait),
            (Lines{"default/kubernetes 10.0.0.1", "default/other 10.0.0.2"}));
  EXPECT_EQ(api_.followed, (Lines{"services  spec.clusterIP!=None"}));
  PutService(ApiVerb::kUpdate, "space", "web", "10.0.0.4");
  PutService(ApiVerb::kDelete, "default", "kubernetes", "");
  Run(Seconds(1));
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kWait), (Lines{"space/web 10.0.0.4"}));
}

TEST_F(ServicesTest, AreWaitedForButNotByStaticPods) {
  Make();
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kNone), Lines());
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kWait, Seconds(30)),
            (Lines{"services have not yet been read at least once, cannot construct envvars"}));
  PutService(ApiVerb::kCreate, "space", "web", "10.0.0.3");
  Join();
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kWait), (Lines{"space/web 10.0.0.3"}));
}

TEST_F(ServicesTest, ThereAreNoneWithoutAnApiServer) {
  PodObjectsOptions options;
  options.SetServer(false);
  Make(options);
  EXPECT_EQ(Services(1, "space", sync::WhenUnlisted::kWait), Lines());
  EXPECT_EQ(FetchNow(1, MapKey("x")), "couldn't get configMap space/x, no kubeClient defined");
}

class TokensTest : public ObjectsTest {
 protected:
  void SetUp() override {
    Make();
    Join();
    kube::core::ServiceAccount account;
    account.mutable_metadata()->set_namespace_("space");
    account.mutable_metadata()->set_name("robot");
    Serve(ApiVerb::kCreate, account, kube::kServiceAccounts);
  }
  static sync::TokenWish Wish(const std::string& uid) {
    return {.ns = "space",
            .service_account = "robot",
            .audience = "",
            .expiration_seconds = 3600,
            .pod_name = "p",
            .pod_uid = PodUid(uid)};
  }
  std::string Token(const sync::TokenWish& wish, uint32_t shard = 1) {
    auto text = std::make_shared<std::string>("nothing");
    fronts_[shard]->Token({}, wish, [text, this](Result<sync::ServiceToken> token) {
      *text = token ? token->token : token.error().message();
      if (token) last_ = *token;
    });
    Run(Seconds(40));
    return *text;
  }
  sync::ServiceToken last_;
};

TEST_F(TokensTest, AreAskedForOnceUntilMostOfTheirLifeIsOver) {
  EXPECT_EQ(Token(Wish("a")), "token-1");
  EXPECT_EQ(Token(Wish("a"), 0), "token-1");
  EXPECT_EQ(api_.requests.size(), 1u);
  sync::authentication::TokenRequest sent;
  ASSERT_TRUE(sent.ParseFromString(api_.requests[0].body));
  EXPECT_EQ(sent.spec().boundobjectref().kind(), "Pod");
  EXPECT_EQ(sent.spec().boundobjectref().uid(), "a");
  EXPECT_EQ(sent.spec().expirationseconds(), 3600);
  EXPECT_EQ(sent.spec().audiences_size(), 0);
  EXPECT_EQ(Token(Wish("b")), "token-2") << "each pod has its own";
  const Duration left = last_.expires - last_.refresh_at;
  EXPECT_GE(left, Seconds(720));
  EXPECT_LE(left, Seconds(731));
  Run(Minutes(45));
  EXPECT_EQ(Token(Wish("a")), "token-1");
  Run(Minutes(4));
  EXPECT_EQ(Token(Wish("a")), "token-3") << "80 % are over";
}

TEST_F(TokensTest, OneThatCannotBeRenewedServesAsLongAsItLasts) {
  EXPECT_EQ(Token(Wish("a")), "token-1");
  Run(Minutes(49));
  server_.Crash();
  EXPECT_EQ(Token(Wish("a")), "token-1");
  const size_t asked = api_.requests.size();
  EXPECT_EQ(Token(Wish("a")), "token-1");
  EXPECT_LE(api_.requests.size(), asked + 1) << "no storm";
  Run(Minutes(12));
  EXPECT_NE(Token(Wish("a")), "token-1") << "it has expired";
  server_.Start();
  Run(Minutes(1));
  EXPECT_EQ(Token(Wish("a")), "token-2");
}

TEST_F(TokensTest, GoWithTheirPod) {
  fronts_[1]->Follow(Pod("a", R"("containers":[{"name":"c"}])"));
  EXPECT_EQ(Token(Wish("a")), "token-1");
  EXPECT_EQ(home_->tokens().size(), 1u);
  fronts_[1]->Unfollow(PodUid("a"));
  Run(Seconds(1));
  EXPECT_EQ(home_->tokens().size(), 0u);
  EXPECT_EQ(Token(Wish("a")), "token-2");
}

TEST_F(TokensTest, OfOthersStay) {
  sync::TokenWish second = Wish("b");
  second.audience = "vault";
  for (const char* uid : {"a", "b", "bb", "c"}) {
    fronts_[1]->Follow(Pod(uid, R"("containers":[{"name":"c"}])"));
    Token(Wish(uid));
  }
  Token(second);
  EXPECT_EQ(home_->tokens().size(), 5u);
  for (const char* uid : {"b", "never"}) fronts_[1]->Unfollow(PodUid(uid));
  Run(Seconds(1));
  EXPECT_EQ(home_->tokens().size(), 3u);
  EXPECT_EQ(Token(Wish("bb")), "token-3");
}

TEST_F(TokensTest, AnAccountThatDoesNotExistIsTold) {
  sync::TokenWish wish = Wish("a");
  wish.service_account = "nobody";
  EXPECT_NE(Token(wish).find("failed to fetch token for service account space/nobody"),
            std::string::npos);
}

// Not that the API server was silent: it was not asked.
TEST_F(TokensTest, OneThatDoesNotComeInTimeIsToldWithTheReasonOfItsRequest) {
  api_.no_turn = &world_.loop(0);
  EXPECT_NE(Token(Wish("a")).find("it got no turn"), std::string::npos);
}

// Asked every second, as by pods that are tried again and again.
TEST_F(TokensTest, AServerThatRefusesIsNotAskedAgainAndAgain) {
  sync::TokenWish wish = Wish("a");
  wish.service_account = "nobody";
  const auto ask_for = [&](int seconds) {
    const auto text = std::make_shared<std::string>();
    for (int i = 0; i < seconds; ++i) {
      fronts_[1]->Token({}, wish, [text](Result<sync::ServiceToken> token) {
        *text = token ? token->token : token.error().message();
      });
      Run(Seconds(1));
    }
    return *text;
  };
  EXPECT_NE(ask_for(1).find("service account space/nobody"), std::string::npos);
  EXPECT_NE(ask_for(120).find("service account space/nobody"), std::string::npos);
  EXPECT_LE(api_.requests.size(), 15u);
  kube::core::ServiceAccount account;
  account.mutable_metadata()->set_namespace_("space");
  account.mutable_metadata()->set_name("nobody");
  Serve(ApiVerb::kCreate, account, kube::kServiceAccounts);
  EXPECT_EQ(ask_for(46), "token-1");
}

TEST_F(TokensTest, OneThatHasExpiredIsNotAskedForAgainAndAgain) {
  EXPECT_EQ(Token(Wish("a")), "token-1");
  kube::core::ServiceAccount account;
  account.mutable_metadata()->set_namespace_("space");
  account.mutable_metadata()->set_name("robot");
  Serve(ApiVerb::kDelete, account, kube::kServiceAccounts);
  Run(Minutes(59));
  const size_t before = api_.requests.size();
  for (int i = 0; i < 180; ++i) {
    fronts_[1]->Token({}, Wish("a"), [](Result<sync::ServiceToken>) {});
    Run(Seconds(1));
  }
  EXPECT_LE(api_.requests.size() - before, 20u);
}

}  // namespace
}  // namespace denselet::managers::tests
