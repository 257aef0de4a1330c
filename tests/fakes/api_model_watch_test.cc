// The model of the API server: lists and watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/api_model.h"
#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"

namespace denselet::fakes {
namespace {

using sync::ApiVerb;
using testing::ElementsAre;
using testing::IsEmpty;

class ApiModelWatchTest : public testing::Test {
 protected:
  void Create(const std::string& name, const std::string& node = "") {
    ASSERT_TRUE(model_.Serve(CreateRequest(kube::kPods, MakePod(name, node)), {}).ok());
  }
  void Delete(const std::string& name) {
    ASSERT_TRUE(model_.Serve(RequestOf(ApiVerb::kDelete, kube::kPods, {"default", name}), {}).ok());
  }
  void Bind(const std::string& name, const std::string& node) {
    ASSERT_TRUE(model_.Edit(kube::kPods, {"default", name}, [&](AnyObject& object) {
      dynamic_cast<kube::core::Pod&>(object.message()).mutable_spec()->set_nodename(node);
    }));
  }
  std::vector<std::string> Names(const ModelList& list) {
    std::vector<std::string> names;
    for (const std::string& item : list.items) names.emplace_back(kube::ReadMeta(item)->name);
    return names;
  }
  // "ADDED a@101"
  std::vector<std::string> Take(ModelWatch& watch) {
    std::vector<std::string> texts;
    for (const ModelEvent& event : model_.Take(watch, 1000)) {
      std::string text(kube::WatchEventTypeName(event.type));
      if (event.type != kube::WatchEventType::kError) {
        const kube::MetaView meta = *kube::ReadMeta(event.wire);
        text += " " + std::string(meta.name) + "@" + std::string(meta.resource_version);
        if (meta.initial_events_end) text += " end";
      }
      texts.push_back(text);
    }
    return texts;
  }
  int CodeOf(const ModelList& list) { return list.refusal ? list.refusal->http_status : 200; }
  int Watch(const ListQuery& query, ModelWatch& watch) {
    return model_.Watch(query, watch).http_status;
  }

