// Sends events to the API server, one after the other, so that a count never overtakes what it
// counts. Events are help for people: when there are too many, or the server is away for long, they
// are dropped, and nothing else suffers.
//
//   idle --> sending --> idle
//               | the server cannot be reached
//               v
//            pausing (10 s, the first time a random part of that; 12 tries in all) --> sending
//
// Lives on the API shard; destroying it ends it, and what waits is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bounded_queue.h"
#include "base/cancel.h"
#include "base/context.h"
#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "managers/events/event_correlator.h"
#include "managers/events/event_log.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/events.h"

namespace denselet::events {

struct EventSenderOptions {
  std::string component = "kubelet";
  std::string host = {};  // the node's name
  // Nothing else would end a request that nobody answers.
  Duration request_time_max = Seconds(30);
};

class EventSender final : public sync::EventRecorder {
 public:
  enum class Stage : uint8_t { kIdle, kPosted, kPatching, kCreating, kPausing };
  static constexpr size_t kQueueMax = 1000;  // the next is dropped and counted
  static constexpr int kTriesMax = 12;
  static constexpr Duration kPause = Seconds(10);

  EventSender(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
              EventSenderOptions options);
  ~EventSender() override;
  EventSender(const EventSender&) = delete;
  EventSender& operator=(const EventSender&) = delete;

  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations& annotations) override;

  Stage stage() const { return stage_; }
  size_t waiting() const { return queue_.size(); }
  uint64_t dropped() const { return dropped_; }    // the queue was full
  uint64_t rejected() const { return rejected_; }  // by the server, or tried in vain

 private:
  struct Waiting {
    std::unique_ptr<Event> event;
    EventCorrelator::Moment moment;
  };

  std::unique_ptr<Event> MakeEvent(const sync::EventObject& object, sync::EventType type,
                                   std::string_view reason, std::string message,
                                   const sync::EventAnnotations& annotations);
  // Takes the next one that is to be sent.
  void Next();
  void Send();
  void Create();
  void OnPatched(Result<Event> event);
  void OnCreated(Result<Event> event);
  void OnSent(const Event& event);
  void OnFailed(const Error& error);
  void GiveUp(const Error& error);

  WallTime NextStamp();
  Context MakeContext() const;
  template <class T>
  reactor::Done<T> Guarded(void (EventSender::*method)(Result<T>));

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  EventLog event_log_;
  sync::ApiServer& api_;
  const EventSenderOptions options_;

  EventCorrelator correlator_;
  BoundedQueue<Waiting> queue_;
  Stage stage_ = Stage::kIdle;
  // The one that is being sent.
  std::unique_ptr<Event> event_;
  EventCorrelator::Decision decision_;
  int tries_ = 0;
  WallTime last_stamp_ = WallTime::min();
  uint64_t dropped_ = 0;
  uint64_t dropped_in_a_row_ = 0;  // until half of the queue was free again
  uint64_t rejected_ = 0;
  reactor::TimerId timer_;
  CancelSource cancel_;
};

}  // namespace denselet::events
