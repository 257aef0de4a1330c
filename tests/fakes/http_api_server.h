// A model of an API server behind HTTP/2 without TLS, on any loop: what the real client talks to in
// simulations and on the loopback. It answers in protobuf, streams watches, and does to its
// answers, when told to, all that networks and servers do to them.
//
// Owned by a test, on the loop's shard. What it answered is in the model, which outlives it: a
// crash and a new start is what an API server's crash is to its clients.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/listener.h"
#include "tests/fakes/api_model.h"
#include "tests/fakes/api_routes.h"
#include "tests/fakes/http2_server.h"

namespace denselet::fakes {

// Chances are of each request; the first that hits is what happens.
struct HttpFaults {
  Duration delay_max{};     // before each answer, and before a watch hears of a change
  double lost_request = 0;  // the connection breaks, nothing was done
  double lost_answer = 0;   // it was done, and the connection breaks
  double refused = 0;       // REFUSED_STREAM
  double silent = 0;        // no answer, ever
  double too_many = 0;      // 429 with Retry-After
  double server_error = 0;  // 500 or 503
  double cut_body = 0;      // the body breaks off, or just ends
  double slow_body = 0;     // in small pieces with pauses
  double goaway = 0;        // behind the answer
  double watch_error = 0;   // a watch is told that its version is too old
  double watch_junk = 0;    // a watch without initial events brings what nobody can read
};

struct HttpApiServerOptions {
  uint32_t streams_max = 100;
  Duration bookmark_period = Minutes(1);
  Duration watch_time = Minutes(30);  // where a request does not say
  size_t piece_bytes = 700;           // of slow bodies
  Duration piece_pause = Milliseconds(300);
  std::string token = {};  // "Bearer ..." or 401; empty: anybody
};

class HttpApiServer final : private Http2ServerUser {
 public:
  struct Counters {
    uint64_t requests = 0, lists = 0, watches = 0, refused_401 = 0, expired_watches = 0,
             connections = 0;
  };

  HttpApiServer(reactor::Loop& loop, Random& random, ApiModel& model,
                const HttpApiServerOptions& options);
  ~HttpApiServer();

  // At `address`; on a real loop with port 0 first, and then at the one that was found.
  void Start(const net::Address& address);
  // All connections break, and nobody listens.
  void Crash();
  bool running() const { return listener_ != nullptr; }
  const net::Address& address() const { return *address_; }

  // Open connections end when their requests have; new ones are taken.
  void GoAway();
  // Breaks all connections, and goes on listening.
  void DropConnections();
  // Ends all watches, as a server does whose time for them is up.
  void EndWatches();

  HttpFaults& faults() { return faults_; }
  HttpApiServerOptions& options() { return options_; }
  const Counters& counters() const { return counters_; }
  size_t connections() const { return connections_.size(); }
  size_t open_watches() const { return watches_.size(); }
  // The most requests that were open on one connection at a time.
  size_t streams_peak() const { return streams_peak_; }
  // Of the latest request; empty: it had none.
  const std::string& last_authorization() const { return last_authorization_; }
  const std::string& last_target() const { return last_target_; }

 private:
  enum class Fault : uint8_t {
    kNone,
    kLostRequest,
    kLostAnswer,
    kRefused,
    kSilent,
    kTooMany,
    kServerError,
    kCutBody,
    kSlowBody,
    kGoAway,
  };
  // A connection by number, since pointers come back.
  using StreamKey = std::pair<uint64_t, int32_t>;
  struct Watching {
    ModelWatch watch;
    reactor::TimerId pump, bookmark, end;
  };

  // Http2ServerUser
  void OnRequest(Http2ServerConnection& connection, int32_t stream, Http2Request request) override;
  void OnStreamEnd(Http2ServerConnection& connection, int32_t stream) override;
  void OnClosed(Http2ServerConnection& connection) override;

  Fault DrawFault();
  void After(Duration delay, reactor::Task task);
  void Serve(StreamKey key, const Http2Request& request, Fault fault);
  ModelAnswer Execute(const ApiRoute& route);
  void Respond(StreamKey key, const ModelAnswer& answer, Fault fault);
  void SendBody(StreamKey key, std::string body, Fault fault);
  void SendPieces(StreamKey key, std::string body, size_t from, size_t until, Fault fault);
  void FinishBody(StreamKey key, Fault fault);
  void Break(StreamKey key);

  void StartWatch(StreamKey key, const ApiRoute& route);
  void PumpAll();
  void Pump(StreamKey key);
  void SendEvent(StreamKey key, const ModelEvent& event);
  void SendBookmark(StreamKey key);
  void EndWatch(StreamKey key);
  void ForgetWatch(StreamKey key);

  Http2ServerConnection* Find(uint64_t connection);
  uint64_t NumberOf(const Http2ServerConnection& connection) const;
  void Retire(uint64_t connection);

  reactor::Loop& loop_;
  Random& random_;
  ApiModel& model_;
  HttpApiServerOptions options_;
  HttpFaults faults_;
  Counters counters_;
  const std::shared_ptr<HttpApiServer*> self_;  // shared with tasks under way
  uint64_t subscription_ = 0;
  std::optional<net::Address> address_;
  std::unique_ptr<net::Listener> listener_;
  uint64_t next_connection_ = 1;
  std::map<uint64_t, std::unique_ptr<Http2ServerConnection>> connections_;
  std::map<StreamKey, Watching> watches_;
  size_t streams_peak_ = 0;
  std::string last_authorization_, last_target_;
};

}  // namespace denselet::fakes
