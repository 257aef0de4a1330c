// An HTTP/1.1 server: listens, or is given streams that others accepted (TLS), and asks one
// service. Lives on the shard of its loop.
//
// Every connection is bounded in memory and time: a peer that is slow, endless or malformed loses
// its own connection, with an answer that names the cause where one can still be sent, and
// HttpService::OnFault is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/http1/exchange.h"
#include "reactor/net/http1/head_text.h"
#include "reactor/net/http1/parser.h"
#include "reactor/net/listener.h"
#include "reactor/net/stream.h"

namespace denselet::net {

struct Http1ServerOptions {
  // 413, 414 or 431 when reached.
  Http1Limits limits = {
      .head_bytes_max = 32 * 1024, .headers_max = 128, .body_bytes_max = 4 * 1024 * 1024};
  // Further ones wait in the kernel's queue (one more may have been on its way).
  size_t connections_max = 1024;
  // Received behind a request that is being answered; further ones wait at the client.
  size_t pipeline_bytes_max = 16 * 1024;
  // Of a request's body that nobody wants any more, so that the connection can go on; what is
  // longer ends it.
  uint64_t drain_bytes_max = 256 * 1024;

  Duration head_timeout = Seconds(10);      // from its first byte to its last
  Duration idle_timeout = Seconds(60);      // for the first byte of a request
  Duration body_timeout = Seconds(30);      // between two parts of a request's body
  Duration transfer_timeout = Seconds(30);  // for the client to take anything of the answer
  Duration linger_timeout = Seconds(2);     // for the client to close, after us
};

class Http1Connection;

class Http1Server {
 public:
  // `service` outlives the server.
  Http1Server(reactor::Loop& loop, HttpService& service, const Http1ServerOptions& options);
  // Cuts what is left, without a call to anybody. In a call of the server's only by DeferDelete.
  ~Http1Server();
  Http1Server(const Http1Server&) = delete;
  Http1Server& operator=(const Http1Server&) = delete;

  // May be asked for several addresses; returns with the port that was chosen.
  Result<Address> Listen(const Address& address);
  // On a socket that listens already; it is the server's from here on.
  void ListenOn(int fd, const Address& address);
  void Serve(std::unique_ptr<Stream> stream);

  // Listens no more; idle connections are closed, those with a request end after its answer, and
  // what is left after `limit` is cut (OnGone). Then, later, `done`.
  void Stop(Duration limit, UniqueFunction<void()> done);

  size_t connections() const { return connections_.size(); }

 private:
  friend class Http1Connection;

  void Remove(Http1Connection& connection);
  void CutAll();
  void StoppedWhenEmpty();

  reactor::Loop& loop_;
  HttpService& service_;
  const Http1ServerOptions options_;
  DateLine date_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Http1Connection>> connections_;
  UniqueFunction<void()> stopped_;
  reactor::TimerId stop_timer_;
  bool full_ = false;  // the listeners are held
  bool stopping_ = false;
};

}  // namespace denselet::net
