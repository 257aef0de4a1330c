// The answer to "which pods are there?": read from the shards in parts of a few pods, a part a
// turn, and the next one only when the client has taken most of those before. So ten thousand pods
// cost no shard a long turn, and a client that is slow holds a few kilobytes and its own
// connection.
//
//   [ {pod}, {pod}, ... ]   shard by shard, then those that wait for their admission
//
// Pods that come or go meanwhile may be missing; none is told twice unless it changes its place.
// Lives on the home shard, owned by LocalApi, which is told when it is over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/local_api/json_out.h"
#include "base/ids.h"
#include "base/result.h"
#include "reactor/net/http1/exchange.h"
#include "reactor/shard.h"
#include "sync/core/pod_core.h"

namespace denselet::app {

class PodsAnswer final : public net::HttpServerCall,
                         public std::enable_shared_from_this<PodsAnswer> {
 public:
  static constexpr size_t kPodsPerPart = 64;

  // `ticket` is held while a shard owes an answer, not while the client takes its time.
  PodsAnswer(reactor::Shard& shard, sync::PodCore& core, std::weak_ptr<void> ticket,
             net::HttpServerExchange exchange, UniqueFunction<void()> over);

  void Start();

  // net::HttpServerCall
  void OnRoom() override { Continue(); }
  void OnGone(const Error& reason) override;

 private:
  struct Part {
    std::string pods = {};  // with commas between
    PodUid last = {};
    bool more = false;
  };

  static Result<Part> ReadPart(sync::PodCore& core, uint32_t shard, const Moment& moment,
                               const PodUid& after);
  Moment Now() const { return {shard_.loop().Now(), shard_.loop().WallNow()}; }
  void Continue();
  void Ask();
  void Take(Result<Part> part);
  void Send(const std::string& pods);
  void SendWaiting();
  void End();

  reactor::Shard& shard_;
  sync::PodCore& core_;
  const std::weak_ptr<void> ticket_;
  net::HttpServerExchange exchange_;
  UniqueFunction<void()> over_;
  uint32_t next_shard_ = 0;
  PodUid after_ = {};
  bool asking_ = false;
  bool first_ = true;
};

}  // namespace denselet::app
