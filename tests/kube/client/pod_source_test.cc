#include "kube/client/pod_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Keeps who follows what.
class FollowedApi final : public sync::ApiServer {
 public:
  void Send(const Context&, sync::ApiRequest, reactor::Done<sync::ApiObject>) override {}
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec asked,
                                          sync::ListWatchUser& who) override {
    spec = std::move(asked);
    user = &who;
    return std::make_unique<Watch>(*this);
  }

  sync::ListWatchSpec spec;
  sync::ListWatchUser* user = nullptr;

 private:
  struct Watch final : sync::ListWatch {
    explicit Watch(FollowedApi& api) : api_(api) {}
    ~Watch() override { api_.user = nullptr; }
    const std::string& resource_version() const override { return version_; }

    FollowedApi& api_;
    const std::string version_;
  };
};

class ApiPodSourceTest : public testing::Test, public sync::PodSourceUser {
 protected:
  void OnPods(sync::SourceKind kind, std::vector<PodRef> pods) override {
    EXPECT_EQ(kind, sync::SourceKind::kApi);
    std::string text = "all";
    for (const PodRef& pod : pods) text += " " + std::string(pod->hot().name);
    told_.push_back(text);
  }
  void OnPod(sync::SourceKind, PodRef pod) override {
    told_.push_back("pod " + std::string(pod->hot().name));
  }
  void OnPodGone(sync::SourceKind, std::string_view uid) override {
    told_.push_back("gone " + std::string(uid));
  }
  void OnTrouble(sync::SourceKind, const std::string& where, const Error&) override {
    told_.push_back("trouble " + where);
  }
  void OnTroubleOver(sync::SourceKind, const std::string& where) override {
    told_.push_back("over " + where);
  }

  static std::string Wire(const std::string& name, const std::string& uid,
                          const std::string& node = "node-1") {
    core::Pod pod;
    pod.mutable_metadata()->set_namespace_("ns");
    pod.mutable_metadata()->set_name(name);
    pod.mutable_metadata()->set_uid(uid);
    pod.mutable_spec()->set_nodename(node);
    return EncodeWire(pod);
  }

  FollowedApi api_;
  std::vector<std::string> told_;
};

TEST_F(ApiPodSourceTest, FollowsThePodsOfItsNode) {
  {
    ApiPodSource source(api_, NodeName("node-1"), *this);
    ASSERT_NE(api_.user, nullptr);
    EXPECT_EQ(api_.spec.resource.plural, "pods");
    EXPECT_EQ(api_.spec.ns, "");
    EXPECT_EQ(api_.spec.field_selector, "spec.nodeName=node-1");
  }
  EXPECT_EQ(api_.user, nullptr);
}

TEST_F(ApiPodSourceTest, TheFirstListIsOneSetAndTheRestAreChanges) {
  ApiPodSource source(api_, NodeName("node-1"), *this);
  api_.user->OnObject(Wire("b", "2"));
  api_.user->OnObject(Wire("a", "1"));
  api_.user->OnObject(Wire("c", "3"));
  api_.user->OnGone({"ns", "c"}, "3");
  EXPECT_THAT(told_, IsEmpty());
  api_.user->OnSynced();
  EXPECT_THAT(told_, ElementsAre("all a b"));
  told_.clear();
  api_.user->OnObject(Wire("a", "1"));
  api_.user->OnGone({"ns", "b"}, "2");
  api_.user->OnSynced();
  EXPECT_THAT(told_, ElementsAre("pod a", "gone 2"));
}

// Those that came in the place of others are not judged beside them.
TEST_F(ApiPodSourceTest, OfALaterListIsToldFirstWhatIsGone) {
  ApiPodSource source(api_, NodeName("node-1"), *this);
  api_.user->OnListing();
  api_.user->OnObject(Wire("old", "1"));
  api_.user->OnSynced();
  told_.clear();
  api_.user->OnListing();
  api_.user->OnObject(Wire("new", "2"));
  api_.user->OnObject(Wire("short", "3"));
  api_.user->OnListing();  // the list was cut off
  api_.user->OnObject(Wire("next", "4"));
  EXPECT_THAT(told_, IsEmpty());
  api_.user->OnGone({"ns", "old"}, "1");
  api_.user->OnGone({"ns", "short"}, "3");
  api_.user->OnSynced();
  EXPECT_THAT(told_, ElementsAre("gone 1", "gone 3", "pod new", "pod next"));
  told_.clear();
  api_.user->OnObject(Wire("later", "5"));
  EXPECT_THAT(told_, ElementsAre("pod later"));
}

TEST_F(ApiPodSourceTest, WhatCannotBeTakenIsReportedOnce) {
  ApiPodSource source(api_, NodeName("node-1"), *this);
  api_.user->OnSynced();
  told_.clear();
  std::string damaged = Wire("a", "1");
  damaged += "\x12\x7f";  // a spec that is cut off
  api_.user->OnObject(damaged);
  api_.user->OnObject(damaged);
  api_.user->OnObject(Wire("b", ""));
  api_.user->OnObject(Wire("c", "3", "other"));
  ASSERT_EQ(told_.size(), 3u);
  EXPECT_THAT(told_[1], "trouble ns/b");
  EXPECT_THAT(told_[2], "trouble ns/c");
  told_.clear();
  api_.user->OnObject(Wire("b", "2"));
  api_.user->OnGone({"ns", "c"}, "3");
  EXPECT_THAT(told_, ElementsAre("over ns/b", "pod b", "over ns/c", "gone 3"));
}

TEST_F(ApiPodSourceTest, TroubleOfTheWatchIsOverWhenItGoesOn) {
  ApiPodSource source(api_, NodeName("node-1"), *this);
  api_.user->OnTrouble(Error(ErrorCode::kUnavailable, "refused"));
  api_.user->OnGoingOn();
  api_.user->OnSynced();
  EXPECT_THAT(told_, ElementsAre("trouble pods", "over pods", "all"));
  told_.clear();
  api_.user->OnTrouble(Error(ErrorCode::kUnavailable, "refused"));
  api_.user->OnGoingOn();
  EXPECT_THAT(told_, ElementsAre("trouble pods", "over pods")) << "though nothing has changed";
}

}  // namespace
}  // namespace denselet::kube
