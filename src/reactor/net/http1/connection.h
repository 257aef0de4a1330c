// One connection of an Http1Server: reads requests one after the other and sends their answers.
// Owned by the server; private to it and to the exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "reactor/api/loop.h"
#include "reactor/net/http1/exchange.h"
#include "reactor/net/http1/head_text.h"
#include "reactor/net/http1/parser.h"
#include "reactor/net/http1/server.h"
#include "reactor/net/stream.h"

namespace denselet::net {

class Http1Connection final : public reactor::Deletable, private StreamUser {
 public:
  Http1Connection(Http1Server& server, std::unique_ptr<Stream> stream, size_t place);
  ~Http1Connection() override;

  void Start();

  // Where the server keeps it.
  size_t place() const { return place_; }
  void set_place(size_t place) { place_ = place; }

  void EndIfIdle();
  void Cut(Http1Fault fault);

 private:
  friend class HttpServerExchange;

  //  kIdle -> kHead -> kRequest -> kIdle ...
  //                        |  \--> kDrain -> kIdle     answered before the body's end
  //     any of them -------+-----> kLinger -> kEnded
  enum class Stage : uint8_t {
    kIdle,     // no byte of a request
    kHead,     // some
    kRequest,  // the service has it, and has not ended its answer
    kDrain,    // answered; the rest of the body is dropped
    kLinger,   // nothing more is sent; waits for the peer to close
    kEnded,
  };
  enum class Response : uint8_t { kNone, kParts };

  // Of the stream.
  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override;
  void OnRoom() override;
  void OnSent() override;
  void OnBroken(const Error& reason) override;

  // Reading.
  bool MayRead() const;
  void Run(std::string_view data);
  void RunPending();
  void GoOn();
  bool Step();
  void OnHead();
  bool OnBodyPart();
  void OnRequestWhole();
  void AllReceived();
  void SendContinue();

  // Of the exchange.
  void Respond(const HttpResponseHead& head, std::string_view body);
  void Respond(int status, std::string_view content_type, std::string_view body);
  void BeginResponse(const HttpResponseHead& head);
  void SendPart(std::string_view part);
  void EndParts();
  void HoldBody();
  void ResumeBody();
  size_t unsent() const { return stream_->unsent(); }
  std::unique_ptr<Stream> Upgrade(const Headers& headers);
  void Abandon();
  void Abort();

  // Writing.
  void DecideAfter();
  void AppendHeadStart(std::string& out, int status, const Headers* headers);
  void AppendTextAnswer(std::string& out, int status, std::string_view type, std::string_view body);
  void Write(std::string text);
  void EndResponse();

  // Ending.
  void Refuse(Http1Fault fault, std::string_view detail);
  void Fail(Http1Fault fault, const Error& reason);
  void Report(Http1Fault fault, const Error& reason);
  void Linger();
  void End();
  void LeaveExchange();

  // Time.
  void Await();
  void Rearm();
  void OnTimer();
  bool CheckTransfer(TimePoint now);

  Http1Server& server_;
  reactor::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  size_t place_;
  HttpServerExchange* exchange_ = nullptr;  // where the service keeps it
  HttpServerCall* call_ = nullptr;
  std::string_view input_;                  // while running_: what is not parsed yet
  std::string pending_;                     // otherwise
  std::shared_ptr<Http1Connection*> self_;  // shared with a posted task; made when first needed

  reactor::TimerId timer_;
  TimePoint timer_at_ = kNever;
  TimePoint read_deadline_ = kNever;
  TimePoint write_deadline_ = kNever;  // while something is unsent
  uint64_t queued_bytes_ = 0;          // ever
  uint64_t taken_bytes_ = 0;           // of them by the stream, when write_deadline_ was set
  uint64_t body_left_ = 0;             // of a part-wise answer with a length
  uint64_t dropped_bytes_ = 0;         // draining or lingering

  Stage stage_ = Stage::kIdle;
  Response response_ = Response::kNone;
  BodyFraming::Kind framing_ = BodyFraming::Kind::kNone;
  bool running_ = false, posted_ = false;
  bool stream_held_ = false;
  bool receive_ended_ = false;
  // Of the request under way.
  bool request_whole_ = false, body_held_ = false, continue_wanted_ = false;
  bool is_head_ = false, is_http10_ = false, close_after_ = false;

  Http1Parser parser_;
};

}  // namespace denselet::net
