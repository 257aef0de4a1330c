// A client of the API server that control_plane.sh runs beside this program, and the loop it lives
// on.
#pragma once

#include <memory>

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "kube/client/api_client.h"
#include "reactor/event_loop.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/real_clock.h"

namespace denselet::bench {

// On the backend that the agent would choose, as the cluster's administrator and without a limit of
// requests. Drives its loop on the caller's thread.
class ApiAccess {
 public:
  ApiAccess();
  ~ApiAccess();
  ApiAccess(const ApiAccess&) = delete;
  ApiAccess& operator=(const ApiAccess&) = delete;

  reactor::EventLoop& loop() { return *loop_; }
  const reactor::RealClock& clock() const { return clock_; }
  Random& random() { return random_; }
  kube::ApiClient& client() { return *client_; }
  Logger log() { return Logger(output_); }  // nobody reads it

  // Turns until `done()`, which takes no longer than five minutes.
  template <class Predicate>
  void RunUntil(Predicate done) {
    const TimePoint limit = After(clock_.Now(), Minutes(5));
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

  void Dial(const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done);

  const reactor::RealClock clock_;
  NoLines sink_;
  const LogVerbosity verbosity_;
  const LogOutput output_{LogFormat{}, clock_, verbosity_, sink_};
  SeededRandom random_{1};
  const std::unique_ptr<reactor::EventLoop> loop_;
  const std::string server_;
  net::TlsClient tls_;
  kube::NoCredentials credentials_;
  std::unique_ptr<kube::ApiTransport> transport_;
  std::unique_ptr<kube::ApiClient> client_;
};

}  // namespace denselet::bench
