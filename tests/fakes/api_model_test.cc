// The model of the API server: what changes objects.
#include "tests/fakes/api_model.h"

#include <gtest/gtest.h>

#include "sync/ports/api_typed.h"
#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"

namespace denselet::fakes {
namespace {

using kube::core::ConfigMap;
using kube::core::Pod;
using sync::ApiVerb;

class ApiModelTest : public testing::Test {
 protected:
  ModelAnswer Serve(const sync::ApiRequest& request) { return model_.Serve(request, now_); }

  template <class T>
  static T As(const ModelAnswer& answer) {
    T object;
    EXPECT_TRUE(answer.ok()) << Words(answer);
    EXPECT_TRUE(object.ParseFromString(answer.wire));
    return object;
  }
  // "409 AlreadyExists"
  static std::string Words(const ModelAnswer& answer) {
    kube::meta::Status status;
    EXPECT_EQ(answer.type.kind, "Status");
    EXPECT_TRUE(status.ParseFromString(answer.wire));
    EXPECT_EQ(status.code(), answer.ok() ? 0 : answer.http_status);
    return std::to_string(answer.http_status) + " " + status.reason();
  }

  Pod CreatePod(const std::string& name, const std::string& node = "") {
    return As<Pod>(Serve(CreateRequest(kube::kPods, MakePod(name, node))));
  }
  sync::ApiRequest DeletePod(const std::string& name, std::optional<int64_t> grace = {}) {
    sync::ApiRequest request = RequestOf(ApiVerb::kDelete, kube::kPods, {"default", name});
    request.grace_seconds = grace;
    return request;
  }

