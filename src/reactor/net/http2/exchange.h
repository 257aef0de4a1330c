// One stream of an Http2Connection as its caller holds it. Internal to http2/.
//
// Owned by the caller; the connection knows it until its stream ends, and it outlives the
// connection. An answer that arrived whole while it was held is told without a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/context.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/client_call.h"

namespace denselet::net {

class Http2Connection;

class Http2Exchange final : public HttpExchange {
 public:
  Http2Exchange(reactor::Loop& loop, RequestBody body, HttpClientCall& call)
      : loop_(loop), call_(call), streams_body_(body == RequestBody::kStreamed) {}
  ~Http2Exchange() override;
  Http2Exchange(const Http2Exchange&) = delete;
  Http2Exchange& operator=(const Http2Exchange&) = delete;

  // HttpExchange
  void SendBody(std::string data) override;
  void EndBody() override;
  size_t unsent() const override { return body_.size() - body_sent_; }
  void Hold() override { held_ = true; }
  void Resume() override;

  // OnFailed, unless there was a last call already.
  void Fail(const Error& reason);
  // The same in a later turn, unless the caller destroys the exchange before.
  void FailLater(const Error& reason);

 private:
  friend class Http2Connection;
  friend struct SessionEvents;

  // Shared with posted tasks, which find null when this is gone; made when first needed.
  const std::shared_ptr<Http2Exchange*>& Self();
  // Bytes of the answer, now or when resumed.
  void Receive(std::span<const std::byte> data);
  // The answer is whole.
  void Complete();
  void Deliver();
  void OnCancelled();
  void ResumeSending();
  bool Stuck() const { return !head_sent_ || unsent() > 0; }

  reactor::Loop& loop_;
  HttpClientCall& call_;
  Http2Connection* connection_ = nullptr;  // null: no stream (yet, or any more)
  std::shared_ptr<Http2Exchange*> self_;
  CancelRegistration cancel_;
  TimePoint deadline_ = kNever;
  TimePoint progress_at_;  // the latest sending, or when there was something to send again
  size_t index_ = 0;       // in the connection's list
  int32_t id_ = 0;

  std::string body_;      // of the request
  size_t body_sent_ = 0;  // of it
  const bool streams_body_;
  bool body_ended_ = false, body_finished_ = false;  // no more is given; all was sent
  bool deferred_ = false;                            // nghttp2 waits for ResumeSending
  bool head_sent_ = false;

  HttpResponseHead head_;
  size_t head_bytes_ = 0;
  std::string kept_;  // of the answer, while held: no more than the stream's window
  bool head_told_ = false;
  bool held_ = false, complete_ = false, ended_ = false;
  bool delivery_posted_ = false;
  bool reset_by_peer_ = false;
};

}  // namespace denselet::net
