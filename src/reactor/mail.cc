#include "reactor/mail.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace denselet::reactor {

Mailbox::Mailbox(EventLoop& loop, uint32_t shards, const MailLimits& limits)
    : loop_(loop), limits_(limits), foreign_(limits) {
  for (uint32_t i = 0; i < shards; ++i)
    lanes_.push_back(std::make_unique<Lanes<SpscQueue, Message>>(limits));
}

void Mailbox::OnHint(HintHandler handler, Task lost) {
  on_hint_ = std::move(handler);
  on_hints_lost_ = std::move(lost);
}

bool Mailbox::TryRequest(uint32_t from, EventLoop& sender, Message&& message) {
  if (!lanes_[from]->requests.TryPush(std::move(message))) return false;
  loop_.NotifyFrom(sender);
  return true;
}

void Mailbox::Reply(uint32_t from, EventLoop& sender, Message&& message) {
  CHECK(lanes_[from]->replies.TryPush(std::move(message)));
  loop_.NotifyFrom(sender);
}

void Mailbox::Hint(uint32_t from, EventLoop& sender, uint64_t hint) {
  Lanes<SpscQueue, Message>& lanes = *lanes_[from];
  if (!lanes.hints.TryPush(std::move(hint)))
    lanes.hints_lost.store(true, std::memory_order_release);
  loop_.NotifyFrom(sender);
}

// Another thread inside the mailbox. Close() waits until there is none: the only wait, at the end
// of a shard, for a few instructions of others.
class Mailbox::ForeignVisit {
 public:
  explicit ForeignVisit(Mailbox& mailbox) : mailbox_(mailbox) { ++mailbox_.foreign_visitors_; }
  ~ForeignVisit() { --mailbox_.foreign_visitors_; }
  ForeignVisit(const ForeignVisit&) = delete;
  ForeignVisit& operator=(const ForeignVisit&) = delete;

  bool allowed() const { return !mailbox_.closed_; }

 private:
  Mailbox& mailbox_;
};

void Mailbox::Close() {
  closed_ = true;
  while (foreign_visitors_ != 0) std::this_thread::yield();
}

bool Mailbox::Drop() {
  bool some = false;
  const auto drop = [&some](auto& lanes) {
    while (lanes.requests.TryPop()) some = true;
    while (lanes.replies.TryPop()) some = true;
    while (lanes.hints.TryPop()) some = true;
  };
  drop(foreign_);
  for (const auto& lanes : lanes_) drop(*lanes);
  return some;
}

bool Mailbox::TryForeignRequest(Task task) noexcept {
  const ForeignVisit visit(*this);
  if (!visit.allowed()) return false;
  if (!foreign_.requests.TryPush({loop_.ReadClock(), std::move(task)})) return false;
  loop_.Notify();
  return true;
}

void Mailbox::ForeignReply(Task task) noexcept {
  const ForeignVisit visit(*this);
  if (!visit.allowed()) return;
  CHECK(foreign_.replies.TryPush({loop_.ReadClock(), std::move(task)}));
  loop_.Notify();
}

void Mailbox::ForeignHint(uint64_t hint) noexcept {
  const ForeignVisit visit(*this);
  if (!visit.allowed()) return;
  if (!foreign_.hints.TryPush(std::move(hint)))
    foreign_.hints_lost.store(true, std::memory_order_release);
  loop_.Notify();
}

bool Mailbox::ReserveForeignReply() {
  if (foreign_replies_reserved_ == limits_.replies_max) return false;
  ++foreign_replies_reserved_;
  return true;
}

bool Mailbox::HasMail() const {
  return foreign_.HasMail() || std::any_of(lanes_.begin(), lanes_.end(),
                                           [](const auto& lanes) { return lanes->HasMail(); });
}

size_t Mailbox::Deliver(size_t messages_max) {
  size_t delivered = 0;
  // Every lane gets its share: a flood of one sender does not hold up the others.
  delivered += DeliverLanes(foreign_, messages_max, &foreign_replies_reserved_);
  for (const auto& lanes : lanes_) delivered += DeliverLanes(*lanes, messages_max, nullptr);
  stats_.deepest = std::max(stats_.deepest, delivered);
  return delivered;
}

template <class L>
size_t Mailbox::DeliverLanes(L& lanes, size_t messages_max, size_t* reserved) {
  size_t replies = 0, requests = 0;
  // Replies first: they end work, requests begin some.
  for (; replies < messages_max; ++replies) {
    auto message = lanes.replies.TryPop();
    if (!message) break;
    // Before it runs: what it starts may need the place again.
    if (reserved != nullptr) --*reserved;
    Run(std::move(*message));
  }
  for (; replies + requests < messages_max; ++requests) {
    auto message = lanes.requests.TryPop();
    if (!message) break;
    Run(std::move(*message));
  }
  stats_.replies += replies;
  stats_.requests += requests;
  return replies + requests + DeliverHints(lanes, messages_max);
}

template <class L>
size_t Mailbox::DeliverHints(L& lanes, size_t messages_max) {
  size_t delivered = 0;
  for (; delivered < messages_max; ++delivered) {
    const std::optional<uint64_t> hint = lanes.hints.TryPop();
    if (!hint) break;
    ++stats_.hints;
    if (on_hint_) on_hint_(*hint);
  }
  if (lanes.hints_lost.load(std::memory_order_relaxed) &&
      lanes.hints_lost.exchange(false, std::memory_order_acquire)) {
    ++delivered;
    ++stats_.hint_overflows;
    if (on_hints_lost_) on_hints_lost_();
  }
  return delivered;
}

void Mailbox::Run(Message message) {
  stats_.longest_wait = std::max(stats_.longest_wait, message.queued.Waited(loop_.Now()));
  message.run(message.queued);
}

void Mailbox::Run(ForeignMessage message) {
  const Duration waited = std::max(loop_.Now() - message.queued_at, Duration::zero());
  stats_.longest_wait = std::max(stats_.longest_wait, waited);
  message.run();
}

}  // namespace denselet::reactor
