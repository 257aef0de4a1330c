#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/base64.h"
#include "kube/api/codec/wire_reader.h"
#include "kube/api/types.h"
#include "managers/secrets/trust_bundle_list.h"
#include "tests/managers/secrets/objects_fixture.h"

namespace denselet::managers::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Block(const std::string& bytes) {
  return "-----BEGIN CERTIFICATE-----\n" + Base64Encode(bytes) + "\n-----END CERTIFICATE-----\n";
}

// As v1beta1 and v1alpha1 have it on the wire.
std::string Bundle(const std::string& name, const std::string& signer, const std::string& pem,
                   const std::map<std::string, std::string>& labels = {}) {
  kube::meta::ObjectMeta meta;
  meta.set_name(name);
  meta.set_uid("u-" + name);
  meta.set_resourceversion("7");
  for (const auto& [key, value] : labels) (*meta.mutable_labels())[key] = value;
  std::string spec, bundle;
  if (!signer.empty()) kube::AppendBytesField(spec, 1, signer);
  kube::AppendBytesField(spec, 2, pem);
  kube::AppendBytesField(bundle, 1, meta.SerializeAsString());
  kube::AppendBytesField(bundle, 2, spec);
  return bundle;
}

std::string Selector(const std::string& json) {
  kube::meta::LabelSelector selector;
  EXPECT_TRUE(kube::DecodeJson(json, selector).ok()) << json;
  return selector.SerializeAsString();
}

TEST(TrustAnchors, BlocksAreReadAndWhatIsNoneIsPassedOver) {
  EXPECT_THAT(DecodePem(Block("one") + "words\n" + Block("two")), ElementsAre("one", "two"));
  EXPECT_THAT(DecodePem("-----BEGIN CERTIFICATE-----\r\nb25l\r\n-----END CERTIFICATE-----"),
              ElementsAre("one"));
  EXPECT_THAT(DecodePem("-----BEGIN X-----\nA: b\n\nb2\n5l\n-----END X-----\n"),
              ElementsAre("one"));
  EXPECT_THAT(DecodePem("-----BEGIN A-----\nb25l\n-----END B-----\n" + Block("two")),
              ElementsAre("two"));
  EXPECT_THAT(DecodePem("-----BEGIN A-----\n?\n-----END A-----\n"), IsEmpty());
  EXPECT_THAT(DecodePem("-----BEGIN A-----\nb25l\n"), IsEmpty());
  EXPECT_THAT(DecodePem(""), IsEmpty());
}

TEST(TrustAnchors, EachCertificateIsThereOnceInLinesOf64) {
  const std::string longer(100, 'x');
  const auto one = ReadTrustBundle(Bundle("a", "", Block("A") + Block(longer) + Block("A")));
  const auto two = ReadTrustBundle(Bundle("b", "s", Block("B") + Block(longer)));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->name, "a");
  EXPECT_EQ(two->signer, "s");
  const std::string pem = PemOf({&*one, &*two}, 1);
  std::vector<std::string> blocks = DecodePem(pem);
  std::ranges::sort(blocks);
  EXPECT_THAT(blocks, ElementsAre("A", "B", longer));
  for (size_t at = 0; at < pem.size();) {
    const size_t end = pem.find('\n', at);
    EXPECT_LE(end - at, 64u);
    at = end + 1;
  }
  EXPECT_EQ(PemOf({&*two, &*one}, 1), pem) << "the order of the bundles does not count";
}

TEST(TrustAnchors, NobodyCanRelyOnTheirOrder) {
  std::string text;
  for (char c = 'a'; c < 'k'; ++c) text += Block(std::string(1, c));
  const auto bundle = ReadTrustBundle(Bundle("a", "", text));
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) orders.insert(PemOf({&*bundle}, seed));
  EXPECT_GT(orders.size(), 5u);
}

