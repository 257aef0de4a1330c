// A watch of the real kube-apiserver in JSON and in protobuf tells the same story. Run by
// corpus_test.sh, which makes the namespace.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "kube/api/codec/watch_frames.h"
#include "tests/e2e/apiserver_fixture.h"
#include "tests/e2e/pod_answers.h"
#include "tests/kube/corpus/corpus.h"

namespace denselet::kube {
namespace {

struct Event {
  WatchEventType type;
  core::Pod pod;
};

// A watch under way, and the events that came of it so far.
class Watch {
 public:
  explicit Watch(WatchEncoding encoding) : encoding_(encoding), frames_(encoding) {}

  // Whether the pod's end has come.
  bool Ended() {
    const std::string piece = call.body.substr(fed_);
    fed_ = call.body.size();
    frames_.Feed(piece);
    while (Take()) {
    }
    if (call.over() || testing::Test::HasFailure()) return true;
    return !events_.empty() && events_.back().type == WatchEventType::kDeleted;
  }

  const std::vector<Event>& events() const { return events_; }
  std::vector<WatchEventType> types() const {
    std::vector<WatchEventType> types;
    for (const Event& event : events_) types.push_back(event.type);
    return types;
  }

  net::Call call;

 private:
  bool Take() {
    const Result<std::optional<WatchEvent>> event = frames_.Next();
    if (!event) {
      ADD_FAILURE() << event.error().message();
      return false;
    }
    if (!*event) return false;
    const std::string_view object = (*event)->object;
    events_.push_back({(*event)->type, encoding_ == WatchEncoding::kJson ? FromJson(object)
                                                                         : FromProtobuf(object)});
    return true;
  }

  const WatchEncoding encoding_;
  WatchFrames frames_;
  size_t fed_ = 0;
  std::vector<Event> events_;
};

class WatchApiServerTest : public net::ApiServerTest {};
INSTANTIATE_LOOP_TEST(WatchApiServerTest);

// A large one.
core::Pod SomePod(const std::string& name) {
  core::Pod pod;
  for (const corpus::Manifest& manifest : corpus::Manifests()) {
    if (manifest.name != "volumes-network") continue;
    EXPECT_TRUE(DecodeYaml(manifest.text, pod).ok());
  }
  pod.mutable_metadata()->set_name(name);
  return pod;
}

TEST_P(WatchApiServerTest, JsonAndProtobufTellTheSameEvents) {
  const std::string name = "watched-" + std::to_string(static_cast<int>(GetParam()));
  const std::string pods =
      "/api/v1/namespaces/" + net::Setting("DENSELET_CORPUS_NAMESPACE") + "/pods";
  const std::string watched = pods + "?watch=true&fieldSelector=metadata.name%3D" + name;
  Watch json(WatchEncoding::kJson), protobuf(WatchEncoding::kProtobuf);
  Start(json.call, "GET", watched, "", {.accepted = "application/json;stream=watch"});
  Start(protobuf.call, "GET", watched, "", {.accepted = kProtobuf + ";stream=watch"});
  ASSERT_TRUE(RunUntil([&] { return json.call.head && protobuf.call.head; }));
  EXPECT_THAT(protobuf.call.head->headers.Find("content-type"),
              testing::Pointee(kProtobuf + ";stream=watch"));

  net::Call created, changed, deleted;
  ASSERT_EQ(Ask(created, "POST", pods, EncodeJson(SomePod(name), kPod)), 201) << created.body;
  ASSERT_EQ(Ask(changed, "PATCH", pods + "/" + name, R"({"metadata":{"labels":{"a":"b"}}})",
                {.sent = "application/merge-patch+json"}),
            200)
      << changed.body;
  ASSERT_EQ(Ask(deleted, "DELETE", pods + "/" + name + "?gracePeriodSeconds=0"), 200)
      << deleted.body;

  ASSERT_TRUE(RunUntil([&] { return json.Ended() && protobuf.Ended(); }));
  ASSERT_GE(json.events().size(), 3u);
  EXPECT_EQ(json.types().front(), WatchEventType::kAdded);
  EXPECT_EQ(json.types().at(1), WatchEventType::kModified);
  EXPECT_EQ(json.types().back(), WatchEventType::kDeleted);
  ASSERT_EQ(json.types(), protobuf.types());
  for (size_t i = 0; i < json.events().size(); ++i) {
    EXPECT_EQ(EncodeJson(json.events()[i].pod), EncodeJson(protobuf.events()[i].pod));
  }
}

}  // namespace
}  // namespace denselet::kube
