#include "reactor/shard.h"

namespace denselet::reactor {

Shard::Shard(uint32_t index, EventLoop& loop, uint32_t shards, const MailLimits& limits,
             const std::vector<Shard*>& all)
    : index_(index),
      loop_(loop),
      all_(all),
      replies_max_(limits.replies_max),
      mailbox_(std::make_shared<Mailbox>(loop, shards, limits)),
      asked_(static_cast<uint32_t>(limits.replies_max * shards)),
      outstanding_(shards) {
  loop.AddInbox(*mailbox_);
}

Shard::~Shard() = default;

bool Shard::Drop() {
  const bool loop = loop_.Drop();
  const bool mail = mailbox_->Drop();
  // `done` of what was asked.
  return !asked_.TakeAll().empty() || mail || loop;
}

Status Shard::Send(uint32_t to, const Context& context, Work work) {
  if (!all_[to]->mailbox_->TryRequest(index_, loop_, MakeMessage(context, std::move(work)))) {
    return Error(ErrorCode::kOverloaded, "the mailbox of shard " + std::to_string(to) + " is full");
  }
  return Ok();
}

std::optional<ForeignSlot> Shard::ReserveForeign() {
  if (!mailbox_->ReserveForeignReply()) return std::nullopt;
  return ForeignSlot(mailbox_);
}

void ForeignSlot::Post(Task task) noexcept {
  const std::shared_ptr<Mailbox> mailbox = std::move(mailbox_);
  CHECK(mailbox != nullptr);  // posted twice
  mailbox->ForeignReply(std::move(task));
}

}  // namespace denselet::reactor