TEST(TrustAnchors, SelectorsAreThoseOfLabels) {
  const auto selects = [](const std::string& json) {
    const Result<bool> answer = Selects(Selector(json), {{"a", "1"}, {"b", "2"}});
    return answer ? (*answer ? "yes" : "no") : answer.error().message();
  };
  EXPECT_EQ(selects("{}"), "yes");
  EXPECT_EQ(selects(R"({"matchLabels":{"a":"1","b":"2"}})"), "yes");
  EXPECT_EQ(selects(R"({"matchLabels":{"a":"1","c":"2"}})"), "no");
  const auto term = [&](const std::string& key, const std::string& op, const std::string& values) {
    return selects(R"({"matchExpressions":[{"key":")" + key + R"(","operator":")" + op +
                   R"(","values":[)" + values + "]}]}");
  };
  EXPECT_EQ(term("a", "In", R"("0","1")"), "yes");
  EXPECT_EQ(term("a", "In", R"("0")"), "no");
  EXPECT_EQ(term("c", "NotIn", R"("0")"), "yes");
  EXPECT_EQ(term("a", "NotIn", R"("1")"), "no");
  EXPECT_EQ(term("a", "Exists", ""), "yes");
  EXPECT_EQ(term("c", "Exists", ""), "no");
  EXPECT_EQ(term("c", "DoesNotExist", ""), "yes");
  EXPECT_EQ(term("a", "DoesNotExist", ""), "no");
  EXPECT_THAT(term("a", "Odd", ""), HasSubstr("\"Odd\" is not a valid label selector operator"));
}

// A server that tells what a test says.
class ToldApi final : public sync::ApiServer {
 public:
  struct Watch final : sync::ListWatch {
    explicit Watch(ToldApi& api) : api_(api) { ++api_.open; }
    ~Watch() override {
      --api_.open;
      api_.user = nullptr;
    }
    const std::string& resource_version() const override { return version_; }

   private:
    ToldApi& api_;
    std::string version_;
  };
  void Send(const Context&, sync::ApiRequest, reactor::Done<sync::ApiObject>) override {}
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& asker) override {
    followed.push_back(spec.resource.ApiVersion() + " " + std::string(spec.resource.plural));
    auto watch = std::make_unique<Watch>(*this);
    user = &asker;
    return watch;
  }
  void Missing() { user->OnTrouble(Error(ErrorCode::kNotFound, "the server has no such API")); }

  std::vector<std::string> followed;
  sync::ListWatchUser* user = nullptr;
  int open = 0;
};

class TrustBundlesTest : public ObjectsTest {
 protected:
  // Before the server that they follow.
  ~TrustBundlesTest() override {
    fronts_.clear();
    home_.reset();
  }
  void Start(bool enabled = true, bool server = true) {
    PodObjectsOptions options;
    options.trust_bundles.enabled = enabled;
    options.SetServer(server);
    Make(options);
    if (server) home_->Join(api_told_);
    fronts_[1]->Follow(Pod("a", R"("volumes":[{"name":"v","projected":{"sources":[
        {"clusterTrustBundle":{"name":"ca","path":"p"}}]}}])"));
    Run(Milliseconds(100));
  }
  std::shared_ptr<std::string> Ask(const sync::TrustWish& wish) {
    auto text = std::make_shared<std::string>("nothing");
    fronts_[1]->TrustAnchors({}, wish, [text](Result<sync::ObjectBytes> anchors) {
      *text = anchors ? **anchors : anchors.error().message();
    });
    Run(Milliseconds(100));
    return text;
  }
  std::string Now(const sync::TrustWish& wish) { return *Ask(wish); }

  ToldApi api_told_;
};

TEST_F(TrustBundlesTest, AreWatchedFromTheFirstQuestionToTheLastPod) {
  Start();
  EXPECT_THAT(api_told_.followed, IsEmpty());
  const auto asked = Ask({.name = "ca"});
  EXPECT_EQ(*asked, "nothing") << "there is no list yet";
  EXPECT_THAT(api_told_.followed, ElementsAre("certificates.k8s.io/v1beta1 clustertrustbundles"));
  api_told_.user->OnObject(Bundle("ca", "", Block("one")));
  api_told_.user->OnSynced();
  Run(Milliseconds(100));
  EXPECT_EQ(*asked, Block("one"));
  EXPECT_EQ(api_told_.open, 1);
  fronts_[1]->Unfollow(PodUid("a"));
  Run(Milliseconds(100));
  EXPECT_EQ(api_told_.open, 0);
}