  ListQuery query_{.resource = kube::kPods};
  ApiModel model_{100};
};

TEST_F(ApiModelWatchTest, PagesAreOfOneVersion) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Create(name);
  query_.limit = 2;
  ModelList page = model_.List(query_);
  EXPECT_THAT(Names(page), ElementsAre("a", "b"));
  EXPECT_EQ(page.version, 105u);
  Delete("d");
  Create("bb");
  query_.continue_token = page.continue_token;
  page = model_.List(query_);
  EXPECT_THAT(Names(page), ElementsAre("c", "d"));
  EXPECT_EQ(page.version, 105u);
  query_.continue_token = page.continue_token;
  page = model_.List(query_);
  EXPECT_THAT(Names(page), ElementsAre("e"));
  EXPECT_EQ(page.continue_token, "");
}

TEST_F(ApiModelWatchTest, ATokenExpiresWithItsVersionAndComesWithAnother) {
  for (const char* name : {"a", "b", "c"}) Create(name);
  query_.limit = 1;
  query_.continue_token = model_.List(query_).continue_token;
  Create("d");
  model_.Compact(model_.version());
  const ModelList expired = model_.List(query_);
  ASSERT_EQ(CodeOf(expired), 410);
  kube::meta::Status status;
  ASSERT_TRUE(status.ParseFromString(expired.refusal->wire));
  query_.continue_token = status.metadata().continue_();
  query_.limit = 0;
  EXPECT_THAT(Names(model_.List(query_)), ElementsAre("b", "c", "d"));
  query_.continue_token = "nonsense";
  EXPECT_EQ(CodeOf(model_.List(query_)), 400);
}

TEST_F(ApiModelWatchTest, AListIsAsNewAsItIsAskedFor) {
  Create("a");
  Create("b");
  model_.faults().cache_behind = 1;
  query_.resource_version = "0";
  query_.limit = 1;  // out of the cache it comes whole, and old
  EXPECT_THAT(Names(model_.List(query_)), ElementsAre("a"));
  query_.resource_version = "102";
  EXPECT_THAT(Names(model_.List(query_)), ElementsAre("a", "b"));
  query_.resource_version = "103";
  EXPECT_EQ(CodeOf(model_.List(query_)), 504);
  query_.resource_version = "x";
  EXPECT_EQ(CodeOf(model_.List(query_)), 400);
}

TEST_F(ApiModelWatchTest, AListIsAMessageThatTheClientReads) {
  Create("a");
  const ModelAnswer answer = model_.List(query_).ToAnswer(kube::kPods);
  EXPECT_EQ(answer.type.kind, "PodList");
  kube::core::PodList list;
  ASSERT_TRUE(list.ParseFromString(answer.wire));
  EXPECT_EQ(list.metadata().resourceversion(), "101");
  EXPECT_EQ(list.items(0).metadata().name(), "a");
}

TEST_F(ApiModelWatchTest, AWatchTellsWhatChangedSince) {
  Create("a");
  query_.resource_version = "101";
  ModelWatch watch;
  ASSERT_EQ(Watch(query_, watch), 200);
  EXPECT_THAT(Take(watch), IsEmpty());
  Create("b");
  Bind("b", "node");
  Delete("a");
  EXPECT_THAT(Take(watch), ElementsAre("ADDED b@102", "MODIFIED b@103", "DELETED a@104"));
  EXPECT_THAT(Take(watch), IsEmpty());
  query_.resource_version = "";
  ASSERT_EQ(Watch(query_, watch), 200);
  EXPECT_THAT(Take(watch), ElementsAre("ADDED b@103"));
}

TEST_F(ApiModelWatchTest, WhatBeginsToMatchIsNewAndWhatMatchesNoMoreIsGone) {
  Create("a");
  query_.resource_version = "101";
  query_.field_selector = "spec.nodeName=node";
  ModelWatch watch;
  ASSERT_EQ(Watch(query_, watch), 200);
  Bind("a", "node");
  Bind("a", "other");
  Create("b");
  EXPECT_THAT(Take(watch), ElementsAre("ADDED a@102", "DELETED a@103"));
  EXPECT_EQ(kube::ReadMeta(model_.Bookmark(watch).wire)->resource_version, "104");
  EXPECT_TRUE(model_.Versions(query_).empty());
}

TEST_F(ApiModelWatchTest, ServicesWithoutAnAddressAreLeftOut) {
  for (const char* ip : {"None", "10.0.0.1", ""}) {
    kube::core::Service service;
    service.mutable_metadata()->set_name("s" + std::string(ip).substr(0, 1));
    service.mutable_spec()->set_clusterip(ip);
    ASSERT_TRUE(model_.Serve(CreateRequest(kube::kServices, service), {}).ok());
  }
  query_ = {.resource = kube::kServices, .field_selector = "spec.clusterIP!=None"};
  EXPECT_THAT(Names(model_.List(query_)), ElementsAre("s", "s1"));
}

TEST_F(ApiModelWatchTest, InitialEventsEndWithABookmark) {
  Create("b");
  Create("a");
  query_.send_initial_events = query_.allow_bookmarks = true;
  ModelWatch watch;
  EXPECT_EQ(Watch(query_, watch), 422) << "without resourceVersionMatch";
  query_.version_match = "NotOlderThan";
  ASSERT_EQ(Watch(query_, watch), 200);
  Create("c");
  EXPECT_THAT(Take(watch),
              ElementsAre("ADDED a@102", "ADDED b@101", "BOOKMARK @102 end", "ADDED c@103"));
  model_.faults().refuses_initial_events = true;
  EXPECT_EQ(Watch(query_, watch), 422);
}

TEST_F(ApiModelWatchTest, AVersionThatIsNoMoreIsAnError) {
  Create("a");
  Create("b");
  model_.Compact(102);
  query_.resource_version = "101";
  ModelWatch watch;
  ASSERT_EQ(Watch(query_, watch), 200);
  EXPECT_THAT(Take(watch), ElementsAre("ERROR"));
  EXPECT_THAT(Take(watch), IsEmpty());
  query_.resource_version = "102";
  ASSERT_EQ(Watch(query_, watch), 200);
  EXPECT_THAT(Take(watch), IsEmpty());
  // A watch that lags behind a compaction is cut off, too.
  Create("c");
  model_.Compact(model_.version());
  EXPECT_THAT(Take(watch), ElementsAre("ERROR"));
}

}  // namespace
}  // namespace denselet::fakes
