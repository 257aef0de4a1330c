// Requests to one authority over few HTTP/2 connections: connects when there is something to send,
// again and again while there is, and sends again what a server has surely not processed.
//
// Lives on the shard of its loop. A connection that drains (GOAWAY) finishes what it has and is
// then closed; one that is lost fails what it had sent. Connecting fails as long as it fails, with
// growing pauses; requests wait for it until their deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/random.h"
#include "base/result.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/client_call.h"
#include "reactor/net/http2/connection.h"
#include "reactor/net/http2/options.h"

namespace denselet::net {

class ClientExchange;

struct Http2ClientOptions {
  Http2Options connection;
  // At once, those being opened included, those that drain not. When all are full, requests wait.
  uint32_t connections_max = 4;
  // Another connection is opened, up to connections_max, when fewer streams than this are free: so
  // that who comes next need not wait for it. Only while requests are under way.
  uint32_t spare_streams_min = 0;
  // Requests that wait for a stream or a connection. One more is refused with kOverloaded.
  size_t waiting_max = 1024;
  // How often a request that was surely not processed is sent again. Then its kUnavailable is told.
  // A server that takes few requests on each connection (GOAWAY) needs more.
  uint32_t retries_max = 5;
  // A streamed body is kept for that until so much of it was given or the answer has begun.
  size_t replay_bytes_max = 64 * 1024;
  Duration connect_timeout = Seconds(30);
  // Between attempts to connect: doubled from min to max, and up to a half longer by chance. Starts
  // again at min when a server has answered a request.
  Duration backoff_min = Milliseconds(200);
  Duration backoff_max = Seconds(30);
};

// What a request does when the present connections have no free stream.
enum class WhenFull : uint8_t {
  kWait,         // for a stream; more urgent ones (Context::priority) go first
  kOpenAnother,  // waits too, but a further connection is opened, up to connections_max
  kRefuse,       // kOverloaded. It waits only when no connection is open at all, and no longer than
                 // for one attempt to open one
};

// Hears how connecting goes, in turns of the loop. Must not call the client.
class Http2ClientUser {
 public:
  virtual void OnConnected() = 0;
  // An attempt came to nothing, or a connection ended before it had answered anything.
  virtual void OnConnectFailed(const Error& reason) = 0;

 protected:
  ~Http2ClientUser() = default;
};

class Http2Client final : public reactor::Deletable {
 public:
  // Makes a connected stream that speaks HTTP/2.
  using Dial = UniqueFunction<void(const Context&, reactor::Done<std::unique_ptr<Stream>>)>;

  // `user`, if any, outlives it.
  Http2Client(reactor::Loop& loop, Random& random, const Http2ClientOptions& options, Dial dial,
              Http2ClientUser* user = nullptr);
  // At once, without a call to anybody; exchanges outlive it and do nothing any more. In a call of
  // its own only by Loop::DeferDelete.
  ~Http2Client() override;
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // As Http2Connection::Start. The deadline is for waiting, too.
  std::unique_ptr<HttpExchange> Start(const Context& context, HttpRequest request, RequestBody body,
                                      WhenFull when_full, HttpClientCall& call);

  // In a later turn every exchange fails with kCancelled; connections are closed. Later requests
  // fail at once.
  void Stop();

  // Who we are has changed: present connections get no further request. kDrain: each ends when it
  // has none left. kBreak: in a later turn its exchanges fail as those of a lost connection do.
  enum class Renewal : uint8_t { kDrain, kBreak };
  void Renew(Renewal how);

  // Connections that carry nothing are given up: where they lead to may be gone without a word.
  // What waits or comes later gets new ones.
  void CloseIdle();

  // The server is there again, as others have seen: pauses between attempts to connect start over,
  // the present one ends soon.
  void RetrySoon();

  struct Counters {
    uint32_t connections = 0;  // open, those that drain included
    uint32_t dialling = 0;
    uint32_t streams = 0;  // exchanges on a connection
    size_t waiting = 0;
    uint64_t connected = 0;         // connections opened so far
    uint64_t dials_failed = 0;      // attempts that came to nothing
    uint64_t connections_lost = 0;  // ended otherwise than drained or idle
    uint64_t retries = 0;
  };
  Counters counters() const;

  // Why there is no connection, while one is wanted; in words that stay the same while it does.
  std::optional<Error> Obstacle() const;

 private:
  friend class ClientExchange;
  struct Link;

  // Those that wait, in the order in which they are served.
  using Ticket = std::pair<Priority, uint64_t>;

  // To a connection or into the queue.
  Status Admit(ClientExchange& exchange);
  void Enqueue(ClientExchange& exchange);
  void Forget(ClientExchange& exchange);

  void ScheduleServe();
  // Gives waiting requests what there is, and opens connections for the rest.
  void Serve();
  Http2Connection* FreeConnection();
  Http2Options ConnectionOptions() const;
  void FailWaiting(WhenFull which, const Error& reason);
  void DialWhatIsNeeded();
  uint32_t ConnectionsWanted() const;
  uint32_t UsableConnections() const;
  bool SpareIsShort() const;

  void StartDial();
  void OnDialled(Result<std::unique_ptr<Stream>> result);
  void OnConnectionStreams(Link& link);
  void OnConnectionClosed(Link& link, const Error& reason);
  void BackOff(const Error& reason);
  void StopNow();

  std::string WhyLate(TimePoint now) const;
  void WakeBy(TimePoint when);
  void OnTimer();

  reactor::Loop& loop_;
  Random& random_;
  const Http2ClientOptions options_;
  Dial dial_;
  Http2ClientUser* const user_;
  const std::shared_ptr<Http2Client*> self_;  // shared with tasks and dials under way
  CancelSource stopping_;                     // ends dials

  std::vector<std::unique_ptr<Link>> links_;
  std::vector<ClientExchange*> exchanges_;  // all; each knows its place
  std::map<Ticket, ClientExchange*> waiting_;
  uint64_t next_ticket_ = 0;
  Counters counters_;
  // How many streams the server took last; a new connection is trusted with no more at first.
  uint32_t streams_expected_ = UINT32_MAX;
  Duration backoff_{};
  TimePoint dial_not_before_;
  TimePoint dialling_since_;
  std::optional<Error> dial_error_;  // of the latest attempt, while there is no connection
  reactor::TimerId timer_;
  TimePoint timer_at_ = kNever;
  bool serve_posted_ = false;
  bool dial_outdated_ = false;  // Renew came while it was under way
  bool stopped_ = false;
};

}  // namespace denselet::net
