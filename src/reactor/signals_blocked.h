// For making a thread that takes no signals: a thread is born with its maker's mask, so while this
// lives on the maker's stack, what it starts leaves signals meant for the process to others.
// SIGPIPE becomes the EPIPE that the caller handles.
#pragma once

#include <pthread.h>

#include <csignal>

#include "base/check.h"

namespace denselet::reactor {

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    CHECK(::pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace denselet::reactor
