// What a pod worker needs of the shard that it lives on: the ports, the calls under way, timers.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/cancel.h"
#include "base/context.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "base/slot_map.h"
#include "reactor/api/loop.h"
#include "sync/decide/pod_facts.h"
#include "sync/ledger/pod_ledger.h"
#include "sync/pleg/epoch.h"
#include "sync/pleg/observed_store.h"
#include "sync/pleg/pod_reader.h"
#include "sync/pod_worker/waiting_log.h"
#include "sync/ports/events.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime.h"

namespace denselet::sync {

class PodWorker;
struct Decision;

// References to what lives longer than any worker.
struct WorkerPorts {
  reactor::Loop& loop;
  Random& random;
  const Logger& log;
  WaitingLog& waiting_log;
  Runtime& runtime;
  EpochCounter& epochs;
  ObservedStore& store;
  PodReader& reader;
  PodResources& resources;
  PodImages& images;
  PodHooks& hooks;
  PodSpecs& specs;
  const NodeFacts& node;
};

// Names a call under way: index and generation in the shard's table. One that was answered or
// abandoned names nothing.
struct OpToken {
  SlotKey key = {};
  friend auto operator<=>(const OpToken&, const OpToken&) = default;
};

// What the end of a pod makes pointless, and what it does not.
enum class OpGroup : uint8_t { kStarts, kEnds };

class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  virtual const WorkerPorts& ports() = 0;

  // A place for a call. The record lives until the call's one answer, also after a cancel; it leads
  // back to this very worker or to nobody. kOverloaded: too many are under way.
  virtual Result<OpToken> BeginOp(PodWorker& worker, std::string_view what, OpGroup group) = 0;
  virtual Context ContextOf(OpToken op) = 0;
  // Asks for the end of it; the answer comes all the same.
  virtual void Cancel(OpToken op) = 0;
  // Asks for the end of it, and nobody hears its answer.
  virtual void Abandon(OpToken op) = 0;
  // The answer came: the worker that asked, or nobody. Ends the record.
  virtual PodWorker* Answered(OpToken op) = 0;
  // After the worker has taken the answer.
  virtual void StepSoon(const PodUid& pod) = 0;

  virtual void WakeAt(const PodUid& pod, TimePoint when) = 0;

  // What was decided, before it is begun: for metrics.
  virtual void OnWorkerDecided(const PodWorker& worker, const Decision& decision) = 0;
  // The phase moved, or something that shows in the pod's status did.
  virtual void OnWorkerChanged(PodWorker& worker) = 0;
  virtual void OnWorkerFault(PodWorker& worker, const Error& error) = 0;
  // It ends for good: to be journalled, and PodWorker::EndRecorded to be told. False: nobody keeps
  // a journal.
  virtual bool RecordEnd(const PodWorker& worker) = 0;
  // For people; what is too much is dropped on its way.
  virtual void OnWorkerEvent(ObjectEvent event) = 0;

  // A callback for a call: finds its way back by the token.
  template <class T, class Take>
  UniqueFunction<void(Result<T>)> Reply(OpToken op, Take take) {
    return [this, alive = alive_, op, take = std::move(take)](Result<T> answer) mutable {
      if (!*alive) return;
      if (PodWorker* worker = Answered(op)) Deliver(*worker, take, std::move(answer));
    };
  }

 protected:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with answers after the end

 private:
  template <class T, class Take>
  void Deliver(PodWorker& worker, Take& take, T answer);
};

}  // namespace denselet::sync
