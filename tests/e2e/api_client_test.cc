// The client of the API server against a real one; run by control_plane.sh.
#include <gtest/gtest.h>

#include "sync/ports/api_typed.h"
#include "tests/e2e/api_client_fixture.h"

namespace denselet::kube {
namespace {

INSTANTIATE_TEST_SUITE_P(Loops, ApiClientTest, testing::ValuesIn(reactor::AvailableBackends()),
                         reactor::NameOfBackend);

core::ConfigMap MakeConfigMap(const std::string& name) {
  core::ConfigMap object;
  object.mutable_metadata()->set_name(name);
  object.mutable_metadata()->set_namespace_("default");
  (*object.mutable_data())["key"] = "value";
  return object;
}

sync::ApiRequest CreateRequest(const core::ConfigMap& object) {
  return {.verb = sync::ApiVerb::kCreate,
          .resource = kConfigMaps,
          .object = {"default", ""},
          .body = EncodeWire(object)};
}

TEST_P(ApiClientTest, AnObjectIsMadeReadChangedAndDeleted) {
  const std::string name = "made-" + std::string(reactor::BackendName(GetParam()));
  sync::ApiRequest request = CreateRequest(MakeConfigMap(name));
  const auto send = [&] {
    return Await<sync::ApiObject>([&](auto done) { client_->Send({}, request, std::move(done)); });
  };
  const Result<sync::ApiObject> created = send();
  ASSERT_TRUE(created) << created.error().message();
  EXPECT_EQ(ReadMeta(created->wire)->name, name);

  const Result<sync::ApiObject> again = send();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);

  request.object.name = name;
  request.verb = sync::ApiVerb::kPatch;
  request.body = R"({"data":{"key":"other","more":"1"}})";
  const Result<sync::ApiObject> patched = send();
  ASSERT_TRUE(patched) << patched.error().message();
  core::ConfigMap object;
  ASSERT_TRUE(object.ParseFromString(patched->wire));
  EXPECT_EQ(object.data().at("key"), "other");
  EXPECT_EQ(object.data().at("more"), "1");

  request.verb = sync::ApiVerb::kDelete;
  request.uid_precondition = "another";
  const Result<sync::ApiObject> refused = send();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kConflict);
  request.uid_precondition = object.metadata().uid();
  request.grace_seconds = 0;
  EXPECT_TRUE(send());

  request.verb = sync::ApiVerb::kGet;
  const Result<sync::ApiObject> missing = send();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message(),
            "the API server said 404: configmaps \"" + name + "\" not found");
}

TEST_P(ApiClientTest, AListWatchSeesWhatComesAndGoes) {
  const std::string backend(reactor::BackendName(GetParam()));
  for (const bool initial_events : {true, false}) {
    ApiClientOptions options;
    options.list_watch.initial_events = initial_events;
    Connect(options);
    const std::string name = "seen-" + backend + (initial_events ? "-a" : "-b");
    Followed followed;
    const auto list_watch = client_->Follow(
        {.resource = kConfigMaps, .ns = "default", .field_selector = "metadata.name=" + name},
        followed);
    ASSERT_TRUE(RunUntil([&] { return followed.synced == 1; }));
    EXPECT_TRUE(followed.names.empty());
    EXPECT_FALSE(list_watch->resource_version().empty());

    sync::ApiRequest request = CreateRequest(MakeConfigMap(name));
    ASSERT_TRUE(
        Await<sync::ApiObject>([&](auto done) { client_->Send({}, request, std::move(done)); }));
    ASSERT_TRUE(RunUntil([&] { return followed.names.size() == 1; }));
    EXPECT_EQ(*followed.names.begin(), "default/" + name);

    request.verb = sync::ApiVerb::kDelete;
    request.object.name = name;
    ASSERT_TRUE(
        Await<sync::ApiObject>([&](auto done) { client_->Send({}, request, std::move(done)); }));
    ASSERT_TRUE(RunUntil([&] { return followed.gone == 1; }));
    EXPECT_TRUE(followed.troubles.empty()) << followed.troubles[0];
  }
}

TEST_P(ApiClientTest, RequestsDoNotWaitBehindAThousandWatches) {
  std::vector<std::unique_ptr<Followed>> users;
  std::vector<std::unique_ptr<sync::ListWatch>> watches;
  for (int i = 0; i < 1000; ++i) {
    users.push_back(std::make_unique<Followed>());
    watches.push_back(client_->Follow({.resource = kConfigMaps,
                                       .ns = "default",
                                       .field_selector = "metadata.name=none-" + std::to_string(i)},
                                      *users.back()));
  }
  const auto synced = [&] {
    return std::ranges::all_of(users, [](const auto& user) { return user->synced > 0; });
  };
  // Long before they all stand, a request gets through.
  const Result<core::Node> none = Await<core::Node>([&](auto done) {
    sync::Get<core::Node>(*client_, {}, {.object = {"", "none"}}, std::move(done));
  });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(RunUntil(synced));
  EXPECT_GE(transport_->counters(ApiLane::kWatches).connections, 10u);
  EXPECT_LE(transport_->counters(ApiLane::kRequests).connections, 2u);
}

}  // namespace
}  // namespace denselet::kube
