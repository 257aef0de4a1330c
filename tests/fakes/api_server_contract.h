// What sync/ports/api_server.h promises, as tests for every ApiServer: the fake behind the port,
// the real client against the model behind HTTP/2, and the real client against a real
// kube-apiserver, which proves the model right. A program includes this once and says what it has:
//   INSTANTIATE_TEST_SUITE_P(Mine, ApiServerContract, testing::Values(ApiServerMaker{...}),
//                            NameOfApiServer);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.h"
#include "kube/api/patch/strategic_patch.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/api_objects_for_tests.h"

namespace denselet::fakes {

class ApiServerUnderTest {
 public:
  virtual ~ApiServerUnderTest() = default;
  virtual sync::ApiServer& api() = 0;
  virtual reactor::Loop& loop() = 0;
  // False: it does not come true.
  [[nodiscard]] virtual bool RunUntil(const std::function<bool()>& done) = 0;
  // Names of objects are this test's own: the server may be shared.
  virtual std::string Name(const std::string& name) const { return name; }
};

struct ApiServerMaker {
  std::string name;
  std::function<std::unique_ptr<ApiServerUnderTest>()> make;
};

inline std::string NameOfApiServer(const testing::TestParamInfo<ApiServerMaker>& info) {
  return info.param.name;
}

class ApiServerContract : public testing::TestWithParam<ApiServerMaker> {
 protected:
  using Verb = sync::ApiVerb;

  sync::ApiServer& api() { return made_->api(); }
  std::string Name(const std::string& name) const { return made_->Name(name); }
  ObjectRef Ref(const std::string& name) const { return {"default", Name(name)}; }

  Result<sync::ApiObject> Send(sync::ApiRequest request, const Context& context = {}) {
    std::optional<Result<sync::ApiObject>> answer;
    api().Send(context, std::move(request), [&](Result<sync::ApiObject> result) {
      EXPECT_FALSE(answer.has_value()) << "answered twice";
      answer.emplace(std::move(result));
    });
    EXPECT_FALSE(answer.has_value()) << "answered inside the call";
    if (!made_->RunUntil([&] { return answer.has_value(); })) {
      return Error(ErrorCode::kBug, "no answer");
    }
    return *std::move(answer);
  }
  template <class T>
  T Get(const Result<sync::ApiObject>& answer) {
    T object;
    EXPECT_TRUE(answer) << answer.error().message();
    EXPECT_TRUE(answer && object.ParseFromString(answer->wire));
    return object;
  }
  static std::string CodeOf(const Result<sync::ApiObject>& answer) {
    return answer ? "ok" : std::string(ErrorCodeName(answer.error().code()));
  }
  static std::string CodeName(ErrorCode code) { return std::string(ErrorCodeName(code)); }

  template <class T>
  T Create(const kube::Resource& resource, const T& object) {
    return Get<T>(Send(CreateRequest(resource, object)));
  }
  void Delete(const kube::Resource& resource, const ObjectRef& object) {
    sync::ApiRequest request = RequestOf(Verb::kDelete, resource, object);
    request.grace_seconds = 0;
    const Result<sync::ApiObject> answer = Send(request);
    EXPECT_TRUE(answer) << answer.error().message();
  }
  bool Run(const std::function<bool()>& done) { return made_->RunUntil(done); }
  static std::string FaultsOf(const FollowedObjects& followed) {
    std::string text;
    for (const std::string& fault : followed.faults) text += fault + "\n";
    return text;
  }

  std::unique_ptr<ApiServerUnderTest> made_ = GetParam().make();
};

TEST_P(ApiServerContract, AnObjectIsMadeReadChangedAndDeleted) {
  const auto object = MakeConfigMap(Name("made"));
  const auto made = Create(kube::kConfigMaps, object);
  EXPECT_FALSE(made.metadata().uid().empty());
  EXPECT_FALSE(made.metadata().resourceversion().empty());
  EXPECT_GT(made.metadata().creationtimestamp().seconds(), 0);
  EXPECT_EQ(CodeOf(Send(CreateRequest(kube::kConfigMaps, object))),
            CodeName(ErrorCode::kAlreadyExists));

  const auto read =
      Get<kube::core::ConfigMap>(Send(RequestOf(Verb::kGet, kube::kConfigMaps, Ref("made"))));
  EXPECT_EQ(read.metadata().uid(), made.metadata().uid());
  EXPECT_EQ(read.data().at("key"), "value");

  const auto changed = Get<kube::core::ConfigMap>(Send(RequestOf(
      Verb::kPatch, kube::kConfigMaps, Ref("made"), R"({"data":{"key":null,"more":"1"}})")));
  EXPECT_EQ(changed.data().size(), 1u);
  EXPECT_NE(changed.metadata().resourceversion(), made.metadata().resourceversion());

  sync::ApiRequest remove = RequestOf(Verb::kDelete, kube::kConfigMaps, Ref("made"));
  remove.uid_precondition = "another";
  EXPECT_EQ(CodeOf(Send(remove)), CodeName(ErrorCode::kConflict));
  remove.uid_precondition = made.metadata().uid();
  EXPECT_EQ(CodeOf(Send(remove)), "ok");
  EXPECT_EQ(CodeOf(Send(remove)), CodeName(ErrorCode::kNotFound));
  EXPECT_TRUE(Send(remove).error().answered());
  const auto missing = Send(RequestOf(Verb::kGet, kube::kConfigMaps, Ref("made")));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message(),
            "the API server said 404: configmaps \"" + Name("made") + "\" not found");
}

