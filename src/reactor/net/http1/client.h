// The client's side of one HTTP/1.1 connection, over any stream: one exchange at a time, and again
// when the server lets it. Lives on the shard of its loop.
//
//   kIdle -> kBusy -> kIdle ... -> kClosed
//               \---> kUpgraded       after 101, or a good answer to CONNECT
//
// Every stage has a time limit besides the context's deadline, and every answer a bound: a server
// that is slow, endless or malformed fails its own exchange, with the cause in the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/client_call.h"
#include "reactor/net/http/message.h"
#include "reactor/net/http1/head_text.h"
#include "reactor/net/http1/parser.h"
#include "reactor/net/stream.h"

namespace denselet::net {

struct Http1ClientOptions {
  Http1Limits limits = {.head_bytes_max = 64 * 1024, .headers_max = 256};
  int interim_max = 16;  // answers 1xx before the real one; more are a fault

  Duration transfer_timeout = Seconds(30);  // for the server to take anything of the request
  Duration head_timeout = Seconds(60);  // from the request's end to the end of the answer's head
  Duration body_timeout = Seconds(60);  // between two parts of the answer's body
};

class Http1Client final : public reactor::Deletable, private StreamUser {
 public:
  enum class State : uint8_t { kIdle, kBusy, kUpgraded, kClosed };
  // Idle again (another exchange may be started), upgraded, or closed (also while idle, by the
  // server). In a turn of its own or after the exchange's last call.
  using OnState = UniqueFunction<void(State)>;

  Http1Client(reactor::Loop& loop, std::unique_ptr<Stream> stream,
              const Http1ClientOptions& options, OnState on_state);
  // In a call of the client's only by DeferDelete. An exchange under way gets no further call.
  ~Http1Client() override;
  Http1Client(const Http1Client&) = delete;
  Http1Client& operator=(const Http1Client&) = delete;

  State state() const { return state_; }

  // Starts an exchange; not while another is under way. On a closed connection it fails, later,
  // with kUnavailable; a request that cannot stand on the wire fails with kInvalid.
  std::unique_ptr<HttpExchange> Start(const Context& context, const HttpRequest& request,
                                      RequestBody body, HttpClientCall& call);
  // The same with the whole body, in one message.
  std::unique_ptr<HttpExchange> Start(const Context& context, const HttpRequest& request,
                                      std::string_view whole_body, HttpClientCall& call);

  // When kUpgraded, from OnHead on: the connection, with all that came behind the head.
  std::unique_ptr<Stream> TakeStream();

  void Close();

 private:
  class Exchange;

  // Of the stream.
  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override;
  void OnRoom() override;
  void OnBroken(const Error& reason) override;

  // Sending.
  std::unique_ptr<HttpExchange> Begin(const Context& context, HttpClientCall& call);
  std::string RequestHead(const HttpRequest& request, const BodyFraming& framing);
  void SendBody(std::string data);
  void EndBody();
  void Write(std::string text);

  // Receiving.
  void Hold();
  void HoldBody();
  void Resume();
  void Run(std::string_view data);
  void RunPending();
  // A hold is for the body.
  bool MayRead() const { return state_ == State::kBusy && !(held_ && head_came_); }
  bool Step();
  void OnHead();
  void OnEnd();

  // Ending.
  Error Cut(std::string_view how) const;
  void Fail(const Error& reason);
  void FailLater(Error reason);
  void Leave();
  void Shut();
  void Abandon();
  void Tell();

  // Time.
  void Await();
  void Rearm();
  void OnTimer();
  void OnStageTimeout(TimePoint now);

  // Runs `task` in a turn of its own, unless the client is gone or closed by then.
  void Later(void (Http1Client::*task)());

  reactor::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  const Http1ClientOptions options_;
  OnState on_state_;
  Http1Parser parser_;
  std::shared_ptr<Http1Client*> self_;  // shared with posted tasks; made when first needed

  Exchange* exchange_ = nullptr;  // the caller owns it
  HttpClientCall* call_ = nullptr;
  CancelRegistration cancel_;
  std::optional<Error> failure_;  // on its way to the call
  std::string_view input_;        // while running_: what is not parsed yet
  std::string pending_;           // otherwise

  reactor::TimerId timer_;
  TimePoint timer_at_ = kNever;
  TimePoint deadline_ = kNever;        // the context's
  TimePoint read_deadline_ = kNever;   // of the stage
  TimePoint write_deadline_ = kNever;  // while something is unsent
  uint64_t queued_bytes_ = 0;          // ever
  uint64_t taken_bytes_ = 0;           // of them by the stream, when write_deadline_ was set
  uint64_t exchange_began_at_ = 0;     // in queued_bytes_
  BodyFraming framing_;                // of the request; its length: what is left

  State state_ = State::kIdle;
  int interim_count_ = 0;
  bool running_ = false, held_ = false, receive_ended_ = false;
  bool body_ended_ = true, head_came_ = false, answer_came_ = false, is_safe_ = false;
  bool is_connect_ = false, is_upgrade_ = false, close_after_ = false;
};

}  // namespace denselet::net
