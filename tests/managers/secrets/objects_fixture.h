// Two shards, the first with the API server's side of what pods refer to, both with a front; the
// server is a model, asked through somebody who counts.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "managers/secrets/pod_objects_front.h"
#include "managers/secrets/pod_objects_home.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/sim/world.h"

namespace denselet::managers::tests {

class SilentWatch final : public sync::ListWatch {
  const std::string& resource_version() const override { return none_; }
  const std::string none_;
};

class CountingApi final : public sync::ApiServer {
 public:
  explicit CountingApi(sync::ApiServer& server) : server_(server) {}

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override {
    requests.push_back(request);
    if (no_turn != nullptr) {
      no_turn->Arm(context.deadline, [done = std::move(done)]() mutable {
        done(Error(ErrorCode::kOverloaded, "it got no turn"));
      });
      return;
    }
    if (answers_wait) {
      server_.Send(context, std::move(request),
                   [this, done = std::move(done)](Result<sync::ApiObject> answer) mutable {
                     late_.emplace_back(std::move(done), std::move(answer));
                   });
      return;
    }
    if (request.resource_version == "0" && cached) {
      server_.Send(context, std::move(request),
                   [behind = *cached, done = std::move(done)](
                       const Result<sync::ApiObject>&) mutable { done(std::move(behind)); });
      return;
    }
    server_.Send(context, std::move(request), std::move(done));
  }
  // From now on, and those that have waited.
  void LetAnswersCome() {
    answers_wait = false;
    for (auto& [done, answer] : std::exchange(late_, {})) done(std::move(answer));
  }
  // The one that has waited longest; others wait on.
  void LetOneCome() {
    auto [done, answer] = std::move(late_.front());
    late_.erase(late_.begin());
    done(std::move(answer));
  }
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override {
    followed.push_back(std::string(spec.resource.plural) + " " + spec.ns + " " +
                       spec.field_selector);
    // There is no stream left for it.
    if (watches_wait) return std::make_unique<SilentWatch>();
    return server_.Follow(std::move(spec), user);
  }

  std::vector<sync::ApiRequest> requests;
  std::vector<std::string> followed;
  bool watches_wait = false;
  bool answers_wait = false;
  std::optional<sync::ApiObject> cached = {};  // what the server's cache has; nothing: the newest
  reactor::Loop* no_turn = nullptr;            // requests are not sent until their time is over

 private:
  sync::ApiServer& server_;
  std::vector<std::pair<reactor::Done<sync::ApiObject>, Result<sync::ApiObject>>> late_;
};

class ObjectsTest : public testing::Test {
 protected:
  struct Listener final : sync::PodObjectsUser {
    void OnObjectChanged(const PodUid& pod, const sync::ObjectKey& key) override {
      told.push_back(pod.value() + " " + key.ref.name);
    }
    std::vector<std::string> told;
  };

  void Make(PodObjectsOptions options = {}) {
    home_.emplace(world_.shard(0), world_.random(), options);
    for (uint32_t i = 0; i < world_.size(); ++i) {
      fronts_.push_back(
          std::make_unique<PodObjectsFront>(world_.shard(i), home_->handle(), home_->shard()));
      fronts_[i]->AddUser(listeners_[i]);
    }
  }
  void Join() { home_->Join(api_); }
  void Run(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }

  static sync::ObjectKey MapKey(const std::string& name) {
    return {sync::ObjectKind::kConfigMap, {"space", name}};
  }
  static sync::ObjectKey SecretKey(const std::string& name) {
    return {sync::ObjectKind::kSecret, {"space", name}};
  }
  static kube::PodRef Pod(const std::string& uid, const std::string& spec) {
    kube::core::Pod pod;
    const std::string json = R"({"metadata":{"name":"p","namespace":"space","uid":")" + uid +
                             R"("},"spec":{)" + spec + "}}";
    EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
    return *kube::PodAtRest::FromPod(pod);
  }
  static std::string EnvFrom(const std::string& name) {
    return R"("containers":[{"name":"c","envFrom":[{"configMapRef":{"name":")" + name + R"("}}]}])";
  }
  static std::string Volume(const std::string& name) {
    return R"("volumes":[{"name":"v","configMap":{"name":")" + name + R"("}}])";
  }

  template <class Object>
  void Serve(sync::ApiVerb verb, const Object& object, const kube::Resource& resource) {
    const auto answer =
        model_.Serve({.verb = verb,
                      .resource = resource,
                      .object = {object.metadata().namespace_(), object.metadata().name()},
                      .body = verb == sync::ApiVerb::kDelete ? "" : kube::EncodeWire(object)},
                     world_.clock().WallNow());
    EXPECT_TRUE(answer.ok()) << answer.http_status;
  }
  void PutMap(sync::ApiVerb verb, const std::string& name, const std::string& value,
              bool immutable = false) {
    kube::core::ConfigMap map;
    map.mutable_metadata()->set_namespace_("space");
    map.mutable_metadata()->set_name(name);
    (*map.mutable_data())["k"] = value;
    if (immutable) map.set_immutable(true);
    Serve(verb, map, kube::kConfigMaps);
  }
  // As the server has it now.
  sync::ApiObject MapNow(const std::string& name) {
    return {model_
                .Serve({.verb = sync::ApiVerb::kGet,
                        .resource = kube::kConfigMaps,
                        .object = {"space", name}},
                       world_.clock().WallNow())
                .wire};
  }
  void DeleteMap(const std::string& name) { PutMap(sync::ApiVerb::kDelete, name, ""); }

  // "value", or the error's text; "nothing" while there is no answer.
  struct Asked {
    std::string text = "nothing";
    ErrorCode code = ErrorCode::kBug;
    TimePoint at = {};
  };
  std::shared_ptr<Asked> Fetch(uint32_t shard, const sync::ObjectKey& key, Context context = {}) {
    auto asked = std::make_shared<Asked>();
    fronts_[shard]->Fetch(context, key, [this, asked](Result<sync::ObjectBytes> bytes) {
      EXPECT_EQ(asked->text, "nothing") << "answered twice";
      asked->at = world_.clock().Now();
      if (!bytes) {
        asked->text = bytes.error().message();
        asked->code = bytes.error().code();
        return;
      }
      kube::core::ConfigMap map;
      ASSERT_TRUE(map.ParseFromString(**bytes));
      asked->text = map.data().at("k");
    });
    return asked;
  }
  std::string FetchNow(uint32_t shard, const sync::ObjectKey& key, Duration wait = Seconds(1)) {
    const auto asked = Fetch(shard, key);
    Run(wait);
    return asked->text;
  }

  sim::World world_{{.seed = 3, .shards = 2}};
  fakes::ApiModel model_;
  fakes::FakeApiServer server_{world_.loop(0), world_.random(), model_};
  CountingApi api_{server_};
  Listener listeners_[2];
  std::optional<PodObjectsHome> home_;
  std::vector<std::unique_ptr<PodObjectsFront>> fronts_;
};

}  // namespace denselet::managers::tests
