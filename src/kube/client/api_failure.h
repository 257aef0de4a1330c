// What the API server says when it says no: an HTTP status, and mostly a metav1.Status in the body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "reactor/net/http/message.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct ApiFailure {
  int http_status = 0;
  std::string reason;   // a word of the API server: "AlreadyExists"; empty when it was not it
  std::string message;  // for people
  std::optional<Duration> retry_after;
  // The namespace is being deleted and takes nothing new.
  bool namespace_terminating = false;
  // A version was asked for that the server has not reached.
  bool version_too_large = false;

  // A version that the server no longer has: only a new list helps.
  bool IsExpired() const { return http_status == 410 || reason == "Expired" || reason == "Gone"; }
  // The server is busy or about to go, and has said that the request was not taken.
  bool IsWorthRetrying() const {
    return http_status == 429 || (http_status >= 500 && retry_after.has_value());
  }
};

// `body` is protobuf, JSON or, from a proxy on the way, anything.
ApiFailure ReadApiFailure(int http_status, const net::Headers& headers, std::string_view body);
// The metav1.Status that an ERROR event of a watch carries, in an envelope or in JSON.
ApiFailure ReadStatusObject(std::string_view object);

// When to come again: no sooner than the server said, and up to a second or an eighth later by
// chance. It says the same to all whom it turns away.
Duration SpreadRetryAfter(Duration retry_after, Random& random);

// Whether a failed request may have had an effect depends on its verb. It is an answer
// (Error::answered).
Error ToError(const ApiFailure& failure, sync::ApiVerb verb);

}  // namespace denselet::kube
