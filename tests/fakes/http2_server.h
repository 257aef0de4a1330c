// The server's end of one HTTP/2 connection, made of nghttp2: for servers in tests, on any loop. It
// behaves; to misbehave is its user's part (Reset, Close, a body that stops).
//
// Owned by the user, on the loop's shard. Ends with Close and DeferDelete.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "reactor/api/loop.h"
#include "reactor/net/http/message.h"
#include "reactor/net/stream.h"

struct nghttp2_session;

namespace denselet::fakes {

class Http2ServerConnection;

struct Http2Request {
  std::string method, target;
  net::Headers headers;
  std::string body;
};

// Calls come in turns of the loop. In any of them the connection may be closed.
class Http2ServerUser {
 public:
  virtual void OnRequest(Http2ServerConnection& connection, int32_t stream,
                         Http2Request request) = 0;
  // Ended by either side. Not told of those that are open when the connection closes.
  virtual void OnStreamEnd(Http2ServerConnection& connection, int32_t stream) = 0;
  // By the peer; the last call. It is not called after Close.
  virtual void OnClosed(Http2ServerConnection& connection) = 0;

 protected:
  ~Http2ServerUser() = default;
};

class Http2ServerConnection final : public reactor::Deletable, private net::StreamUser {
 public:
  Http2ServerConnection(reactor::Loop& loop, std::unique_ptr<net::Stream> stream,
                        uint32_t streams_max, Http2ServerUser& user);
  ~Http2ServerConnection() override;

  // The answer's head; its body comes by Send and ends by End. Calls for a stream that is no more
  // do nothing.
  void Respond(int32_t stream, int status, const net::Headers& headers);
  void Send(int32_t stream, std::string_view data);
  void End(int32_t stream);
  void Reset(int32_t stream, uint32_t http2_error);
  // No further requests are taken; those before go on.
  void GoAway();
  void Close();

  bool closed() const { return closed_; }
  size_t streams() const { return streams_.size(); }

 private:
  struct OpenStream {
    Http2Request request;
    std::string body;  // to be sent
    size_t sent = 0;   // of it
    bool ended = false;
    bool responded = false;
  };
  struct Callbacks;
  friend struct Callbacks;

  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override;
  void OnRoom() override { Flush(); }
  void OnBroken(const Error& reason) override;

  OpenStream* Find(int32_t stream);
  void ScheduleFlush();
  void Flush();
  void PeerClosed();

  reactor::Loop& loop_;
  std::unique_ptr<net::Stream> stream_;
  Http2ServerUser& user_;
  const std::shared_ptr<Http2ServerConnection*> self_;  // shared with tasks under way
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, OpenStream> streams_;
  bool flush_posted_ = false;
  bool closed_ = false;
};

}  // namespace denselet::fakes