TEST_P(ApiServerContract, WhoUpdatesAnOldVersionIsTold) {
  auto object = Create(kube::kConfigMaps, MakeConfigMap(Name("update")));
  (*object.mutable_data())["key"] = "other";
  const sync::ApiRequest update =
      RequestOf(Verb::kUpdate, kube::kConfigMaps, Ref("update"), kube::EncodeWire(object));
  EXPECT_EQ(CodeOf(Send(update)), "ok");
  EXPECT_EQ(CodeOf(Send(update)), CodeName(ErrorCode::kConflict));
  Delete(kube::kConfigMaps, Ref("update"));
  EXPECT_EQ(CodeOf(Send(update)), CodeName(ErrorCode::kNotFound));
  Create(kube::kConfigMaps, MakeConfigMap(Name("update")));
  EXPECT_EQ(CodeOf(Send(update)), CodeName(ErrorCode::kConflict)) << "it has another uid";
  Delete(kube::kConfigMaps, Ref("update"));
}

TEST_P(ApiServerContract, APatchThatChangesNothingMakesNoVersion) {
  Create(kube::kConfigMaps, MakeConfigMap(Name("same")));
  const sync::ApiRequest patch =
      RequestOf(Verb::kPatch, kube::kConfigMaps, Ref("same"), R"({"data":{"key":"new"}})");
  const auto first = Get<kube::core::ConfigMap>(Send(patch));
  const auto second = Get<kube::core::ConfigMap>(Send(patch));
  EXPECT_EQ(first.metadata().resourceversion(), second.metadata().resourceversion());
  Delete(kube::kConfigMaps, Ref("same"));
}

TEST_P(ApiServerContract, WhatMakesNoSenseIsRefused) {
  kube::core::Pod pod = MakePod(Name("invalid"));
  pod.mutable_spec()->clear_containers();
  EXPECT_EQ(CodeOf(Send(CreateRequest(kube::kPods, pod))), CodeName(ErrorCode::kInvalid));
  EXPECT_EQ(CodeOf(Send(CreateRequest(kube::kConfigMaps, MakeConfigMap(Name("x")), "other"))),
            CodeName(ErrorCode::kInvalid))
      << "another namespace in the object";
  Create(kube::kConfigMaps, MakeConfigMap(Name("invalid")));
  EXPECT_EQ(CodeOf(Send(RequestOf(Verb::kPatch, kube::kConfigMaps, Ref("invalid"), "not a patch"))),
            CodeName(ErrorCode::kInvalid));
  Delete(kube::kConfigMaps, Ref("invalid"));
}

TEST_P(ApiServerContract, AStatusIsPatchedForTheUidThatIsMeant) {
  const auto pod = Create(kube::kPods, MakePod(Name("status"), Name("node")));
  EXPECT_EQ(pod.status().phase(), "Pending");
  EXPECT_EQ(pod.metadata().generation(), 1);
  sync::ApiRequest patch =
      RequestOf(Verb::kPatch, kube::kPods, Ref("status"),
                R"({"metadata":{"uid":"another"},"status":{"phase":"Running"}})");
  patch.subresource = "status";
  EXPECT_EQ(CodeOf(Send(patch)), CodeName(ErrorCode::kInvalid)) << "a uid cannot be changed";
  patch.body = R"({"metadata":{"resourceVersion":"1"},"status":{"phase":"Running"}})";
  EXPECT_EQ(CodeOf(Send(patch)), CodeName(ErrorCode::kConflict));
  patch.body = R"({"metadata":{"uid":")" + pod.metadata().uid() +
               R"("},"status":{"phase":"Running"},"spec":{"activeDeadlineSeconds":5}})";
  const auto running = Get<kube::core::Pod>(Send(patch));
  EXPECT_EQ(running.status().phase(), "Running");
  EXPECT_FALSE(running.spec().has_activedeadlineseconds()) << "only the status";
  patch.subresource = "";
  patch.body = R"({"status":{"phase":"Failed"},"metadata":{"labels":{"a":"b"}}})";
  const auto labelled = Get<kube::core::Pod>(Send(patch));
  EXPECT_EQ(labelled.status().phase(), "Running") << "all but the status";
  EXPECT_EQ(labelled.metadata().labels().at("a"), "b");
  Delete(kube::kPods, Ref("status"));
}

