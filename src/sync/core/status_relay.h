// Statuses from the shards of the pods to the home shard, and the word that they have arrived back;
// one message per pod waits at most. StatusOutlet stands on each shard, StatusReturn on the home
// shard.
#pragma once

#include <cstdint>
#include <utility>

#include "sync/core/newest_per_pod.h"
#include "sync/ports/pod_status.h"

namespace denselet::sync {

class StatusOutlet final : public PodStatusSink {
 public:
  struct Message {
    bool forget = false;  // what was there before; then comes the update, if there is one
    PodStatusUpdate update = {};

    void Deliver(const PodUid& pod, PodStatusSink& sink) {
      if (forget) sink.Forget(pod);
      if (update.pod) sink.SetStatus(std::move(update));
    }
  };

  StatusOutlet(reactor::Loop& loop, NewestPerPod<Message>::Send send)
      : messages_(loop, std::move(send)) {}

  // PodStatusSink
  void SetStatus(PodStatusUpdate update) override {
    const PodUid pod(std::string(update.pod->hot().uid));
    messages_[pod].update = std::move(update);
    messages_.Flush();
  }
  void Forget(const PodUid& pod) override {
    messages_[pod] = {.forget = true};
    messages_.Flush();
  }

  size_t waiting() const { return messages_.size(); }

 private:
  NewestPerPod<Message> messages_;
};

class StatusReturn final : public PodStatusUser {
 public:
  StatusReturn(reactor::Loop& loop, NewestPerPod<uint64_t>::Send send)
      : versions_(loop, std::move(send)) {}

  // PodStatusUser
  void OnStatusSettled(const PodUid& pod, uint64_t version) override {
    versions_[pod] = version;
    versions_.Flush();
  }

 private:
  NewestPerPod<uint64_t> versions_;
};

}  // namespace denselet::sync
