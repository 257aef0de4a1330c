// The runtime's stream of container events, kept up for ever. Events are hints (what they say may
// be older than their stamp): each becomes a mark of its pod for the shard that owns it, on
// gRPC's thread, so that the stream is always drained.
//
//   idle --> opening --> established --(lost)--> pausing --> opening ...
//               |  \________________(failed)_______^
//               +--(has none)--> unsupported --(slowly)--> opening
//
// "Established" must be true when it is told, because a list follows that is taken for complete. A
// server that sends its headers at once proves it. Servers in Go send them with the first event;
// then the proof is the answer to a question sent after the stream on the same connection, and a
// moment for the server to get from reading the one to serving it. If the first event comes later,
// all pods are looked at once more: what was missed in that moment is found at the latest then.
//
// Lives on one shard, beside the client it uses; what it is given outlives it. Destroying it ends
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "cri/cri_metrics.h"
#include "cri/pod_hints.h"
#include "reactor/shard.h"
#include "rpc/client.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

struct EventStreamOptions {
  Duration pause_min = Milliseconds(50);
  Duration pause_max = Milliseconds(500);
  double jitter = 0.2;
  Duration settle = Milliseconds(100);
  // Established for so long, it counts as up again; one that breaks before goes on with its pauses.
  Duration held_after = Seconds(10);
  Duration ends_at_once = Seconds(1);  // a stream that ends in order before that had nothing to say
  Duration unsupported_pause = Minutes(5);
};

class EventStream {
 public:
  enum class Stage : uint8_t { kIdle, kOpening, kEstablished, kPausing, kUnsupported };

  struct Snapshot {
    Stage stage = Stage::kIdle;
    TimePoint since = {};
    uint64_t attempts = 0;  // ever
    uint64_t established = 0;
    uint32_t failures = 0;    // without one that held between
    TimePoint retry_at = {};  // of kPausing and kUnsupported
    std::optional<Error> last_error = {};
  };

  // `hints`: by shard; pods are dealt out by sync::ShardOf.
  EventStream(reactor::Shard& shard, rpc::Client& client, sync::Runtime& runtime, Random& random,
              Logger log, MetricSet<CriMetric>& metrics,
              std::vector<std::shared_ptr<PodHints>> hints, EventStreamOptions options = {});
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void Start();
  // The runtime is another one now, or back: what is paused is tried at once.
  void TryNow();

  Snapshot snapshot() const { return snapshot_; }
  static std::string_view StageName(Stage stage);

 private:
  class Sink;

  void Open();
  void OnProven(uint64_t attempt);
  void AskWhetherThere(uint64_t attempt);
  void OnEnded(uint64_t attempt, Result<Unit> result);
  void Establish();
  void OnHeld();
  void Pause(Stage stage, Duration pause);
  void Enter(Stage stage);
  Duration NextPause();

  reactor::Shard& shard_;
  reactor::Loop& loop_;
  rpc::Client& client_;
  sync::Runtime& runtime_;
  Random& random_;
  const Logger log_;
  MetricSet<CriMetric>& metrics_;
  const std::vector<std::shared_ptr<PodHints>> hints_;
  const EventStreamOptions options_;

  Snapshot snapshot_;
  TimePoint opened_at_;
  RepeatedTrouble lost_;
  uint32_t ended_at_once_ = 0;  // in a row
  std::optional<sync::EventStreamState> told_;
  reactor::TimerId timer_;
  std::unique_ptr<CancelSource> cancel_;  // of the attempt
  // The attempt counts as established without proof. Shared with its sink, which has the proof.
  std::shared_ptr<std::atomic<bool>> assumed_;
  // What callbacks look for: one that finds it gone came too late.
  const std::shared_ptr<EventStream*> self_;
};

}  // namespace denselet::cri
