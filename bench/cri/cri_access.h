// The agent's client of a container runtime on a shard of its own, driven on the caller's thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "cri/connection.h"
#include "cri/cri_shard.h"
#include "reactor/event_loop.h"
#include "reactor/real_clock.h"
#include "reactor/shard.h"

namespace denselet::bench {

class CriAccess {
 public:
  explicit CriAccess(const std::string& socket)
      : loop_(*reactor::MakeEventLoop(reactor::ProbeBackend(clock_), clock_)),
        shard_(0, *loop_, 1, reactor::MailLimits{}, all_) {
    all_.push_back(&shard_);
    auto made = cri::Connection::Make({.runtime_endpoint = socket}, clock_);
    CHECK(made);
    connection_ = *std::move(made);
    cri_ = std::make_unique<cri::CriShard>(shard_, *connection_, random_, log());
  }
  ~CriAccess() {
    cri_.reset();
    RunUntil([this] { return connection_->runtime().calls_held() == 0; });
  }

  reactor::Shard& shard() { return shard_; }
  const reactor::RealClock& clock() const { return clock_; }
  Random& random() { return random_; }
  Logger log() { return Logger(output_); }  // nobody reads it
  cri::Connection& connection() { return *connection_; }
  cri::CriShard& cri() { return *cri_; }

  template <class Predicate>
  void RunUntil(Predicate done) {
    const TimePoint limit = After(clock_.Now(), Minutes(2));
    while (!done()) {
      CHECK(clock_.Now() < limit);
      loop_->RunTurn(After(clock_.Now(), Milliseconds(100)));  // or until something happens
    }
  }

 private:
  class NoLines final : public LogSink {
   public:
    void Write(std::string_view, Severity) noexcept override {}
  };

  const reactor::RealClock clock_;
  NoLines sink_;
  const LogVerbosity verbosity_;
  const LogOutput output_{LogFormat{}, clock_, verbosity_, sink_};
  SeededRandom random_{1};
  const std::unique_ptr<reactor::EventLoop> loop_;
  std::vector<reactor::Shard*> all_;
  reactor::Shard shard_;
  std::unique_ptr<cri::Connection> connection_;
  std::unique_ptr<cri::CriShard> cri_;
};

}  // namespace denselet::bench
