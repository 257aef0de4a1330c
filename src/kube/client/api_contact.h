// Whether the API server can be reached and takes us for who we are. People are told when that
// changes, and again now and then while it lasts; who pauses because of it is told when it is over,
// so that nobody sleeps on beside a server that is back.
//
// Owned by the ApiTransport, on the API shard.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/unique_function.h"
#include "reactor/api/loop.h"

namespace denselet::kube {

struct ApiContactOptions {
  // Without one, nobody is told in words.
  std::optional<Logger> log = {};
  std::string server = {};      // for the log
  std::string kubeconfig = {};  // the file that says so
};

class ApiContact {
 public:
  // Who pauses are woken at most so often: a server that comes and goes all the time must not undo
  // their pauses.
  static constexpr Duration kWakePause = Seconds(5);

  ApiContact(reactor::Loop& loop, ApiContactOptions options);

  // An attempt to connect came to nothing, or the connection ended before it had answered anything.
  void OnConnectFailed(const Error& reason);
  void OnConnected();
  // A request was answered, with whatever HTTP status.
  void OnAnswer(int status);
  // 401, in the server's words.
  void OnUnauthorized(const Error& reason);

  // Why, while it cannot be connected to.
  const std::optional<Error>& unreachable() const { return last_failure_; }
  // The server has answered at all.
  bool answered() const { return answered_; }

  // `wake` is called, in a turn, when the server is back after it could not be reached, or takes us
  // again. It must not subscribe, unsubscribe or call anybody.
  uint64_t Subscribe(UniqueFunction<void()> wake);
  void Unsubscribe(uint64_t subscription) { sleepers_.erase(subscription); }

 private:
  void Wake();

  reactor::Loop& loop_;
  const ApiContactOptions options_;
  RepeatedTrouble unreachable_, unauthorized_;
  std::optional<Error> last_failure_ = {};
  bool connected_ = false;  // since the last failure to
  bool answered_ = false;
  TimePoint last_answer_at_;  // if any
  TimePoint wake_not_before_ = TimePoint::min();
  uint64_t next_subscription_ = 1;
  std::map<uint64_t, UniqueFunction<void()>> sleepers_;  // in the order in which they came
};

}  // namespace denselet::kube
