// Follows a collection of the API server: a list, then a watch from its version on, taken up again
// whenever it ends. The list comes as a watch with initial events where the server can do that, and
// in pages elsewhere.
//
//   kPaused -> kCredentials -> kInitial --------------------------> kWatching -+
//      ^                  \--> kInLine -> kListing -> (next page) --^    |      | ended: from the
//      |                   \--------------------------------------------+------+ last version on
//      +------- broken, refused: with growing pauses, which end when the server is back; a version
//               too old: from the list on, at once
//
// A page takes a turn under kubeAPIQPS like any request, and waits for it as long as it takes;
// watches take none, those with initial events included (as in client-go).
//
// Owned by its user, on the API shard; gone before the client that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "kube/api/codec/list_frames.h"
#include "kube/api/codec/watch_frames.h"
#include "kube/client/api_failure.h"
#include "kube/client/api_transport.h"
#include "kube/client/request_line.h"
#include "kube/client/watched_objects.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct ListWatchOptions {
  // Ask for the list as initial events first.
  bool initial_events = true;
  uint32_t page_items_max = 500;
  Duration page_timeout = Minutes(1);
  // Until a watch is answered at all; what it tells may then take as long as it takes.
  Duration answer_timeout = Seconds(30);
  // After a failure: doubled from min to max, up to twice as long by chance, so that a thousand
  // watches that broke together do not come back together.
  Duration backoff_min = Milliseconds(800);
  Duration backoff_max = Seconds(30);
  // When the server is back after it was away, pauses end within this, spread by chance.
  Duration wake_spread = Seconds(1);
  // A version that is too old leads to a new list: at once, then after a pause, and is trouble to
  // tell when it comes again. A watch that held for so long makes the next one the first again.
  Duration relist_period = Seconds(30);
  // A watch that held for so long makes the next pause a short one again.
  Duration backoff_reset = Minutes(2);
  // A watch that ends sooner than this, and brought nothing new, is no better than one that failed.
  Duration watch_time_least = Seconds(1);
};

class HttpListWatch final : public sync::ListWatch, private net::HttpClientCall {
 public:
  HttpListWatch(reactor::Loop& loop, Random& random, ApiTransport& transport, RequestLine& line,
                const ListWatchOptions& options, sync::ListWatchSpec spec,
                sync::ListWatchUser& user);
  ~HttpListWatch() override;

  const std::string& resource_version() const override { return version_; }

 private:
  enum class Stage : uint8_t { kPaused, kInLine, kCredentials, kInitial, kListing, kWatching };

  // HttpClientCall
  void OnHead(net::HttpResponseHead head) override;
  void OnBody(std::span<const std::byte> data) override;
  void OnEnd() override;
  void OnFailed(const Error& reason) override;

  void Begin();
  void OnTimer();
  // A page is next, which takes a turn.
  bool NeedsTurn() const { return list_due_ && !initial_events_; }
  void WaitForTurn();
  void StartInitial(const std::string& authorization);
  void StartPage(const std::string& authorization);
  void StartWatch(const std::string& authorization);
  void StartRequest(Stage stage, const std::string& authorization, const std::string& query,
                    Duration timeout);
  Duration WatchTime();

  // False: nobody follows any more, `this` is gone.
  bool ReadWatch(std::string_view piece);
  bool ReadPage(std::string_view piece);
  bool OnEvent(const WatchEvent& event);
  bool Tell(std::string_view wire, const MetaView& meta);
  bool TellGone(const WatchedObjects::Gone& gone);
  bool TellSynced();

  void OnPageEnd();
  void OnWatchEnd();
  void OnRefused(const ApiFailure& failure);
  // Ends the present request; the next one starts after a pause, no sooner than the server said.
  void Trouble(const Error& reason, Duration pause_min = {});
  void Expired(const Error& reason);
  void Unusable(const Error& reason);
  void ListAgain();
  void Pause(Duration pause);
  Duration NextPause();
  // The present watch has stood for so long.
  bool HeldFor(Duration time) const;
  // The server is back after it was away.
  void OnServerBack();

  reactor::Loop& loop_;
  Random& random_;
  ApiTransport& transport_;
  RequestLine& line_;
  const ListWatchOptions options_;
  const sync::ListWatchSpec spec_;
  sync::ListWatchUser& user_;
  const std::shared_ptr<HttpListWatch*> self_;  // shared with tasks under way

  Stage stage_ = Stage::kPaused;
  RequestLine::Place place_ = 0;  // of kInLine
  bool has_turn_ = false;         // and has not used it
  WatchedObjects objects_;
  std::string version_;    // up to which all was told
  std::string list_from_;  // the version that a list must not be older than; "0": any will do
  bool list_due_ = true;
  bool initial_events_;         // the server can do them, as far as we know
  std::string continue_token_;  // of the next page
  Duration backoff_{};
  TimePoint resume_at_;        // of a pause
  uint32_t expirations_ = 0;   // of versions, in a row
  uint64_t subscription_ = 0;  // to the server's return
  TimePoint began_at_;         // the present request
  uint64_t renewals_ = 0;      // of the transport, then
  bool brought_news_ = false;  // it got us further than we were
  bool troubled_ = false;      // as told
  reactor::TimerId timer_;
  std::unique_ptr<net::HttpExchange> exchange_;
  net::HttpResponseHead head_;
  std::string refusal_;  // the body of an answer that says no
  std::optional<WatchFrames> watch_frames_;
  std::optional<ListFrames> list_frames_;
};

}  // namespace denselet::kube
