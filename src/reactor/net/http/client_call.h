// One request and its answer as the client sees it, the same for HTTP/1 and HTTP/2: the caller
// implements HttpClientCall and drives the request through the HttpClientStream it got.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "reactor/net/http/message.h"

namespace denselet::net {

// Calls come in turns of the loop, never inside a call to the exchange: OnHead, then OnBody as
// often as there is some, then OnEnd; or OnFailed at any point. OnEnd and OnFailed are the last;
// there is exactly one of them unless the caller cancels.
class HttpClientCall {
 public:
  virtual void OnHead(HttpResponseHead head) = 0;  // never 1xx, but 101
  virtual void OnBody(std::span<const std::byte> data) = 0;
  virtual void OnEnd() = 0;
  // kUnavailable: the server has not processed the request (it could not be reached, or said so),
  // so any request may be sent again. kUnknownOutcome: it may have. kCorrupt: the peer broke the
  // protocol. kOverloaded: a limit of ours was hit. kDeadlineExceeded: a stage took too long before
  // the request was sent; after that it is kUnknownOutcome.
  virtual void OnFailed(const Error& reason) = 0;
  // The unsent part of the request's body has fallen below the mark (Stream::kRoomBytes).
  virtual void OnRoom() {}

 protected:
  ~HttpClientCall() = default;
};

// The caller's end of an exchange. Destroying it cancels what is not finished, without a further
// call; HTTP/1 loses its connection by that, HTTP/2 one stream. May be destroyed in any call.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  // A part of the request's body. Only when the exchange was started with a body.
  virtual void SendBody(std::string data) = 0;
  virtual void EndBody() = 0;
  virtual size_t unsent() const = 0;

  // Back-pressure on the answer's body: what the server sends waits, in the end at the server.
  virtual void Hold() = 0;
  virtual void Resume() = 0;
};

// How the body of a request comes.
enum class RequestBody : unsigned char {
  kNone,      // there is none
  kStreamed,  // by SendBody and EndBody; its length is unknown unless Content-Length is in the
              // headers
};

}  // namespace denselet::net
