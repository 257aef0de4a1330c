// Two thousand objects that pods refer to, each with a watch of its own, against a real API server:
// streams are spread over connections, and nothing else waits for them; run by control_plane.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "managers/secrets/object_cache.h"
#include "sync/ports/api_typed.h"
#include "tests/e2e/api_client_fixture.h"

namespace denselet::kube {
namespace {

constexpr size_t kWatches = 2000;
constexpr size_t kStreamsOfAConnection = 100;  // that a kube-apiserver takes

class ManyWatchesTest : public ApiClientTest, public managers::ObjectCacheUser {
 protected:
  ManyWatchesTest() {
    cache_.emplace(*loop_, random_, static_cast<managers::ObjectCacheUser&>(*this),
                   managers::ObjectCacheOptions{.first_wait_max = Minutes(2)});
    cache_->Join(*client_);
  }
  ~ManyWatchesTest() override { cache_.reset(); }

  static sync::ObjectKey Key(size_t number) {
    return {number % 2 == 0 ? sync::ObjectKind::kConfigMap : sync::ObjectKind::kSecret,
            {"default", "watched-" + std::string(reactor::BackendName(GetParam())) + "-" +
                            std::to_string(number)}};
  }
  void OnObjectChanged(const sync::ObjectKey& key, const std::vector<uint32_t>&) override {
    ++told_[key];
  }
  Status CreateMap(size_t number) {
    core::ConfigMap object;
    object.mutable_metadata()->set_name(Key(number).ref.name);
    object.mutable_metadata()->set_namespace_("default");
    const sync::ApiRequest request{.verb = sync::ApiVerb::kCreate,
                                   .resource = kConfigMaps,
                                   .object = {"default", ""},
                                   .body = EncodeWire(object)};
    const auto made =
        Await<sync::ApiObject>([&](auto done) { client_->Send({}, request, std::move(done)); });
    if (!made) return made.error();
    return Ok();
  }

  std::map<sync::ObjectKey, int> told_;
  std::optional<managers::ObjectCache> cache_;
};

INSTANTIATE_TEST_SUITE_P(Loops, ManyWatchesTest, testing::ValuesIn(reactor::AvailableBackends()),
                         reactor::NameOfBackend);

TEST_P(ManyWatchesTest, AreSpreadOverConnectionsAndHoldUpNoRequest) {
  size_t answered = 0, missing = 0;
  for (size_t i = 0; i < kWatches; ++i) {
    cache_->Hold(Key(i), 0, managers::ObjectUse::kLive, managers::ObjectNews::kNewPod);
    cache_->Fetch({}, Key(i), [&](const Result<sync::ObjectBytes>& answer) {
      ++answered;
      if (!answer && answer.error().code() == ErrorCode::kNotFound) ++missing;
    });
  }
  ASSERT_EQ(cache_->watches(), kWatches);
  // While they are brought up, and when all are there: what is asked is answered.
  size_t requests = 0;
  Duration longest{};
  const auto ask = [&] {
    const TimePoint began = loop_->Now();
    const auto node = Await<sync::ApiObject>([&](auto done) {
      client_->Send({}, {.resource = kNamespaces, .object = {"", "default"}}, std::move(done));
    });
    ASSERT_TRUE(node) << node.error().message();
    longest = std::max(longest, Duration(loop_->Now() - began));
    ++requests;
  };
  while (answered < kWatches && requests < 5000) ask();
  EXPECT_EQ(answered, kWatches);
  EXPECT_EQ(missing, kWatches) << "the server has none of them";
  for (int i = 0; i < 20; ++i) ask();
  // The server itself is slow while it takes so many at once on a busy machine; nothing waits here.
  EXPECT_LT(longest, Duration(Minutes(1)));

  const net::Http2Client::Counters watches = transport_->counters(ApiLane::kWatches);
  EXPECT_GE(watches.streams, kWatches);
  EXPECT_GE(watches.connections, kWatches / kStreamsOfAConnection);
  EXPECT_EQ(watches.waiting, 0u);
  RecordProperty("connections", static_cast<int>(watches.connections));
  RecordProperty("requests_meanwhile", static_cast<int>(requests));

  // The first and the last are told of what comes.
  told_.clear();
  for (const size_t number : {size_t{0}, kWatches - 2}) {
    ASSERT_TRUE(CreateMap(number));
    ASSERT_TRUE(RunUntil([&] { return told_[Key(number)] == 1; }));
  }
  EXPECT_EQ(told_.size(), 2u);
  for (size_t i = 0; i < kWatches; ++i) cache_->Drop(Key(i), 0);
  EXPECT_EQ(cache_->watches(), 0u);
  ASSERT_TRUE(RunUntil([&] { return transport_->counters(ApiLane::kWatches).streams == 0; }));
}

}  // namespace
}  // namespace denselet::kube
