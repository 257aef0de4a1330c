#include "managers/status/shard_statuses.h"

namespace denselet::managers {
namespace {

// Ends and readiness are sorted out by the manager; on the way all are alike.
Context OnTheWay() {
  return {.deadline = kNever, .priority = Priority::kReadiness, .cancel = {}, .trace = {}};
}

StatusInlet::Ticket MakeTicket(const reactor::Shard& home) {
  StatusInlet::Ticket ticket{home.index(), std::make_shared<sync::PodStatusSink*>(nullptr), {}};
  for (uint32_t i = 0; i < home.shards(); ++i) {
    ticket.users.push_back(std::make_shared<sync::PodStatusUser*>(nullptr));
  }
  return ticket;
}

}  // namespace

StatusInlet::StatusInlet(reactor::Shard& home)
    : home_(home),
      ticket_(MakeTicket(home)),
      settled_(home.loop(),
               [this](const PodUid& pod, const uint64_t& version) { return Tell(pod, version); }) {}

StatusInlet::~StatusInlet() { *ticket_.sink = nullptr; }

void StatusInlet::OnStatusSettled(const PodUid& pod, uint64_t version) {
  settled_[pod] = version;
  settled_.Flush();
}

Status StatusInlet::Tell(const PodUid& pod, uint64_t version) {
  const uint32_t shard = sync::ShardOf(pod, home_.shards());
  return home_.Send(shard, OnTheWay(),
                    [user = ticket_.users[shard], pod, version](const QueuedContext&) {
                      if (*user != nullptr) (*user)->OnStatusSettled(pod, version);
                    });
}

ShardStatuses::ShardStatuses(reactor::Shard& home, StatusInlet::Ticket to,
                             sync::PodStatusUser& user)
    : home_(home),
      to_(std::move(to)),
      messages_(home.loop(),
                [this](const PodUid& pod, const Message& message) { return Send(pod, message); }) {
  *to_.users[home.index()] = &user;
}

ShardStatuses::~ShardStatuses() { *to_.users[home_.index()] = nullptr; }

void ShardStatuses::SetStatus(sync::PodStatusUpdate update) {
  const PodUid pod(std::string(update.pod->hot().uid));
  messages_[pod].update = std::move(update);
  messages_.Flush();
}

void ShardStatuses::Forget(const PodUid& pod) {
  messages_[pod] = {.forget = true};
  messages_.Flush();
}

Status ShardStatuses::Send(const PodUid& pod, const Message& message) {
  return home_.Send(to_.shard, OnTheWay(),
                    [sink = to_.sink, pod, message](const QueuedContext&) mutable {
                      if (*sink == nullptr) return;
                      if (message.forget) (*sink)->Forget(pod);
                      if (message.update.pod) (*sink)->SetStatus(std::move(message.update));
                    });
}

}  // namespace denselet::managers
