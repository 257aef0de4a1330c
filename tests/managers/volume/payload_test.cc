#include "managers/volume/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/managers/volume/pods_for_tests.h"

namespace denselet::managers {
namespace {

using kube::core::ConfigMap;
using kube::core::Secret;

SourceAnswers Answers() {
  SourceAnswers answers;
  answers.objects.emplace(
      ConfigMapKey("m"),
      BytesOf<ConfigMap>(R"({"data":{"a":"1","b":"2"},"binaryData":{"z":"AAE="}})"));
  answers.objects.emplace(SecretKey("s"), BytesOf<Secret>(R"({"data":{"k":"c2VjcmV0"}})"));
  answers.objects.emplace(ConfigMapKey("none"), Error(ErrorCode::kNotFound, "gone"));
  answers.objects.emplace(SecretKey("none"), Error(ErrorCode::kNotFound, "gone"));
  answers.objects.emplace(SecretKey("late"), Error(ErrorCode::kUnavailable, "no answer yet"));
  const auto token = [](const std::string& audience, int64_t seconds) {
    return sync::TokenWish{.ns = "n",
                           .service_account = "sa",
                           .audience = audience,
                           .expiration_seconds = seconds,
                           .pod_name = "p",
                           .pod_uid = PodUid("u-1")};
  };
  answers.tokens.emplace(token("", 3607), sync::ServiceToken{.token = "t1"});
  answers.tokens.emplace(token("vault", 3600), sync::ServiceToken{.token = "t2"});
  const auto text = [](const char* pem) { return std::make_shared<const std::string>(pem); };
  answers.trusts.emplace(sync::TrustWish{.name = "ca"}, text("one"));
  answers.trusts.emplace(sync::TrustWish{.signer = "example.com/s", .selector = ""}, text("two"));
  answers.trusts.emplace(sync::TrustWish{.name = "none"},
                         Error(ErrorCode::kNotFound, "while getting ClusterTrustBundle: gone"));
  return answers;
}

std::string Show(const Result<Payload>& payload) {
  if (!payload) return "! " + payload.error().message();
  std::string text;
  for (const auto& [path, file] : *payload) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", file.mode);
    text += (text.empty() ? "" : " ") + path + "=" + std::string(file.data.view()) + ":" + mode;
    if (file.uid) text += ":" + std::to_string(*file.uid);
  }
  return text;
}

std::string Of(const std::string& source, const std::string& more = "") {
  const kube::core::Pod pod =
      PodFrom(R"({"serviceAccountName":"sa","volumes":[{"name":"v",)" + source + "}]" + more + "}",
              "u-1", R"("labels":{"app":"web"})");
  const kube::NodeAllocatable node = {{"memory", kube::Quantity::FromUnits(64)}};
  PayloadBudget budget;
  return Show(PayloadOf(pod, pod.spec().volumes(0), Answers(), node, budget));
}

TEST(Payload, ConfigMapsAndSecretsAreTheirKeysOrTheItems) {
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":420})"),
            std::string("a=1:0644 b=2:0644 z=") + '\0' + '\1' + ":0644");
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":256,"items":[
      {"key":"b","path":"d/e"},{"key":"a","path":"./x//y","mode":511}]})"),
            "d/e=2:0400 x/y=1:0777");
  EXPECT_EQ(Of(R"("secret":{"secretName":"s","defaultMode":420})"), "k=secret:0644");
  EXPECT_EQ(Of(R"("secret":{"secretName":"s","defaultMode":420,"items":[
      {"key":"k","path":"p","mode":256}]})"),
            "p=secret:0400");
}

TEST(Payload, WhatIsMissingIsAFaultUnlessItIsOptional) {
  EXPECT_EQ(Of(R"("configMap":{"name":"none","defaultMode":420})"),
            "! configmap \"none\" not found");
  EXPECT_EQ(Of(R"("secret":{"secretName":"none","defaultMode":420})"),
            "! secret \"none\" not found");
  EXPECT_EQ(Of(R"("configMap":{"name":"none","defaultMode":420,"optional":true})"), "");
  EXPECT_EQ(Of(R"("secret":{"secretName":"none","defaultMode":420,"optional":true})"), "");
  EXPECT_EQ(Of(R"("secret":{"secretName":"late","defaultMode":420,"optional":true})"),
            "! no answer yet");
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":420,"items":[{"key":"q","path":"q"}]})"),
            "! configmap references non-existent config key: q");
  EXPECT_EQ(Of(R"("secret":{"secretName":"s","defaultMode":420,"items":[{"key":"q","path":"q"}]})"),
            "! references non-existent secret key: q");
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":420,"optional":true,
      "items":[{"key":"q","path":"q"},{"key":"a","path":"a"}]})"),
            "a=1:0644");
  EXPECT_EQ(Of(R"("configMap":{"name":"m"})"),
            "! no defaultMode used, not even the default value for it");
}