  const ObjectRef ref_{"default", "a"};
  WallTime now_ = WallTime(Seconds(1'800'000'000));
  ApiModel model_{100};
};

TEST_F(ApiModelTest, WhatIsCreatedHasAUidAVersionAndATime) {
  const Pod pod = CreatePod("a");
  EXPECT_EQ(pod.metadata().resourceversion(), "101");
  EXPECT_FALSE(pod.metadata().uid().empty());
  EXPECT_EQ(pod.metadata().creationtimestamp().seconds(), 1'800'000'000);
  EXPECT_EQ(pod.metadata().generation(), 1);
  EXPECT_EQ(pod.status().phase(), "Pending");
  EXPECT_NE(CreatePod("b").metadata().uid(), pod.metadata().uid());
  EXPECT_EQ(model_.version(), 102u);
  EXPECT_EQ(Words(Serve(CreateRequest(kube::kPods, MakePod("a")))), "409 AlreadyExists");
  EXPECT_EQ(As<Pod>(Serve(RequestOf(ApiVerb::kGet, kube::kPods, ref_))).metadata().uid(),
            pod.metadata().uid());
}

TEST_F(ApiModelTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(Words(Serve(RequestOf(ApiVerb::kGet, kube::kPods, ref_))), "404 NotFound");
  EXPECT_EQ(Words(Serve(CreateRequest(kube::kPods, Pod()))), "422 Invalid");
  Pod empty = MakePod("a");
  empty.mutable_spec()->clear_containers();
  EXPECT_EQ(Words(Serve(CreateRequest(kube::kPods, empty))), "422 Invalid");
  EXPECT_EQ(Words(Serve(CreateRequest(kube::kPods, MakePod("a"), "other"))), "400 BadRequest");
  EXPECT_EQ(Words(Serve(RequestOf(ApiVerb::kPatch, kube::kPods, ref_, "{}"))), "404 NotFound");
  CreatePod("a");
  EXPECT_EQ(Words(Serve(RequestOf(ApiVerb::kPatch, kube::kPods, ref_, "no"))), "400 BadRequest");
  EXPECT_EQ(model_.version(), 101u);
}

TEST_F(ApiModelTest, AnUpdateOfAnOldVersionIsAConflict) {
  ConfigMap object = As<ConfigMap>(Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap("a"))));
  (*object.mutable_data())["key"] = "other";
  const sync::ApiRequest update =
      RequestOf(ApiVerb::kUpdate, kube::kConfigMaps, ref_, kube::EncodeWire(object));
  EXPECT_EQ(As<ConfigMap>(Serve(update)).data().at("key"), "other");
  EXPECT_EQ(Words(Serve(update)), "409 Conflict");
  object.mutable_metadata()->clear_resourceversion();
  object.mutable_metadata()->set_uid("another");
  EXPECT_EQ(
      Words(Serve(RequestOf(ApiVerb::kUpdate, kube::kConfigMaps, ref_, kube::EncodeWire(object)))),
      "409 Conflict");
  object.mutable_metadata()->clear_uid();
  EXPECT_TRUE(
      Serve(RequestOf(ApiVerb::kUpdate, kube::kConfigMaps, ref_, kube::EncodeWire(object))).ok());
}

TEST_F(ApiModelTest, AChangeThatIsNoneHasNoVersion) {
  CreatePod("a");
  const sync::ApiRequest patch =
      RequestOf(ApiVerb::kPatch, kube::kPods, ref_, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(As<Pod>(Serve(patch)).metadata().resourceversion(), "102");
  EXPECT_EQ(As<Pod>(Serve(patch)).metadata().resourceversion(), "102");
}

TEST_F(ApiModelTest, StatusAndSpecAreWrittenApart) {
  CreatePod("a");
  sync::ApiRequest patch =
      RequestOf(ApiVerb::kPatch, kube::kPods, ref_,
                R"({"status":{"phase":"Running"},"spec":{"activeDeadlineSeconds":7}})");
  Pod pod = As<Pod>(Serve(patch));
  EXPECT_EQ(pod.status().phase(), "Pending");
  EXPECT_EQ(pod.spec().activedeadlineseconds(), 7);
  EXPECT_EQ(pod.metadata().generation(), 2);
  patch.subresource = "status";
  patch.body = R"({"status":{"phase":"Running"},"spec":{"activeDeadlineSeconds":8}})";
  pod = As<Pod>(Serve(patch));
  EXPECT_EQ(pod.status().phase(), "Running");
  EXPECT_EQ(pod.spec().activedeadlineseconds(), 7);
  EXPECT_EQ(pod.metadata().generation(), 2);
  patch.body = R"({"metadata":{"uid":"another"},"status":{"phase":"Failed"}})";
  EXPECT_EQ(Words(Serve(patch)), "422 Invalid");
  patch.body = R"({"metadata":{"resourceVersion":"101"},"status":{"phase":"Failed"}})";
  EXPECT_EQ(Words(Serve(patch)), "409 Conflict");
  patch.subresource = "";
  patch.body = R"({"spec":{"nodeName":"elsewhere"}})";
  EXPECT_EQ(Words(Serve(patch)), "422 Invalid");
}

TEST_F(ApiModelTest, APodOnANodeIsDeletedInTwoSteps) {
  CreatePod("a", "node");
  Pod pod = As<Pod>(Serve(DeletePod("a")));
  EXPECT_EQ(pod.metadata().deletiongraceperiodseconds(), 30);
  EXPECT_EQ(pod.metadata().deletiontimestamp().seconds(), 1'800'000'030);
  EXPECT_EQ(pod.metadata().generation(), 2);
  // Only shorter.
  EXPECT_EQ(As<Pod>(Serve(DeletePod("a", 60))).metadata().resourceversion(),
            pod.metadata().resourceversion());
  pod = As<Pod>(Serve(DeletePod("a", 10)));
  EXPECT_EQ(pod.metadata().deletiontimestamp().seconds(), 1'800'000'010);
  sync::ApiRequest last = DeletePod("a", 0);
  last.uid_precondition = "another";
  EXPECT_EQ(Words(Serve(last)), "409 Conflict");
  last.uid_precondition = pod.metadata().uid();
  EXPECT_TRUE(Serve(last).ok());
  EXPECT_EQ(Words(Serve(last)), "404 NotFound");
}

TEST_F(ApiModelTest, WhatNobodyRunsIsGoneAtOnce) {
  CreatePod("a");
  EXPECT_TRUE(Serve(DeletePod("a")).ok());
  EXPECT_EQ(model_.Find(kube::kPods, ref_), "");
  CreatePod("a", "node");
  ASSERT_TRUE(model_.Edit(kube::kPods, ref_, [](AnyObject& object) {
    dynamic_cast<Pod&>(object.message()).mutable_status()->set_phase("Failed");
  }));
  EXPECT_TRUE(Serve(DeletePod("a")).ok());
  EXPECT_EQ(model_.size(), 0u);
  Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap("a")));
  const ModelAnswer gone = Serve(RequestOf(ApiVerb::kDelete, kube::kConfigMaps, ref_));
  EXPECT_EQ(gone.type.kind, "Status");
  EXPECT_EQ(gone.http_status, 200);
}

TEST_F(ApiModelTest, AFinalizerHoldsWhatIsDeleted) {
  ConfigMap held = MakeConfigMap("a");
  held.mutable_metadata()->add_finalizers("test/held");
  Serve(CreateRequest(kube::kConfigMaps, held));
  const sync::ApiRequest request = RequestOf(ApiVerb::kDelete, kube::kConfigMaps, ref_);
  EXPECT_TRUE(As<ConfigMap>(Serve(request)).metadata().has_deletiontimestamp());
  EXPECT_TRUE(Serve(request).ok());
  EXPECT_EQ(model_.size(), 1u);
  EXPECT_TRUE(Serve(RequestOf(ApiVerb::kPatch, kube::kConfigMaps, ref_,
                              R"({"metadata":{"finalizers":null}})"))
                  .ok());
  EXPECT_EQ(model_.size(), 0u);
}

TEST_F(ApiModelTest, ALeaseIsMadeByAnUpdateAndNeedsItsVersionThen) {
  sync::coordination::Lease lease;
  lease.mutable_metadata()->set_name("a");
  lease.mutable_metadata()->set_namespace_("default");
  const sync::ApiRequest update =
      RequestOf(ApiVerb::kUpdate, kube::kLeases, ref_, kube::EncodeWire(lease));
  EXPECT_EQ(Serve(update).http_status, 201);
  EXPECT_EQ(Words(Serve(update)), "422 Invalid");
}

TEST_F(ApiModelTest, ACollectionIsDeletedByItsSelector) {
  CreatePod("a");
  CreatePod("b");
  sync::ApiRequest request = RequestOf(ApiVerb::kDeleteCollection, kube::kPods, {"default", ""});
  request.field_selector = "metadata.name=a";
  EXPECT_TRUE(Serve(request).ok());
  EXPECT_EQ(model_.Find(kube::kPods, ref_), "");
  EXPECT_EQ(model_.size(), 1u);
  request.field_selector = "spec.hostname=a";
  EXPECT_EQ(Words(Serve(request)), "400 BadRequest");
}

TEST_F(ApiModelTest, ATokenIsMadeForAServiceAccount) {
  kube::core::ServiceAccount account;
  account.mutable_metadata()->set_name("a");
  sync::ApiRequest request = RequestOf(ApiVerb::kCreate, kube::kServiceAccounts, ref_);
  request.subresource = "token";
  EXPECT_EQ(Words(Serve(request)), "404 NotFound");
  Serve(CreateRequest(kube::kServiceAccounts, account));
  const auto token = As<sync::authentication::TokenRequest>(Serve(request));
  EXPECT_FALSE(token.status().token().empty());
  EXPECT_EQ(token.status().expirationtimestamp().seconds(), 1'800'003'600);
}

TEST_F(ApiModelTest, FaultsAreToldAndDoNothing) {
  model_.faults().too_many_requests = 1;
  model_.faults().retry_after_seconds = 7;
  const ModelAnswer busy = Serve(CreateRequest(kube::kPods, MakePod("a")));
  EXPECT_EQ(Words(busy), "429 TooManyRequests");
  EXPECT_EQ(busy.retry_after_seconds, 7);
  model_.faults().internal_errors = 1;
  EXPECT_EQ(Words(Serve(CreateRequest(kube::kPods, MakePod("a")))), "500 InternalError");
  EXPECT_EQ(model_.size(), 0u);
  CreatePod("a");
}

}  // namespace
}  // namespace denselet::fakes
