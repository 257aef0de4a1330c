#include "kube/client/list_watch.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/envelope.h"
#include "kube/client/api_request_text.h"

namespace denselet::kube {
namespace {

constexpr size_t kRefusalBytesMax = 64 * 1024;
// How much longer than it was asked to a server may keep a watch open.
constexpr Duration kWatchGrace = Seconds(30);

std::string_view ToText(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

bool IsOk(const net::HttpResponseHead& head) { return head.status == 200; }

bool IsProtobuf(const net::HttpResponseHead& head) {
  const std::string* type = head.headers.Find("content-type");
  return type != nullptr && type->starts_with(kProtobufContentType);
}

}  // namespace

HttpListWatch::HttpListWatch(reactor::Loop& loop, Random& random, ApiTransport& transport,
                             RequestLine& line, const ListWatchOptions& options,
                             sync::ListWatchSpec spec, sync::ListWatchUser& user)
    : loop_(loop),
      random_(random),
      transport_(transport),
      line_(line),
      options_(options),
      spec_(std::move(spec)),
      user_(user),
      self_(std::make_shared<HttpListWatch*>(this)),
      list_from_("0"),
      initial_events_(options.initial_events) {
  subscription_ = transport_.contact().Subscribe([this] { OnServerBack(); });
  Pause(Duration::zero());
}

HttpListWatch::~HttpListWatch() {
  *self_ = nullptr;
  if (stage_ == Stage::kInLine) line_.Leave(place_);
  transport_.contact().Unsubscribe(subscription_);
  loop_.Disarm(timer_);
}

void HttpListWatch::Pause(Duration pause) {
  stage_ = Stage::kPaused;
  exchange_.reset();
  loop_.Disarm(timer_);
  resume_at_ = After(loop_.Now(), pause);
  timer_ = loop_.Arm(resume_at_, [this] { OnTimer(); });
}

void HttpListWatch::OnServerBack() {
  // Also of who waits for its answer: should that time run out, the next pause is a short one. And
  // that it has forgotten the version is of its restart, not of lists that do not help.
  backoff_ = {};
  expirations_ = 0;
  if (stage_ != Stage::kPaused || !troubled_) return;
  const TimePoint soon = After(loop_.Now(), random_.Jitter(options_.wake_spread / 4, 3.0));
  if (soon >= resume_at_) return;
  loop_.Disarm(timer_);
  resume_at_ = soon;
  timer_ = loop_.Arm(resume_at_, [this] { OnTimer(); });
}

void HttpListWatch::OnTimer() {
  if (stage_ == Stage::kPaused) return Begin();
  const Error late(ErrorCode::kUnavailable, "no answer to the watch in time");
  const std::optional<Error> obstacle = transport_.Obstacle(ApiLane::kWatches);
  Trouble(obstacle ? obstacle->With(late.message()) : late);
}

void HttpListWatch::WaitForTurn() {
  stage_ = Stage::kInLine;
  place_ = line_.Enter(spec_.priority, [self = self_] {
    if (*self == nullptr || (*self)->stage_ != Stage::kInLine) return;
    (*self)->has_turn_ = true;
    (*self)->Begin();
  });
}

void HttpListWatch::Begin() {
  if (NeedsTurn() && !has_turn_) return WaitForTurn();
  // Looked at once: an expiry may pass between two looks.
  const std::string* const authorization = transport_.credentials().Authorization();
  if (authorization == nullptr) {
    stage_ = Stage::kCredentials;
    Context context;
    context.deadline = After(loop_.Now(), options_.page_timeout);
    transport_.credentials().WhenReady(context, [self = self_](Status ready) {
      if (*self == nullptr || (*self)->stage_ != Stage::kCredentials) return;
      if (!ready) return (*self)->Trouble(ready.error().With("credentials for the API server"));
      (*self)->Begin();
    });
    return;
  }
  if (!list_due_) return StartWatch(*authorization);
  if (!continue_token_.empty()) return StartPage(*authorization);
  objects_.BeginList();
  const std::shared_ptr<HttpListWatch*> self = self_;
  user_.OnListing();
  if (*self == nullptr) return;
  if (initial_events_) return StartInitial(*authorization);
  StartPage(*authorization);
}

// ---- requests

void HttpListWatch::StartRequest(Stage stage, const std::string& authorization,
                                 const std::string& query, Duration timeout) {
  stage_ = stage;
  refusal_.clear();
  brought_news_ = false;
  began_at_ = loop_.Now();
  renewals_ = transport_.renewals();
  net::HttpRequest request{.method = "GET",
                           .scheme = {},
                           .authority = {},
                           .target = spec_.resource.CollectionPath(spec_.ns) + query,
                           .headers = {{"accept", kAcceptAnswer}}};
  Context context;
  context.deadline = After(began_at_, timeout);
  const ApiLane lane = stage == Stage::kListing ? ApiLane::kRequests : ApiLane::kWatches;
  exchange_ = transport_.Start(context, lane, authorization, std::move(request), {}, *this);
  if (stage == Stage::kListing) return;
  timer_ = loop_.Arm(After(began_at_, options_.answer_timeout), [this] { OnTimer(); });
}

Duration HttpListWatch::WatchTime() {
  return std::chrono::duration_cast<Seconds>(random_.Jitter(spec_.watch_time_min, 1.0));
}

void HttpListWatch::StartInitial(const std::string& authorization) {
  const Duration time = WatchTime();
  watch_frames_.emplace(WatchEncoding::kProtobuf);
  Query query;
  query.Add("allowWatchBookmarks", "true")
      .Add("fieldSelector", spec_.field_selector)
      .Add("resourceVersion", list_from_ == "0" ? "" : list_from_)
      .Add("resourceVersionMatch", "NotOlderThan")
      .Add("sendInitialEvents", "true")
      .Add("timeoutSeconds", std::to_string(std::chrono::duration_cast<Seconds>(time).count()))
      .Add("watch", "true");
  StartRequest(Stage::kInitial, authorization, query.text(), time + kWatchGrace);
}

// From the server's cache all comes in one answer, however long; pages are for lists that go
// through to its store.
void HttpListWatch::StartPage(const std::string& authorization) {
  has_turn_ = false;
  list_frames_.emplace();
  Query query;
  query.Add("continue", continue_token_).Add("fieldSelector", spec_.field_selector);
  if (continue_token_.empty()) query.Add("resourceVersion", list_from_);
  if (list_from_.empty()) query.Add("limit", std::to_string(options_.page_items_max));
  StartRequest(Stage::kListing, authorization, query.text(), options_.page_timeout);
}

void HttpListWatch::StartWatch(const std::string& authorization) {
  const Duration time = WatchTime();
  watch_frames_.emplace(WatchEncoding::kProtobuf);
  Query query;
  query.Add("allowWatchBookmarks", "true")
      .Add("fieldSelector", spec_.field_selector)
      .Add("resourceVersion", version_)
      .Add("timeoutSeconds", std::to_string(std::chrono::duration_cast<Seconds>(time).count()))
      .Add("watch", "true");
  StartRequest(Stage::kWatching, authorization, query.text(), time + kWatchGrace);
}

// ---- answers

void HttpListWatch::OnHead(net::HttpResponseHead head) {
  head_ = std::move(head);
  transport_.contact().OnAnswer(head_.status);
  if (IsOk(head_)) loop_.Disarm(timer_);
  if (!IsOk(head_)) return;
  if (IsProtobuf(head_)) {
    if (std::exchange(troubled_, false)) user_.OnGoingOn();  // `this` may be gone
    return;
  }
  Trouble(Error(ErrorCode::kUnsupported, "the API server does not answer in protobuf"));
}

void HttpListWatch::OnBody(std::span<const std::byte> data) {
  if (stage_ == Stage::kPaused) return;
  if (!IsOk(head_)) {
    refusal_ +=
        ToText(data).substr(0, kRefusalBytesMax - std::min(kRefusalBytesMax, refusal_.size()));
  } else if (stage_ == Stage::kListing) {
    ReadPage(ToText(data));
  } else {
    ReadWatch(ToText(data));
  }
}

bool HttpListWatch::ReadWatch(std::string_view piece) {
  const std::shared_ptr<HttpListWatch*> self = self_;
  watch_frames_->Feed(piece);
  while (true) {
    const Result<std::optional<WatchEvent>> event = watch_frames_->Next();
    if (!event) {
      Unusable(event.error().With("watch"));
      return *self != nullptr;
    }
    if (!*event) return true;
    if (!OnEvent(**event)) return false;
    if (stage_ == Stage::kPaused) return true;
  }
}

bool HttpListWatch::OnEvent(const WatchEvent& event) {
  const std::shared_ptr<HttpListWatch*> self = self_;
  if (event.type == WatchEventType::kError) {
    ListAgain();
    OnRefused(ReadStatusObject(event.object));
    return *self != nullptr;
  }
  const Result<Envelope> envelope = DecodeEnvelope(event.object);
  const Result<MetaView> meta = envelope ? ReadMeta(envelope->raw) : envelope.error();
  if (!meta) {
    Unusable(meta.error().With("watch"));
    return *self != nullptr;
  }
  switch (event.type) {
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
      if (!Tell(envelope->raw, *meta)) return false;
      break;
    case WatchEventType::kDeleted:
      if (const auto gone = objects_.Remove(*meta); gone && !TellGone(*gone)) return false;
      break;
    case WatchEventType::kBookmark:
    case WatchEventType::kError:
      break;
  }
  // Initial events come in no order of versions: only the bookmark behind them says how far we are.
  // Anybody may write its annotation on an object of theirs, so an object never ends a list.
  const bool ends_list = event.type == WatchEventType::kBookmark && meta->initial_events_end;
  if (stage_ == Stage::kInitial && !ends_list) return true;
  if (!meta->resource_version.empty() && version_ != meta->resource_version) {
    version_ = meta->resource_version;
    brought_news_ = true;
  }
  if (stage_ != Stage::kInitial) return true;
  stage_ = Stage::kWatching;
  return TellSynced();
}

bool HttpListWatch::ReadPage(std::string_view piece) {
  const std::shared_ptr<HttpListWatch*> self = self_;
  list_frames_->Feed(piece);
  while (true) {
    const Result<std::optional<std::string_view>> item = list_frames_->Next();
    const Result<MetaView> meta = !item    ? item.error()
                                  : !*item ? Result<MetaView>(MetaView())
                                           : ReadMeta(**item);
    if (!meta) {
      Trouble(meta.error().With("list"));
      return *self != nullptr;
    }
    if (!*item) return true;
    if (!Tell(**item, *meta)) return false;
  }
}

// ---- telling

bool HttpListWatch::Tell(std::string_view wire, const MetaView& meta) {
  const std::shared_ptr<HttpListWatch*> self = self_;
  const WatchedObjects::Change change = objects_.Put(meta);
  if (change.gone && !TellGone(*change.gone)) return false;
  if (change.news) user_.OnObject(wire);
  return *self != nullptr;
}

bool HttpListWatch::TellGone(const WatchedObjects::Gone& gone) {
  const std::shared_ptr<HttpListWatch*> self = self_;
  user_.OnGone(gone.object, gone.uid);
  return *self != nullptr;
}

bool HttpListWatch::TellSynced() {
  const std::shared_ptr<HttpListWatch*> self = self_;
  list_due_ = false;
  list_from_ = version_;
  for (const WatchedObjects::Gone& gone : objects_.EndList()) {
    if (!TellGone(gone)) return false;
  }
  user_.OnSynced();
  return *self != nullptr;
}

// ---- ends

void HttpListWatch::OnEnd() {
  if (stage_ == Stage::kPaused) return;
  if (!IsOk(head_)) return OnRefused(ReadApiFailure(head_.status, head_.headers, refusal_));
  if (stage_ == Stage::kListing) return OnPageEnd();
  OnWatchEnd();
}

void HttpListWatch::OnPageEnd() {
  if (const Status whole = list_frames_->Finish(); !whole) return Trouble(whole.error());
  continue_token_ = list_frames_->continue_token();
  version_ = list_frames_->resource_version();
  if (continue_token_.empty() && !TellSynced()) return;
  Pause(Duration::zero());
}

bool HttpListWatch::HeldFor(Duration time) const {
  return stage_ == Stage::kWatching && loop_.Now() - began_at_ >= time;
}

void HttpListWatch::OnWatchEnd() {
  if (HeldFor(options_.relist_period)) expirations_ = 0;
  if (const Status whole = watch_frames_->Finish(); !whole) return Trouble(whole.error());
  const bool too_short = loop_.Now() - began_at_ < options_.watch_time_least && !brought_news_;
  if (stage_ == Stage::kInitial || too_short) {
    return Trouble(Error(ErrorCode::kUnavailable, "the API server ended the watch too soon"));
  }
  backoff_ = {};
  Pause(Duration::zero());
}

void HttpListWatch::OnRefused(const ApiFailure& failure) {
  const Error error = ToError(failure, sync::ApiVerb::kGet);
  if (HeldFor(options_.relist_period)) expirations_ = 0;
  if (stage_ == Stage::kInitial && (failure.http_status == 400 || failure.http_status == 422)) {
    initial_events_ = false;  // an older server: it says so in this way
    return Pause(Duration::zero());
  }
  if (failure.IsExpired() || failure.version_too_large) {
    // Too large: its store was restored from before, or it is behind another server's. Once more
    // from the newest that there is; a list that was cut off in the middle starts over.
    ListAgain();
    list_from_.clear();
    return Expired(error);
  }
  if (failure.http_status == 401) {
    transport_.OnUnauthorized(error);
    transport_.credentials().Refused();
  }
  Trouble(error,
          failure.retry_after ? SpreadRetryAfter(*failure.retry_after, random_) : Duration::zero());
}

void HttpListWatch::OnFailed(const Error& reason) {
  if (HeldFor(options_.relist_period)) expirations_ = 0;
  // We have broken it ourselves, for a connection with new credentials: that is no trouble.
  if (renewals_ != transport_.renewals()) return Pause(Duration::zero());
  Trouble(reason);
}

// The same watch would bring the same, and nothing behind it: a list goes past it.
void HttpListWatch::Unusable(const Error& reason) {
  ListAgain();
  Trouble(reason);
}

void HttpListWatch::ListAgain() {
  // Not older than what was told since the last list: another server may be behind, and would bring
  // back what is gone.
  if (!list_due_) list_from_ = version_;
  list_due_ = true;
  continue_token_.clear();
}

// An everyday thing, as after a restart of the server, and nothing to tell, also where it restarts
// twice: only that lists do not help is trouble.
void HttpListWatch::Expired(const Error& reason) {
  ++expirations_;
  if (expirations_ == 1) return Pause(Duration::zero());
  if (expirations_ == 2) return Pause(NextPause());
  Trouble(reason);
}

Duration HttpListWatch::NextPause() {
  if (HeldFor(options_.backoff_reset)) backoff_ = {};
  const Duration next = random_.Jitter(std::max(backoff_, options_.backoff_min), 1.0);
  backoff_ = std::min(2 * std::max(backoff_, options_.backoff_min), options_.backoff_max);
  return next;
}

void HttpListWatch::Trouble(const Error& reason, Duration pause_min) {
  Pause(std::max(NextPause(), pause_min));
  troubled_ = true;
  user_.OnTrouble(reason);
}

}  // namespace denselet::kube