TEST(Payload, TheDownwardApiTellsOfThePod) {
  EXPECT_EQ(Of(R"("downwardAPI":{"defaultMode":420,"items":[
      {"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}},
      {"path":"name","fieldRef":{"fieldPath":"metadata.name"},"mode":256},
      {"path":"mem","resourceFieldRef":{"containerName":"c","resource":"limits.memory"}}]})",
               R"(,"containers":[{"name":"c"}])"),
            "labels=app=\"web\":0644 mem=64:0644 name=p:0400");
  EXPECT_EQ(Of(R"("downwardAPI":{"defaultMode":420,"items":[
      {"path":"a","fieldRef":{"fieldPath":"spec.x"}},
      {"path":"b","fieldRef":{"fieldPath":"spec.y"}}]})"),
            "! [unsupported fieldPath: spec.x, unsupported fieldPath: spec.y]");
}

constexpr const char* kAll = R"("projected":{"defaultMode":420,"sources":[
    {"serviceAccountToken":{"path":"token","expirationSeconds":3607}},
    {"serviceAccountToken":{"path":"vault/token","audience":"vault"}},
    {"configMap":{"name":"m","items":[{"key":"a","path":"ca.crt"}]}},
    {"secret":{"name":"s"}},
    {"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}}]})";

TEST(Payload, AProjectedVolumeHasItAll) {
  EXPECT_EQ(Of(kAll),
            "ca.crt=1:0644 k=secret:0644 namespace=n:0644 token=t1:0644 vault/token=t2:0644");
}

TEST(Payload, ATokenIsForItsOwnerWhereThereIsOne) {
  EXPECT_EQ(Of(kAll, R"(,"securityContext":{"runAsUser":7},"containers":[{"name":"c"}])"),
            "ca.crt=1:0644 k=secret:0644 namespace=n:0644 token=t1:0600:7 vault/token=t2:0600:7");
  // The group is added with the volume's.
  EXPECT_EQ(Of(kAll, R"(,"securityContext":{"fsGroup":9},"containers":[{"name":"c"}])"),
            "ca.crt=1:0644 k=secret:0644 namespace=n:0644 token=t1:0600 vault/token=t2:0600");
}

TEST(Payload, AllFaultsOfAProjectedVolumeAreTold) {
  EXPECT_EQ(Of(R"("projected":{"defaultMode":420,"sources":[{"configMap":{"name":"none"}},
      {"secret":{"name":"none"}},{"secret":{"name":"none"}},{"secret":{"name":"none",
      "optional":true}}]})"),
            "! [configmap \"none\" not found, secret \"none\" not found]");
  EXPECT_EQ(Of(R"("projected":{"defaultMode":420,"sources":[
      {"clusterTrustBundle":{"path":"x"}}]})"),
            "! ClusterTrustBundle projection requires either name or signerName to be set");
}

TEST(Payload, TrustBundlesAreFilesOfTheirOwners) {
  const std::string source = R"("projected":{"defaultMode":420,"sources":[
      {"clusterTrustBundle":{"name":"ca","path":"ca.pem"}},
      {"clusterTrustBundle":{"signerName":"example.com/s","labelSelector":{},"path":"d/s.pem"}}]})";
  EXPECT_EQ(Of(source), "ca.pem=one:0644 d/s.pem=two:0644");
  EXPECT_EQ(Of(source, R"(,"containers":[{"name":"c","securityContext":{"runAsUser":7}}])"),
            "ca.pem=one:0600:7 d/s.pem=two:0600:7");
  EXPECT_EQ(Of(R"("projected":{"defaultMode":420,"sources":[
      {"clusterTrustBundle":{"name":"none","path":"x"}}]})"),
            "! while getting ClusterTrustBundle: gone");
}

TEST(Payload, WishesAreWhatHasToBeAskedFor) {
  const kube::core::Pod pod =
      PodFrom(std::string(R"({"serviceAccountName":"sa","volumes":[{"name":"v",)") + kAll + "}]}");
  const SourceWishes wishes = WishesOf(pod, pod.spec().volumes(0));
  EXPECT_THAT(wishes.objects, testing::ElementsAre(ConfigMapKey("m"), SecretKey("s")));
  ASSERT_EQ(wishes.tokens.size(), 2u);
  EXPECT_EQ(wishes.tokens.begin()->expiration_seconds, 3607);
}

TEST(CheckPayloadPath, RefusesWhatUpstreamRefuses) {
  const auto fault = [](const std::string& path) {
    const Status checked = CheckPayloadPath(path);
    return checked ? "" : checked.error().message();
  };
  for (const char* good : {"a", "a/b", "a/..b", ".a", "a/./b"}) {
    EXPECT_EQ(fault(good), "") << good;
  }
  EXPECT_EQ(fault(""), "invalid path: must not be empty: \"\"");
  EXPECT_EQ(fault("/a"), "invalid path: must be relative path: /a");
  EXPECT_EQ(fault("a/../b"), "invalid path: must not contain '..': a/../b");
  EXPECT_EQ(fault("..data/x"), "invalid path: must not start with '..': ..data/x");
  EXPECT_EQ(fault(std::string(256, 'x')),
            "invalid path: filenames must be less than or equal to 255 characters");
  EXPECT_EQ(fault(std::string(5000, 'x')),
            "invalid path: must be less than or equal to 4096 characters");
  std::string deep = "x";
  for (int i = 1; i < 128; ++i) deep += "/x";
  EXPECT_EQ(fault(deep), "");
  EXPECT_EQ(fault(deep + "/x"), "invalid path: must not have more than 128 parts");
  EXPECT_EQ(fault("./."), "invalid path: \"./.\"");
}