TEST_F(TrustBundlesTest, AreFoundByNameAndBySignerAndLabels) {
  Start();
  Ask({.name = "ca"});
  api_told_.user->OnObject(Bundle("ca", "", Block("one")));
  api_told_.user->OnObject(Bundle("x:1", "x/s", Block("two"), {{"v", "1"}}));
  api_told_.user->OnObject(Bundle("x:2", "x/s", Block("three"), {{"v", "2"}}));
  api_told_.user->OnObject(Bundle("y:1", "y/s", Block("four"), {{"v", "1"}}));
  api_told_.user->OnSynced();
  EXPECT_EQ(Now({.name = "x:2"}), Block("three"));
  EXPECT_EQ(Now({.signer = "x/s", .selector = Selector(R"({"matchLabels":{"v":"1"}})")}),
            Block("two"));
  EXPECT_EQ(DecodePem(Now({.signer = "x/s", .selector = ""})).size(), 2u);
  const std::string none =
      "combination of signerName and labelSelector matched zero ClusterTrustBundles";
  EXPECT_EQ(Now({.signer = "z/s", .selector = ""}), none);
  EXPECT_EQ(Now({.signer = "x/s"}), none) << "without a selector none is meant";
  EXPECT_EQ(Now({.signer = "z/s", .selector = "", .optional = true}), "");
  EXPECT_EQ(Now({.name = "no"}),
            "while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io \"no\" not "
            "found");
  EXPECT_EQ(Now({.name = "no", .optional = true}), "");
}

TEST_F(TrustBundlesTest, PodsThatMountSomeHearOfEachChange) {
  Start();
  Ask({.name = "ca"});
  api_told_.user->OnSynced();
  Run(Milliseconds(100));
  listeners_[1].told.clear();
  api_told_.user->OnObject(Bundle("ca", "", Block("one")));
  Run(Milliseconds(100));
  EXPECT_THAT(listeners_[1].told, ElementsAre("a "));
  EXPECT_THAT(listeners_[0].told, IsEmpty());
  EXPECT_EQ(Now({.name = "ca"}), Block("one"));
  api_told_.user->OnGone({"", "ca"}, "u-ca");
  Run(Milliseconds(100));
  EXPECT_EQ(listeners_[1].told.size(), 2u);
  EXPECT_THAT(Now({.name = "ca"}), HasSubstr("not found"));
}

TEST_F(TrustBundlesTest, AnOlderServerHasThemInAnOlderVersion) {
  Start();
  const auto asked = Ask({.name = "ca"});
  api_told_.Missing();
  EXPECT_THAT(api_told_.followed, ElementsAre("certificates.k8s.io/v1beta1 clustertrustbundles",
                                              "certificates.k8s.io/v1alpha1 clustertrustbundles"));
  api_told_.user->OnObject(Bundle("ca", "", Block("one")));
  api_told_.user->OnSynced();
  Run(Milliseconds(100));
  EXPECT_EQ(*asked, Block("one"));
}

TEST_F(TrustBundlesTest, AServerWithoutThemIsAskedAgainLater) {
  Start();
  const auto asked = Ask({.name = "ca"});
  api_told_.Missing();
  api_told_.Missing();
  Run(Milliseconds(100));
  const std::string never = "ClusterTrustBundle projection is not supported in static kubelet mode";
  EXPECT_EQ(*asked, never);
  EXPECT_EQ(Now({.name = "ca"}), never);
  EXPECT_EQ(api_told_.followed.size(), 2u);
  Run(Minutes(2));
  EXPECT_EQ(Now({.name = "ca"}), "nothing");
  EXPECT_EQ(api_told_.followed.size(), 3u);
}

TEST_F(TrustBundlesTest, AListThatDoesNotComeIsTold) {
  Start();
  const auto asked = Ask({.name = "ca"});
  Run(Seconds(10));
  EXPECT_EQ(*asked, "ClusterTrustBundle informer has not yet synced");
}

TEST_F(TrustBundlesTest, ThereAreNoneWithoutTheGateOrAServer) {
  Start(false);
  const std::string never = "ClusterTrustBundle projection is not supported in static kubelet mode";
  EXPECT_EQ(Now({.name = "ca", .optional = true}), never);
  EXPECT_THAT(api_told_.followed, IsEmpty());
}

TEST_F(TrustBundlesTest, ANodeThatStandsAloneHasNone) {
  Start(true, false);
  EXPECT_EQ(Now({.name = "ca"}),
            "ClusterTrustBundle projection is not supported in static kubelet mode");
}

}  // namespace
}  // namespace denselet::managers::tests
