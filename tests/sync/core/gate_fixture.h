// A gate in front of a desk, with one shard behind it that writes down what it is told.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sync/core/admission_gate.h"
#include "tests/sync/admission/desk_fixture.h"

namespace denselet::sync {

// One shard; what it is told stands in a text.
class HeardShards final : public GatedShards {
 public:
  Status Wish(uint32_t, PodWish wish) override {
    if (full) return Error(ErrorCode::kOverloaded, "full");
    constexpr const char* kKinds[] = {"add ", "change ", "gone "};
    heard += kKinds[static_cast<size_t>(wish.kind)] + std::string(wish.pod->hot().uid);
    if (wish.rejected) heard += " " + wish.rejected->reason;
    if (wish.ended) heard += " ends " + wish.ended->ending.status_reason;
    heard += "; ";
    return Ok();
  }
  Status SourcesReady(uint32_t) override {
    heard += "ready; ";
    return Ok();
  }
  void EndOrphan(const PodUid& pod) override { heard += "end " + pod.value() + "; "; }
  std::string Take() { return std::exchange(heard, ""); }

  std::string heard;
  bool full = false;
};

class AdmissionGateTest : public testing::Test, protected DeskHouse, private AdmissionGateUser {
 protected:
  AdmissionGateTest() : DeskHouse(3) { NewGate(); }

  void NewGate() {
    gate_ = std::make_unique<AdmissionGate>(world.loop(0), *desk, shards_, 1,
                                            static_cast<AdmissionGateUser&>(*this));
    gate_->OnNodeKnown();
  }
  void Open(const std::vector<std::string>& running = {}) {
    std::vector<ListedPod> pods;
    for (const std::string& uid : running) pods.push_back({.pod = {.ref = {}, .uid = PodUid(uid)}});
    gate_->OnJournalRead();
    gate_->OnListed(0, pods);
  }
  Status Wish(WishKind kind, const std::string& yaml) {
    return gate_->Wish(0, {kind, RefOf(yaml)});
  }
  void Add(const std::string& uid, const std::string& cpu = "1") {
    ASSERT_TRUE(Wish(WishKind::kAdd, SimplePod(uid, cpu)));
  }
  static std::string StaticPod(const std::string& uid, const std::string& cpu) {
    std::string yaml = SimplePod(uid, cpu);
    return yaml.replace(yaml.find("source: api"), std::string("source: api").size(),
                        "source: file");
  }
  static std::string PortPod(const std::string& uid) {
    std::string yaml = SimplePod(uid, "1");
    const std::string name = "containers: [{name: c, ";
    return yaml.insert(yaml.find(name) + name.size(),
                       "ports: [{containerPort: 80, hostPort: 8080}], ");
  }
  static std::string DeletedPod(const std::string& uid) {
    std::string yaml = SimplePod(uid, "1");
    yaml.insert(yaml.find("name: "), "deletionTimestamp: '2026-01-01T00:00:00Z', ");
    return yaml;
  }

  void OnPodRejected(const kube::PodRef& pod, const Rejection& rejection) override {
    events_ += std::string(pod->hot().uid) + " " + rejection.reason + "; ";
  }

  HeardShards shards_;
  std::string events_;
  std::unique_ptr<AdmissionGate> gate_;
};

}  // namespace denselet::sync
