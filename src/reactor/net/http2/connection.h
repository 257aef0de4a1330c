// The client's end of one HTTP/2 connection: many exchanges at once over one Stream.
//
// Lives on the shard of its loop. Frames written in a turn leave together, in a task at the start
// of the next. A peer that breaks the protocol, floods or falls silent loses this connection with
// a reason; what it does wrong on one stream alone fails that exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/client_call.h"
#include "reactor/net/http2/flood_guard.h"
#include "reactor/net/http2/options.h"
#include "reactor/net/stream.h"

struct nghttp2_session;

namespace denselet::net {

class Http2Exchange;

// Who owns connections and wants to know of them. Calls come in turns of the loop; in them the
// connection may be destroyed only by Loop::DeferDelete.
class Http2ConnectionUser {
 public:
  // free_streams() or draining() may have changed.
  virtual void OnStreams() = 0;
  // Of no use any more: broken, drained after GOAWAY, idle for too long or shut down. The last
  // call; comes after those to the exchanges.
  virtual void OnClosed(const Error& reason) = 0;

 protected:
  ~Http2ConnectionUser() = default;
};

class Http2Connection final : public reactor::Deletable, private StreamUser {
 public:
  // Takes a connected stream: plain with prior knowledge, or TLS that has agreed on "h2". `user`
  // may be null.
  Http2Connection(reactor::Loop& loop, std::unique_ptr<Stream> stream, const Http2Options& options,
                  Http2ConnectionUser* user);
  // At once, without a call to anybody. Exchanges outlive it and do nothing any more, but for
  // answers that had arrived whole.
  ~Http2Connection() override;
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // `call` lives until its last call or the end of the exchange. The context's deadline is for the
  // whole exchange; its end resets the stream, as does its cancel, which is answered with
  // kCancelled. Fails, in a later turn, with
  //   kInvalid      the request cannot be said in HTTP/2, or is longer than the server takes
  //   kOverloaded   free_streams() is 0
  //   kUnavailable  the connection is draining or closed; the server refused the stream or said
  //                 that it has not seen it; it was not sent before progress_timeout
  // and otherwise as client_call.h says. Headers that belong to HTTP/1 connections are left out.
  std::unique_ptr<HttpExchange> Start(const Context& context, const HttpRequest& request,
                                      RequestBody body, HttpClientCall& call);

  // In a later turn exchanges fail (kUnavailable when not sent) and the user hears OnClosed.
  void Shutdown(const Error& reason);

  uint32_t streams() const { return static_cast<uint32_t>(exchanges_.size()); }
  // The server's SETTINGS_MAX_CONCURRENT_STREAMS, but no more than our own bound.
  uint32_t streams_max() const;
  // How many Start() would take now.
  uint32_t free_streams() const;
  // The server sent GOAWAY: open exchanges go on, new ones go elsewhere.
  bool draining() const { return draining_; }
  bool closed() const { return closed_; }
  // The server's SETTINGS have come: streams_max() is what it says.
  bool settled() const { return settings_received_; }
  // It was closed because nobody had used it for idle_timeout.
  bool idled() const { return idled_; }
  // An answer has begun on this connection: the server is one that works.
  bool proven() const { return proven_; }

 private:
  friend class Http2Exchange;
  friend struct SessionEvents;

  // StreamUser
  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override;
  void OnRoom() override { Flush(); }
  void OnBroken(const Error& reason) override;

  void MakeSession();
  Status Submit(const Context& context, const HttpRequest& request, RequestBody body,
                Http2Exchange& exchange);
  void ScheduleFlush();
  void Flush();
  bool PullFrames();
  void TellRoom();
  void TellStreams();

  // The exchange has no stream any more; the stream, if it lives, has no exchange.
  void Detach(Http2Exchange& exchange);
  // Detaches, and resets the stream.
  void Abandon(Http2Exchange& exchange, uint32_t http2_error);
  void Fail(Http2Exchange& exchange, const Error& reason);
  void FailUnsent(const Error& reason);
  // What nghttp2 holds back beyond the server's limit: it would wait there for a stream to end,
  // which a watch never does.
  void ShedUnsent();

  // For reasons that a GOAWAY before them explains: " after GOAWAY (...)", or nothing.
  std::string AfterGoAway() const { return goaway_.empty() ? "" : " after " + goaway_; }
  void Break(const Error& reason);
  void DropSession();

  // One timer for everything: it is never later than the first thing due, and looks at all.
  void WakeBy(TimePoint when);
  void OnTimer();
  TimePoint CheckConnection(TimePoint now);
  void CheckExchanges(TimePoint now);
  TimePoint NextExchangeDue() const;

  reactor::Loop& loop_;
  const Http2Options options_;
  std::unique_ptr<Stream> stream_;
  Http2ConnectionUser* user_;
  const std::shared_ptr<Http2Connection*> self_;  // shared with tasks under way
  nghttp2_session* session_ = nullptr;            // null: closed

  std::vector<Http2Exchange*> exchanges_;  // each knows its place
  Http2Exchange* current_ = nullptr;       // whose call runs; null again when it dies in it
  std::vector<Http2Exchange*> room_;       // to be told of room; null when died since
  std::string out_;                        // frames on their way into one Send

  FloodGuard guard_;
  reactor::TimerId timer_;
  TimePoint timer_at_ = kNever;
  TimePoint started_at_, received_at_, idle_since_;
  bool owes_bytes_ = false;  // nothing has come since an exchange began
  std::optional<TimePoint> pinged_at_;
  std::optional<Error> fault_;  // found by nghttp2, which says GOAWAY
  std::string detail_;          // its last words
  std::string goaway_;          // the server's, as GoAwayText; empty: it said none
  bool in_session_ = false;     // nghttp2 is on the stack
  bool flush_posted_ = false;
  bool streams_changed_ = false;
  bool settings_received_ = false;
  bool frame_counted_ = false;  // the DATA frame being received may prove useful
  bool draining_ = false, closed_ = false, proven_ = false, idled_ = false;
};

}  // namespace denselet::net
