// One shard as the code that lives on it sees it: its loop, and the way to the other shards. All
// calls are for the shard's own thread, but for what says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/slot_map.h"
#include "reactor/event_loop.h"
#include "reactor/mail.h"

namespace denselet::reactor {

class Shard;

// The duty to answer a request of another shard, once. Lives on the shard that was asked. One that
// dies unanswered answers kCancelled, so that nobody waits for ever.
template <class T>
class Reply {
 public:
  Reply(Reply&& other) noexcept
      : here_(std::exchange(other.here_, nullptr)), asker_(other.asker_), key_(other.key_) {}
  Reply& operator=(Reply&&) = delete;
  ~Reply() {
    if (here_ != nullptr)
      (*this)(Error(ErrorCode::kCancelled, "the request was dropped unanswered"));
  }

  void operator()(Result<T> result);

 private:
  friend class Shard;
  Reply(Shard* here, uint32_t asker, SlotKey key) : here_(here), asker_(asker), key_(key) {}

  Shard* here_;
  uint32_t asker_;
  SlotKey key_;
};

// A place for one answer from a thread that is not ours: reserved on the shard, then taken to that
// thread. One that dies unused gives the place back.
class ForeignSlot {
 public:
  ForeignSlot(ForeignSlot&& other) noexcept : mailbox_(std::move(other.mailbox_)) {}
  ForeignSlot& operator=(ForeignSlot&&) = delete;
  ~ForeignSlot() {
    if (mailbox_ != nullptr) Post([] {});
  }

  // On any thread; never blocks, never throws. `task` runs on the shard; when that has ended, it is
  // destroyed unrun.
  void Post(Task task) noexcept;

 private:
  friend class Shard;
  explicit ForeignSlot(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}
  std::shared_ptr<Mailbox> mailbox_;  // shared: the thread may outlive the shard
};

class Shard {
 public:
  using Work = UniqueFunction<void(const QueuedContext&)>;

  // `all` grows while shards are made and must be complete before the first message.
  Shard(uint32_t index, EventLoop& loop, uint32_t shards, const MailLimits& limits,
        const std::vector<Shard*>& all);
  ~Shard();

  uint32_t index() const { return index_; }
  uint32_t shards() const { return static_cast<uint32_t>(all_.size()); }
  EventLoop& loop() { return loop_; }
  Mailbox& mailbox() { return *mailbox_; }
  const std::shared_ptr<Mailbox>& shared_mailbox() const { return mailbox_; }

  // Runs `work` on shard `to`, which may be this one. kOverloaded: it did not fit and
  // was destroyed unrun.
  Status Send(uint32_t to, const Context& context, Work work);

  // Asks shard `to`: `work` runs there and answers through the Reply, now or later; `done` runs
  // here, once. kOverloaded: nothing was sent, and both were destroyed unrun.
  template <class T>
  Status Ask(uint32_t to, const Context& context,
             UniqueFunction<void(const QueuedContext&, Reply<T>)> work,
             UniqueFunction<void(Result<T>)> done);

  // "Look at this again" for shard `to`; see Mailbox::OnHint.
  void Hint(uint32_t to, uint64_t hint) { all_[to]->mailbox_->Hint(index_, loop_, hint); }

  // For an operation on a thread of others. Nothing: too many are under way (kOverloaded to the
  // caller).
  [[nodiscard]] std::optional<ForeignSlot> ReserveForeign();

  // For the end, after the last turn of all shards: destroys what waits here and in the loop. A
  // Reply that dies by it still finds its way. True: there was something.
  bool Drop();

 private:
  template <class T>
  friend class Reply;

  struct Pending {
    virtual ~Pending() = default;
  };
  template <class T>
  struct PendingOf final : Pending {
    explicit PendingOf(UniqueFunction<void(Result<T>)> d) : done(std::move(d)) {}
    UniqueFunction<void(Result<T>)> done;
  };
  struct Asked {
    uint32_t to;
    std::unique_ptr<Pending> pending;
  };

  Message MakeMessage(const Context& context, Work work) {
    return {{context, loop_.Now()}, std::move(work)};
  }
  template <class T>
  void Answered(SlotKey key, Result<T> result);

  const uint32_t index_;
  EventLoop& loop_;
  const std::vector<Shard*>& all_;
  const size_t replies_max_;
  const std::shared_ptr<Mailbox> mailbox_;
  SlotMap<Asked> asked_;
  std::vector<size_t> outstanding_;  // by asked shard; the bound of its reply lane to us
};

template <class T>
Status Shard::Ask(uint32_t to, const Context& context,
                  UniqueFunction<void(const QueuedContext&, Reply<T>)> work,
                  UniqueFunction<void(Result<T>)> done) {
  if (outstanding_[to] == replies_max_) {
    return Error(ErrorCode::kOverloaded, "too many requests of this shard are unanswered");
  }
  const std::optional<SlotKey> key =
      asked_.Insert({to, std::make_unique<PendingOf<T>>(std::move(done))});
  CHECK(key);  // as many slots as there are places for replies
  // Made there, not here: an undelivered message answers nobody.
  Status sent =
      Send(to, context,
           [there = all_[to], asker = index_, key = *key, run = std::move(work)](
               const QueuedContext& queued) mutable { run(queued, Reply<T>(there, asker, key)); });
  if (!sent) {
    asked_.Remove(*key);
    return sent;
  }
  ++outstanding_[to];
  return sent;
}

template <class T>
void Shard::Answered(SlotKey key, Result<T> result) {
  std::optional<Asked> asked = asked_.Remove(key);
  CHECK(asked);
  --outstanding_[asked->to];
  static_cast<PendingOf<T>&>(*asked->pending).done(std::move(result));
}

template <class T>
void Reply<T>::operator()(Result<T> result) {
  Shard* here = std::exchange(here_, nullptr);
  CHECK(here != nullptr);  // answered twice
  Shard* asker = here->all_[asker_];
  auto deliver = [asker, key = key_, answer = std::move(result)](const QueuedContext&) mutable {
    asker->Answered<T>(key, std::move(answer));
  };
  asker->mailbox_->Reply(here->index_, here->loop_, here->MakeMessage({}, std::move(deliver)));
}

}  // namespace denselet::reactor
