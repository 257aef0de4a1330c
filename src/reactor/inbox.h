// Where messages of other threads wait for a loop. The loop asks each of its inboxes once a turn.
#pragma once

#include <cstddef>

namespace denselet::reactor {

class Inbox {
 public:
  virtual ~Inbox() = default;
  // On the loop's thread. True when Deliver would do something; asked after the loop has announced
  // that it is about to sleep, so that a message that came just before is seen.
  virtual bool HasMail() const = 0;
  // Runs up to messages_max waiting messages; returns how many.
  virtual size_t Deliver(size_t messages_max) = 0;
};

}  // namespace denselet::reactor
