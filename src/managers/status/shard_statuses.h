// Statuses from the shards of the pods to the API shard, and the word that they are settled back.
// Nothing of it may be lost, and only the newest of a pod counts: what does not fit into the other
// shard's mailbox is kept, one message per pod, and tried again.
//
// StatusInlet lives on the API shard, beside the sink that it leads to; ShardStatuses on each shard
// with pods (the API shard may be one), in any order of ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/unique_function.h"
#include "reactor/shard.h"
#include "sync/ports/pod_shard.h"
#include "sync/ports/pod_status.h"

namespace denselet::managers {

// At most one message per pod waits here.
template <class T>
class NewestPerPod {
 public:
  static constexpr Duration kRetry = Milliseconds(10);

  // `send` says whether it was taken.
  NewestPerPod(reactor::Loop& loop, UniqueFunction<Status(const PodUid&, const T&)> send)
      : loop_(loop), send_(std::move(send)) {}
  ~NewestPerPod() { loop_.Disarm(timer_); }
  NewestPerPod(const NewestPerPod&) = delete;
  NewestPerPod& operator=(const NewestPerPod&) = delete;

  // The message of that pod that waits, or a new one; Flush sends it.
  T& operator[](const PodUid& pod) { return waiting_[pod]; }
  size_t size() const { return waiting_.size(); }

  void Flush() {
    loop_.Disarm(timer_);
    while (!waiting_.empty()) {
      const auto next = waiting_.begin();
      if (!send_(next->first, next->second)) {
        timer_ = loop_.Arm(After(loop_.Now(), kRetry), [this] { Flush(); });
        return;
      }
      waiting_.erase(next);
    }
  }

 private:
  reactor::Loop& loop_;
  UniqueFunction<Status(const PodUid&, const T&)> send_;
  std::map<PodUid, T> waiting_;
  reactor::TimerId timer_ = {};
};

class StatusInlet final : public sync::PodStatusUser {
 public:
  // Copied to any shard. Shared: messages under way outlive who they are for. The sink is looked at
  // on the API shard only, each user on its own shard only.
  struct Ticket {
    uint32_t shard;
    std::shared_ptr<sync::PodStatusSink*> sink;
    std::vector<std::shared_ptr<sync::PodStatusUser*>> users;  // by shard
  };

  explicit StatusInlet(reactor::Shard& home);
  ~StatusInlet();

  // The manager is made with this as its user, and then given here.
  void SetSink(sync::PodStatusSink* sink) { *ticket_.sink = sink; }
  Ticket ticket() const { return ticket_; }

  // sync::PodStatusUser
  void OnStatusSettled(const PodUid& pod, uint64_t version) override;

 private:
  Status Tell(const PodUid& pod, uint64_t version);

  reactor::Shard& home_;
  const Ticket ticket_;
  NewestPerPod<uint64_t> settled_;
};

class ShardStatuses final : public sync::PodStatusSink {
 public:
  ShardStatuses(reactor::Shard& home, StatusInlet::Ticket to, sync::PodStatusUser& user);
  ~ShardStatuses();

  // sync::PodStatusSink
  void SetStatus(sync::PodStatusUpdate update) override;
  void Forget(const PodUid& pod) override;

  size_t waiting() const { return messages_.size(); }

 private:
  struct Message {
    bool forget = false;  // what was there before; then comes the update, if there is one
    sync::PodStatusUpdate update = {};
  };
  Status Send(const PodUid& pod, const Message& message);

  reactor::Shard& home_;
  const StatusInlet::Ticket to_;
  NewestPerPod<Message> messages_;
};

}  // namespace denselet::managers
