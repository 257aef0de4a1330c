// One request to the API server with all its tries: it waits for its turn under the rate limit and
// for credentials, is sent, and is sent again where the server has surely not taken it or where
// sending it twice does no harm.
//
// Owned by the ApiClient, on the API shard, until it has answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/cancel.h"
#include "base/context.h"
#include "base/random.h"
#include "kube/client/api_failure.h"
#include "kube/client/api_transport.h"
#include "kube/client/request_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct ApiCallOptions {
  uint32_t tries_max = 10;
  // Between tries where the server names no time: doubled from min to max, up to a half longer.
  Duration pause_min = Milliseconds(100);
  Duration pause_max = Seconds(10);
  // Of heartbeats, which have little time to be late.
  Duration heartbeat_pause_max = Seconds(1);
  // What was refused for our credentials (401) is tried again for so long with such pauses: others
  // may be about to come, and a server that is just starting does not know all of them yet.
  Duration unauthorized_time_max = Seconds(10);
  Duration unauthorized_pause_min = Seconds(1);
  Duration unauthorized_pause_max = Seconds(2);
  // An answer beyond this is refused with kOverloaded.
  size_t answer_bytes_max = 16 << 20;
  // Of a request whose context has no deadline.
  Duration timeout = Minutes(1);
};

// What a call uses; all of it outlives the call.
struct ApiCallParts {
  reactor::Loop& loop;
  Random& random;
  ApiTransport& transport;
  const ApiCallOptions& options;
};

class ApiCall final : public reactor::Deletable, private net::HttpClientCall {
 public:
  // `line` may be null, and outlives this. `finished` comes once, in a later turn, right before
  // `done`.
  ApiCall(const ApiCallParts& parts, RequestLine* line, const Context& context,
          sync::ApiRequest request, reactor::Done<sync::ApiObject> done,
          UniqueFunction<void(ApiCall&)> finished);
  // Cancels what is under way, without a call to anybody.
  ~ApiCall() override;

 private:
  enum class Stage : uint8_t { kLimited, kCredentials, kSent, kPause, kDone };

  // HttpClientCall
  void OnHead(net::HttpResponseHead head) override;
  void OnBody(std::span<const std::byte> data) override;
  void OnEnd() override;
  void OnFailed(const Error& reason) override;

  void WaitForTurn();
  void WaitUntil(TimePoint when, Stage stage);
  void OnTurn();
  void OnTimer();
  void OnLate();
  void LeaveLine();
  void Authorize();
  void Transmit(const std::string& authorization);
  void OnRefused(const ApiFailure& failure);
  void OnUnauthorized(const Error& error);
  // Pauses, and then tries again; when there were enough tries, the error is the answer.
  void TryAgain(const Error& reason, Duration pause);
  Duration NextPause();
  void FinishLater(Result<sync::ApiObject> result);
  void Finish(Result<sync::ApiObject> result);

  const ApiCallParts parts_;
  RequestLine* const line_;
  Context context_;
  sync::ApiRequest request_;
  reactor::Done<sync::ApiObject> done_;
  UniqueFunction<void(ApiCall&)> finished_;
  const std::shared_ptr<ApiCall*> self_;  // shared with tasks and answers under way

  Stage stage_ = Stage::kLimited;
  RequestLine::Place place_ = 0;  // of kLimited
  uint32_t tries_ = 0;
  std::optional<Error> last_failure_;  // of a try that was not the last
  std::optional<TimePoint> unauthorized_since_;
  std::optional<Duration> server_timeout_;  // as the server is told
  reactor::TimerId timer_;
  CancelRegistration cancelled_;
  std::unique_ptr<net::HttpExchange> exchange_;
  net::HttpResponseHead head_;
  std::string body_;
};

}  // namespace denselet::kube