TEST_P(ApiServerContract, APodOnANodeIsDeletedInTwoSteps) {
  const auto pod = Create(kube::kPods, MakePod(Name("grace"), Name("node")));
  FollowedObjects followed;
  const auto list_watch = api().Follow(
      {.resource = kube::kPods, .ns = "default", .field_selector = "spec.nodeName=" + Name("node")},
      followed);
  ASSERT_TRUE(Run([&] { return followed.synced == 1; }));
  // The first list may come from a cache that is a little behind.
  ASSERT_TRUE(Run([&] { return followed.objects.contains(Ref("grace")); }));
  sync::ApiRequest remove = RequestOf(Verb::kDelete, kube::kPods, Ref("grace"));
  EXPECT_EQ(CodeOf(Send(remove)), "ok");
  const auto ending = Get<kube::core::Pod>(Send(RequestOf(Verb::kGet, kube::kPods, Ref("grace"))));
  EXPECT_TRUE(ending.metadata().has_deletiontimestamp());
  EXPECT_EQ(ending.metadata().deletiongraceperiodseconds(), 30);
  EXPECT_EQ(ending.metadata().generation(), 2);
  EXPECT_TRUE(
      Run([&] { return followed.VersionOf(Ref("grace")) == ending.metadata().resourceversion(); }));
  remove.grace_seconds = 0;
  remove.uid_precondition = pod.metadata().uid();
  EXPECT_EQ(CodeOf(Send(remove)), "ok");
  EXPECT_TRUE(Run([&] { return !followed.objects.contains(Ref("grace")); }));
  EXPECT_EQ(FaultsOf(followed), "");
}

TEST_P(ApiServerContract, AListWatchTellsWhatComesChangesAndGoes) {
  FollowedObjects followed;
  const auto list_watch = api().Follow({.resource = kube::kConfigMaps,
                                        .ns = "default",
                                        .field_selector = "metadata.name=" + Name("seen")},
                                       followed);
  ASSERT_TRUE(Run([&] { return followed.synced == 1; }));
  EXPECT_TRUE(followed.objects.empty());
  EXPECT_FALSE(list_watch->resource_version().empty());
  Create(kube::kConfigMaps, MakeConfigMap(Name("other")));
  const auto made = Create(kube::kConfigMaps, MakeConfigMap(Name("seen")));
  ASSERT_TRUE(Run([&] { return followed.objects.size() == 1; }));
  const auto changed = Get<kube::core::ConfigMap>(
      Send(RequestOf(Verb::kPatch, kube::kConfigMaps, Ref("seen"), R"({"data":{"key":"new"}})")));
  ASSERT_TRUE(
      Run([&] { return followed.VersionOf(Ref("seen")) == changed.metadata().resourceversion(); }));
  // Another one of the same name.
  Delete(kube::kConfigMaps, Ref("seen"));
  const auto again = Create(kube::kConfigMaps, MakeConfigMap(Name("seen")));
  ASSERT_TRUE(Run([&] { return followed.UidOf(Ref("seen")) == again.metadata().uid(); }));
  EXPECT_EQ(followed.gone, 1);
  Delete(kube::kConfigMaps, Ref("seen"));
  ASSERT_TRUE(Run([&] { return followed.gone == 2; }));
  EXPECT_EQ(followed.told, 3);
  EXPECT_EQ(FaultsOf(followed), "");
  EXPECT_TRUE(followed.troubles.empty()) << followed.troubles[0];
  Delete(kube::kConfigMaps, Ref("other"));
}

TEST_P(ApiServerContract, ALeaseIsMadeByAnUpdate) {
  sync::coordination::Lease lease;
  lease.mutable_metadata()->set_name(Name("lease"));
  lease.mutable_metadata()->set_namespace_("default");
  lease.mutable_spec()->set_holderidentity("me");
  sync::ApiRequest update =
      RequestOf(Verb::kUpdate, kube::kLeases, Ref("lease"), kube::EncodeWire(lease));
  update.traffic = sync::ApiTraffic::kHeartbeat;
  const auto made = Get<sync::coordination::Lease>(Send(update));
  EXPECT_EQ(CodeOf(Send(update)), CodeName(ErrorCode::kInvalid)) << "now it needs a version";
  update.body = kube::EncodeWire(made);
  EXPECT_EQ(CodeOf(Send(update)), "ok");
  Delete(kube::kLeases, Ref("lease"));
  EXPECT_EQ(CodeOf(Send(update)), CodeName(ErrorCode::kConflict)) << "not one with that uid";
}

