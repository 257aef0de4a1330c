// What specifications need to know of the node and what changes while pods run: its addresses, what
// there is for pods, its resolv.conf. Learnt on the home shard, told to every shard, the newest of
// it: a shard whose mail is full hears of it a little later.
//
// Lives on the home shard, owned by PodSide; destroying it ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "base/result.h"
#include "reactor/shard.h"
#include "sync/spec/node_facts.h"

namespace denselet::app {

struct NodeNews {
  sync::SpecNodeNow node = {};
  // Of a node without one: empty.
  Result<std::string> resolv_conf =
      Error(ErrorCode::kUnavailable, "the node's resolv.conf has not been read yet");
};

class NodeNewsRound {
 public:
  // Runs on the shard it is told of.
  using Tell = std::function<void(uint32_t shard, const NodeNews&)>;

  NodeNewsRound(reactor::Shard& shard, Tell tell) : shard_(shard), tell_(std::move(tell)) {}
  ~NodeNewsRound() { shard_.loop().Disarm(timer_); }
  NodeNewsRound(const NodeNewsRound&) = delete;
  NodeNewsRound& operator=(const NodeNewsRound&) = delete;

  void SetNode(sync::SpecNodeNow node) {
    if (node == news_.node) return;
    news_.node = std::move(node);
    TellAll();
  }
  void SetResolvConf(Result<std::string> text) {
    news_.resolv_conf = std::move(text);
    TellAll();
  }

 private:
  static constexpr Duration kTellAgain = Milliseconds(100);

  void TellAll() {
    for (uint32_t i = 0; i < shard_.shards(); ++i) untold_.insert(i);
    Flush();
  }
  void Flush() {
    std::erase_if(untold_, [this](uint32_t to) {
      return static_cast<bool>(shard_.Send(
          to, {}, [tell = tell_, to, news = news_](const QueuedContext&) { tell(to, news); }));
    });
    shard_.loop().Disarm(timer_);
    if (untold_.empty()) return;
    timer_ = shard_.loop().Arm(After(shard_.loop().Now(), kTellAgain), [this] { Flush(); });
  }

  reactor::Shard& shard_;
  const Tell tell_;
  NodeNews news_;
  std::set<uint32_t> untold_;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::app
