// One request as a server's service sees it: the service is called with the request's head, and
// answers by the exchange that it was given, at once or much later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "reactor/net/http/message.h"
#include "reactor/net/http1/fault.h"
#include "reactor/net/stream.h"

namespace denselet::net {

class Http1Connection;

// What happens to a request after its head; implemented by the service where it wants to know.
// Calls come in turns of the loop, never inside a call to the exchange, and none once the answer
// has ended.
class HttpServerCall {
 public:
  virtual void OnBody(std::span<const std::byte> /*data*/) {}
  virtual void OnBodyEnd() {}
  // unsent() has fallen to Stream::kRoomBytes or less after it was more.
  virtual void OnRoom() {}
  // The client sends no more. Most have gone for good, and who works for a long time stops here;
  // one that only closed its side still reads the answer.
  virtual void OnClientEnd() {}
  // The client is gone, and with it the exchange: the last call.
  virtual void OnGone(const Error& /*reason*/) {}

 protected:
  ~HttpServerCall() = default;
};

// The service's end of an exchange: it can be moved, and is of no use (alive() is false, calls do
// nothing) once the answer has ended or the client is gone. Dropping it before the answer has begun
// answers 500; dropping it in the middle of an answer cuts the connection, so that the client does
// not take a half for the whole.
class HttpServerExchange {
 public:
  HttpServerExchange() = default;
  HttpServerExchange(HttpServerExchange&& other) noexcept;
  HttpServerExchange& operator=(HttpServerExchange&& other) noexcept;
  ~HttpServerExchange();

  bool alive() const { return connection_ != nullptr; }

  // Who is told of the rest. Without it the request's body is dropped.
  void Use(HttpServerCall& call);

  // The whole answer. For HEAD, 204 and 304 the body is not sent; a Content-Length among the
  // headers is believed for those only.
  void Respond(HttpResponseHead head, std::string_view body);
  void Respond(int status, std::string_view content_type, std::string_view body);

  // The answer in parts: chunked, or with a Content-Length among the headers just that long (an end
  // before or behind it cuts the connection). Who sends much waits for OnRoom while unsent() is
  // above Stream::kRoomBytes.
  void Begin(HttpResponseHead head);
  void Send(std::string_view part);
  void End();
  size_t unsent() const;

  // Back-pressure on the request's body.
  void Hold();
  void Resume();

  // Answers 101 with these headers and hands over the connection, with all that came behind the
  // request. Null, and nothing is done, when the request has a body or the exchange is over.
  std::unique_ptr<Stream> Upgrade(Headers headers);

  // Cuts the connection.
  void Abort();

 private:
  friend class Http1Connection;
  explicit HttpServerExchange(Http1Connection& connection);

  Http1Connection* connection_ = nullptr;  // it knows where this is
};

class HttpService {
 public:
  virtual ~HttpService() = default;

  // The headers are without Host and Transfer-Encoding. A body that follows goes to the call that
  // the exchange is told to Use, here or later in this turn.
  virtual void OnRequest(HttpRequest request, HttpServerExchange exchange) = 0;

  // A connection was ended before its time; for logs and metrics. Also called for each idle one
  // that waited too long.
  virtual void OnFault(Http1Fault /*fault*/, const Error& /*reason*/) {}
};

}  // namespace denselet::net