// "x0".."xN", all with the same key of the configMap.
std::string Items(size_t count, const std::string& key) {
  std::string items;
  for (size_t i = 0; i < count; ++i) {
    items += std::string(i == 0 ? "" : ",") + R"({"key":")" + key + R"(","path":"x)" +
             std::to_string(i) + "\"}";
  }
  return items;
}

TEST(Payload, AKeyThatIsNamedOftenIsInMemoryOnce) {
  const std::string large(1 << 20, 'x');
  SourceAnswers answers;
  const auto object = BytesOf<ConfigMap>(R"({"data":{"big":")" + large + R"("}})");
  answers.objects.emplace(ConfigMapKey("m"), object);
  const auto of = [&](size_t items, PayloadBudget& budget) {
    const kube::core::Pod pod =
        PodFrom(R"({"volumes":[{"name":"v","configMap":{"name":"m","defaultMode":420,"items":[)" +
                Items(items, "big") + "]}}]}");
    return PayloadOf(pod, pod.spec().volumes(0), answers, {}, budget);
  };
  PayloadBudget budget;
  const Result<Payload> payload = of(500, budget);
  ASSERT_TRUE(payload) << payload.error().message();
  ASSERT_EQ(payload->size(), 500u);
  for (const auto& [path, file] : *payload) {
    ASSERT_EQ(file.data.view(), large);
    ASSERT_GE(file.data.view().data(), object->data());
    ASSERT_LE(file.data.view().data() + large.size(), object->data() + object->size());
  }
  // What one volume took another of the pod does not have.
  EXPECT_EQ(Show(of(20, budget)), "! the files of the pod's volumes are too large");
  PayloadBudget few{.files = 3};
  EXPECT_EQ(Show(of(4, few)), "! the pod's volumes have too many files");
}

TEST(Payload, AFieldThatIsNamedOftenDoesNotFillTheMemory) {
  const kube::core::Pod pod = PodFrom(
      R"({"volumes":[{"name":"v","downwardAPI":{"defaultMode":420,"items":[
      {"path":"a","fieldRef":{"fieldPath":"metadata.name"}},
      {"path":"b","fieldRef":{"fieldPath":"metadata.uid"}}]}}]})",
      "0123456789");
  PayloadBudget enough{.copied_bytes = 11};
  EXPECT_EQ(Show(PayloadOf(pod, pod.spec().volumes(0), {}, {}, enough)),
            "a=p:0644 b=0123456789:0644");
  PayloadBudget less{.copied_bytes = 10};
  EXPECT_EQ(Show(PayloadOf(pod, pod.spec().volumes(0), {}, {}, less)),
            "! fields and tokens in the pod's volumes are too large");
}

TEST(Payload, WhatIsNoObjectIsAFault) {
  const kube::core::Pod pod =
      PodFrom(R"({"volumes":[{"name":"v","configMap":{"name":"m","defaultMode":420}}]})");
  for (const std::string bytes : {"\x12\x05\x0a", "\x12\x02\x08\x01", "\x10\x01", "\x12"}) {
    SourceAnswers answers;
    answers.objects.emplace(ConfigMapKey("m"), std::make_shared<const std::string>(bytes));
    PayloadBudget budget;
    EXPECT_EQ(Show(PayloadOf(pod, pod.spec().volumes(0), answers, {}, budget)),
              "! not a configMap");
  }
}

TEST(Payload, AFileIsNoDirectoryOfAnother) {
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":420,"items":[
      {"key":"a","path":"x/y/z"},{"key":"b","path":"x/./y"},{"key":"a","path":"x/y-1"}]})"),
            "! invalid path: \"x/y\" is a file and cannot be the directory of \"x/y/z\"");
  EXPECT_EQ(Of(R"("secret":{"secretName":"s","defaultMode":420,"items":[
      {"key":"k","path":"a"},{"key":"k","path":"a.b"},{"key":"k","path":"ab/c"}]})"),
            "a=secret:0644 a.b=secret:0644 ab/c=secret:0644");
}

TEST(Payload, AnItemCannotTakeTheWritersOwnNames) {
  EXPECT_EQ(Of(R"("configMap":{"name":"m","defaultMode":420,
      "items":[{"key":"a","path":"./..data"}]})"),
            "! invalid path: must not start with '..': ..data");
}

}  // namespace
}  // namespace denselet::managers
