#include "sync/core/status_relay.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "kube/api/types.h"
#include "sync/ports/pod_shard.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

struct Sink final : PodStatusSink {
  void SetStatus(PodStatusUpdate update) override {
    ++told;
    versions[PodUid(std::string(update.pod->hot().uid))] = update.version;
  }
  void Forget(const PodUid& pod) override { versions.erase(pod); }
  std::map<PodUid, uint64_t> versions;
  int told = 0;
};
struct User final : PodStatusUser {
  void OnStatusSettled(const PodUid& pod, uint64_t version) override { versions[pod] = version; }
  std::map<PodUid, uint64_t> versions;
};

class StatusRelayTest : public testing::Test {
 protected:
  StatusRelayTest() {
    for (uint32_t i = 0; i < world_.size(); ++i) {
      shards_.push_back(std::make_unique<StatusOutlet>(
          world_.loop(i), [this, i](const PodUid& pod, const StatusOutlet::Message& message) {
            return world_.shard(i).Send(
                0, {},
                [this, pod, message = StatusOutlet::Message(message)](
                    const QueuedContext&) mutable { message.Deliver(pod, sink_); });
          }));
    }
  }
  Status Tell(const PodUid& pod, uint64_t version) {
    const uint32_t shard = ShardOf(pod, world_.size());
    return world_.shard(0).Send(shard, {}, [this, shard, pod, version](const QueuedContext&) {
      users_[shard].OnStatusSettled(pod, version);
    });
  }
  void On(uint32_t shard, UniqueFunction<void()> work) { world_.loop(shard).Post(std::move(work)); }
  void Run() { world_.RunUntil(After(world_.clock().Now(), Seconds(1))); }
  static PodStatusUpdate Update(const std::string& uid, uint64_t version) {
    kube::core::Pod pod;
    pod.mutable_metadata()->set_uid(uid);
    return {.pod = *kube::PodAtRest::FromPod(pod), .version = version};
  }

  // Mailboxes of four: they are full at once.
  sim::World world_{{.seed = 3, .shards = 3, .mail = {.requests_max = 4}}};
  Sink sink_;
  User users_[3];
  StatusReturn arrived_{world_.loop(0), [this](const PodUid& pod, const uint64_t& version) {
                          return Tell(pod, version);
                        }};
  std::vector<std::unique_ptr<StatusOutlet>> shards_;
};

TEST_F(StatusRelayTest, NewestOfEachPodArrivesThoughMailboxesAreSmall) {
  On(1, [&] {
    for (uint64_t version = 1; version <= 10; ++version) {
      for (int i = 0; i < 40; ++i) shards_[1]->SetStatus(Update("u" + std::to_string(i), version));
    }
    EXPECT_LE(shards_[1]->waiting(), 40U);
    EXPECT_GT(shards_[1]->waiting(), 0U);
  });
  Run();
  EXPECT_EQ(sink_.versions.size(), 40U);
  for (const auto& [pod, version] : sink_.versions) EXPECT_EQ(version, 10U);
  EXPECT_LT(sink_.told, 60);
}

TEST_F(StatusRelayTest, WordOfArrivalFindsThePodsShard) {
  On(0, [&] {
    for (int i = 0; i < 100; ++i) {
      arrived_.OnStatusSettled(PodUid("u" + std::to_string(i)), 1);
      arrived_.OnStatusSettled(PodUid("u" + std::to_string(i)), 2);
    }
  });
  Run();
  size_t told = 0;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    told += users_[shard].versions.size();
    for (const auto& [pod, version] : users_[shard].versions) {
      EXPECT_EQ(ShardOf(pod, 3), shard);
      EXPECT_EQ(version, 2U);
    }
  }
  EXPECT_EQ(told, 100U);
}

TEST_F(StatusRelayTest, PodThatCameBackStartsAnewAfterItWasForgotten) {
  On(1, [&] {
    for (int i = 0; i < 10; ++i) shards_[1]->SetStatus(Update("other" + std::to_string(i), 1));
    shards_[1]->SetStatus(Update("u", 7));
    shards_[1]->Forget(PodUid("u"));
    shards_[1]->SetStatus(Update("u", 1));
    shards_[1]->Forget(PodUid("other3"));
  });
  Run();
  EXPECT_EQ(sink_.versions[PodUid("u")], 1U);
  EXPECT_FALSE(sink_.versions.contains(PodUid("other3")));
}

}  // namespace
}  // namespace denselet::sync