TEST_P(ApiServerContract, ACollectionIsDeletedByASelector) {
  Create(kube::kConfigMaps, MakeConfigMap(Name("one")));
  Create(kube::kConfigMaps, MakeConfigMap(Name("two")));
  sync::ApiRequest request = RequestOf(Verb::kDeleteCollection, kube::kConfigMaps, {"default", ""});
  request.field_selector = "metadata.name=" + Name("one");
  EXPECT_EQ(CodeOf(Send(request)), "ok");
  EXPECT_EQ(CodeOf(Send(RequestOf(Verb::kGet, kube::kConfigMaps, Ref("one")))),
            CodeName(ErrorCode::kNotFound));
  EXPECT_EQ(CodeOf(Send(RequestOf(Verb::kGet, kube::kConfigMaps, Ref("two")))), "ok");
  request.field_selector = "data.key=value";
  EXPECT_EQ(CodeOf(Send(request)), CodeName(ErrorCode::kInvalid));
  Delete(kube::kConfigMaps, Ref("two"));
}

TEST_P(ApiServerContract, NobodyIsAskedForWhatIsTooLateOrUnwanted) {
  Context late;
  late.deadline = made_->loop().Now();
  EXPECT_EQ(CodeOf(Send(CreateRequest(kube::kConfigMaps, MakeConfigMap(Name("late"))), late)),
            CodeName(ErrorCode::kDeadlineExceeded));
  CancelSource source;
  Context unwanted;
  unwanted.cancel = source.token();
  source.Cancel();
  EXPECT_EQ(CodeOf(Send(CreateRequest(kube::kConfigMaps, MakeConfigMap(Name("late"))), unwanted)),
            CodeName(ErrorCode::kCancelled));
  EXPECT_EQ(CodeOf(Send(RequestOf(Verb::kGet, kube::kConfigMaps, Ref("late")))),
            CodeName(ErrorCode::kNotFound));
}

TEST_P(ApiServerContract, ARequestIsCancelledOnItsWay) {
  CancelSource source;
  Context context;
  context.cancel = source.token();
  std::optional<Result<sync::ApiObject>> answer;
  api().Send(context, RequestOf(Verb::kGet, kube::kConfigMaps, Ref("none")),
             [&](Result<sync::ApiObject> result) {
               EXPECT_FALSE(answer.has_value());
               answer.emplace(std::move(result));
             });
  source.Cancel();
  EXPECT_FALSE(answer.has_value()) << "answered inside the call";
  ASSERT_TRUE(Run([&] { return answer.has_value(); }));
  EXPECT_EQ(CodeOf(*answer), CodeName(ErrorCode::kCancelled));
}

TEST_P(ApiServerContract, AListWatchMayEndInAnyOfItsCalls) {
  struct Ender final : sync::ListWatchUser {
    void OnObject(std::string_view) override { End(0); }
    void OnGone(const ObjectRef&, std::string_view) override { End(1); }
    void OnSynced() override {
      synced = true;
      End(2);
    }
    void OnTrouble(const Error&) override { End(3); }
    void End(int call) {
      EXPECT_LT(ended, 0) << "called after its end";
      if (call != end_in) return;
      ended = call;
      list_watch.reset();
    }
    int end_in = 0, ended = -1;
    bool synced = false;
    std::unique_ptr<sync::ListWatch> list_watch;
  };
  Create(kube::kConfigMaps, MakeConfigMap(Name("ending")));
  Ender enders[3];
  for (int call = 0; call < 3; ++call) {
    enders[call].end_in = call;
    enders[call].list_watch = api().Follow({.resource = kube::kConfigMaps,
                                            .ns = "default",
                                            .field_selector = "metadata.name=" + Name("ending")},
                                           enders[call]);
  }
  // Who has not seen it yet hears nothing of its end.
  EXPECT_TRUE(
      Run([&] { return enders[0].ended == 0 && enders[1].synced && enders[2].ended == 2; }));
  Delete(kube::kConfigMaps, Ref("ending"));
  EXPECT_TRUE(Run([&] { return enders[1].ended == 1; }));
}

}  // namespace denselet::fakes
