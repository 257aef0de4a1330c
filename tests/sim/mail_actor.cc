// Floods small mailboxes in all directions: every accepted request is answered exactly once, every
// hint is seen or covered by a later "look at all".
#include <set>
#include <string>

#include "tests/sim/scenario.h"

namespace denselet::sim {
namespace {

class MailActor final : public Actor {
 public:
  explicit MailActor(World& world) : world_(world), hinted_(world.size()) {
    for (uint32_t shard = 0; shard < world.size(); ++shard) {
      world.shard(shard).mailbox().OnHint(
          [this, shard](uint64_t hint) {
            world_.Note("hint " + std::to_string(hint));
            hinted_[shard].erase(hint);
          },
          [this, shard] {
            world_.Note("hints lost");
            hinted_[shard].clear();
          });
      Tick(shard);
    }
  }

  void Finish() override { finishing_ = true; }

  void Check(std::vector<std::string>& problems) const override {
    if (answered_ != asked_) {
      problems.push_back("asked " + std::to_string(asked_) + ", answered " +
                         std::to_string(answered_));
    }
    if (refused_ == 0) problems.push_back("no mailbox was ever full: the scenario is too tame");
    for (const auto& unseen : hinted_) {
      if (!unseen.empty()) problems.push_back("hints were lost without a mark");
    }
  }

 private:
  void Tick(uint32_t shard) {
    if (finishing_) return;
    const uint64_t burst = world_.random().Below(24);
    for (uint64_t i = 0; i < burst; ++i) AskOne(shard);
    const uint64_t hints = world_.random().Below(24);
    for (uint64_t i = 0; i < hints; ++i) HintOne(shard);
    reactor::Loop& loop = world_.loop(shard);
    const auto pause = Milliseconds(1 + static_cast<int64_t>(world_.random().Below(30)));
    loop.Arm(loop.Now() + pause, [this, shard] { Tick(shard); });
  }

  void AskOne(uint32_t from) {
    const auto to = static_cast<uint32_t>(world_.random().Below(world_.size()));
    const uint64_t question = asked_;
    const uint64_t manner = world_.random().Below(4);
    const Status sent = world_.shard(from).Ask<uint64_t>(
        to, Context{},
        [this, to, question, manner](const QueuedContext&, reactor::Reply<uint64_t> reply) {
          Answer(to, question, manner, std::move(reply));
        },
        [this, question, manner](Result<uint64_t> answer) {
          ++answered_;
          const bool dropped = manner == 0;
          const bool right = dropped ? !answer && answer.error().code() == ErrorCode::kCancelled
                                     : answer && *answer == question + 1;
          world_.Note("answer " + std::to_string(question) + (right ? "" : " WRONG"));
          CHECK(right);
        });
    if (!sent) {
      ++refused_;
      CHECK(sent.error().code() == ErrorCode::kOverloaded);
      return;
    }
    ++asked_;
  }

  void Answer(uint32_t here, uint64_t question, uint64_t manner, reactor::Reply<uint64_t> reply) {
    if (manner == 0) return;  // forgotten: the asker must hear of it all the same
    if (manner == 1) return reply(question + 1);
    reactor::Loop& loop = world_.loop(here);
    const auto pause = Milliseconds(static_cast<int64_t>(world_.random().Below(50)));
    loop.Arm(loop.Now() + pause,
             [reply = std::move(reply), question]() mutable { reply(question + 1); });
  }

  void HintOne(uint32_t from) {
    const auto to = static_cast<uint32_t>(world_.random().Below(world_.size()));
    const uint64_t hint = world_.random().Below(1000);
    hinted_[to].insert(hint);
    world_.shard(from).Hint(to, hint);
  }

  World& world_;
  std::vector<std::set<uint64_t>> hinted_;  // by receiver: not yet seen
  bool finishing_ = false;
  uint64_t asked_ = 0, answered_ = 0, refused_ = 0;
};

}  // namespace

std::unique_ptr<Actor> MakeMailActor(World& world) { return std::make_unique<MailActor>(world); }

}  // namespace denselet::sim
