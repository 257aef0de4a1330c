// Events where there is no API server to send them to: they are in the log, and nowhere else.
#pragma once

#include <string>
#include <utility>

#include "base/log.h"
#include "managers/events/event_log.h"
#include "reactor/api/loop.h"
#include "sync/ports/events.h"

namespace denselet::app {

class LoggedEvents final : public sync::EventRecorder {
 public:
  LoggedEvents(reactor::Loop& loop, Logger log) : loop_(loop), log_(std::move(log)) {}

  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations&) override {
    log_.Write(loop_.Now(), object, type, reason, message);
  }

 private:
  reactor::Loop& loop_;
  events::EventLog log_;
};

}  // namespace denselet::app
