// Messages between shards, and from threads of others to a shard. No sender ever waits. What a full
// mailbox means is fixed by the kind of message:
//
//   request  a new wish. Refused with kOverloaded; the sender says what then.
//   reply    the answer to a request. Its place is reserved when the request is sent, so it is
//            never refused.
//   hint     "look at this again" (a number). When there is no room, hints are replaced by one
//            mark: "look at all".
//
// A Mailbox belongs to one shard, which alone delivers from it; each sending shard has lanes of its
// own in it, and all other threads share one set. Threads that are not ours may outlive the shard,
// so they share the mailbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/context.h"
#include "reactor/api/loop.h"
#include "reactor/event_loop.h"
#include "reactor/inbox.h"
#include "reactor/mpsc_queue.h"
#include "reactor/spsc_queue.h"

namespace denselet::reactor {

struct MailLimits {
  size_t requests_max = 4096;  // waiting, per sending shard; also of all other threads together
  size_t replies_max = 4096;  // outstanding, per pair of shards; also of all other threads together
  size_t hints_max = 8192;    // waiting, per sending shard; also of all other threads together
};

struct Message {
  QueuedContext queued;
  UniqueFunction<void(const QueuedContext&)> run;
};

// From a thread that is not ours: it has no context to bring.
struct ForeignMessage {
  TimePoint queued_at;
  Task run;
};

struct MailStats {
  uint64_t requests = 0;
  uint64_t replies = 0;
  uint64_t hints = 0;
  uint64_t hint_overflows = 0;
  Duration longest_wait{};  // between sending and delivery
  size_t deepest = 0;       // messages and hints that one turn found waiting
};

class Mailbox final : public Inbox {
 public:
  using HintHandler = UniqueFunction<void(uint64_t hint)>;

  Mailbox(EventLoop& loop, uint32_t shards, const MailLimits& limits);

  // On the owner's shard, before anyone sends. Hints that come without a handler are dropped.
  // `lost` is called instead of the hints that found no room.
  void OnHint(HintHandler handler, Task lost);

  // On the thread of shard `from`, whose loop is `sender`.
  [[nodiscard]] bool TryRequest(uint32_t from, EventLoop& sender, Message&& message);
  void Reply(uint32_t from, EventLoop& sender,
             Message&& message);  // its place is the sender's to have counted
  void Hint(uint32_t from, EventLoop& sender, uint64_t hint);

  // On any thread; after Close() nothing is taken. What is not taken is destroyed unrun.
  [[nodiscard]] bool TryForeignRequest(Task task) noexcept;
  void ForeignReply(Task task) noexcept;
  void ForeignHint(uint64_t hint) noexcept;

  // On the owner's shard, at its end: when it returns, no other thread is in a call above and none
  // will touch the loop again.
  void Close();
  // Destroys what waits; true: there was something. On the owner's shard, after its last turn.
  bool Drop();

  // On the owner's shard: places for answers from threads of others. False: all are taken.
  [[nodiscard]] bool ReserveForeignReply();

  // Inbox, on the owner's shard
  bool HasMail() const override;
  size_t Deliver(size_t messages_max) override;

  const MailStats& stats() const { return stats_; }

 private:
  template <template <class> class Queue, class M>
  struct Lanes {
    explicit Lanes(const MailLimits& limits)
        : requests(limits.requests_max), replies(limits.replies_max), hints(limits.hints_max) {}

    bool HasMail() const {
      return !replies.empty() || !requests.empty() || !hints.empty() ||
             hints_lost.load(std::memory_order_relaxed);
    }

    Queue<M> requests;
    Queue<M> replies;
    Queue<uint64_t> hints;
    std::atomic<bool> hints_lost = false;
  };

  // `reserved`: the count of reserved places that its replies give back, if it has one.
  template <class L>
  size_t DeliverLanes(L& lanes, size_t messages_max, size_t* reserved);
  template <class L>
  size_t DeliverHints(L& lanes, size_t messages_max);
  void Run(Message message);
  void Run(ForeignMessage message);

  EventLoop& loop_;
  const MailLimits limits_;
  std::vector<std::unique_ptr<Lanes<SpscQueue, Message>>> lanes_;  // by sending shard
  Lanes<MpscQueue, ForeignMessage> foreign_;
  size_t foreign_replies_reserved_ = 0;
  HintHandler on_hint_;
  Task on_hints_lost_;
  MailStats stats_;

  class ForeignVisit;
  std::atomic<bool> closed_ = false;
  std::atomic<uint32_t> foreign_visitors_ = 0;
};

}  // namespace denselet::reactor
