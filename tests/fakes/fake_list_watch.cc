#include "tests/fakes/fake_list_watch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/codec/meta_view.h"
#include "kube/client/api_failure.h"

namespace denselet::fakes {
namespace {

constexpr Duration kPauseMin = Milliseconds(800);
constexpr Duration kPauseMax = Seconds(30);
// Of the client: its heartbeats notice within two seconds that the server is back, and who pauses
// is woken within another.
constexpr Duration kBackWithin = Seconds(3);
// A watch that held for so long makes the next version that is too old the first again.
constexpr Duration kRelistPeriod = Seconds(30);

Error BrokenError() { return Error(ErrorCode::kUnknownOutcome, "the connection was lost"); }

Error ErrorOf(const ModelAnswer& refusal) {
  return kube::ToError(kube::ReadApiFailure(refusal.http_status, {},
                                            kube::EncodeEnvelope(refusal.type, refusal.wire)),
                       sync::ApiVerb::kGet);
}

}  // namespace

FakeApiServer::FakeListWatch::FakeListWatch(FakeApiServer& server, sync::ListWatchSpec spec,
                                            sync::ListWatchUser& user)
    : server_(server),
      query_{.resource = spec.resource,
             .ns = std::move(spec.ns),
             .field_selector = std::move(spec.field_selector)},
      user_(user),
      self_(std::make_shared<FakeListWatch*>(this)) {
  server_.list_watches_.insert(this);
  Wait(server_.Delay(), Stage::kPaused);
}

FakeApiServer::FakeListWatch::~FakeListWatch() {
  *self_ = nullptr;
  server_.loop_.Disarm(timer_);
  server_.list_watches_.erase(this);
}

void FakeApiServer::FakeListWatch::Wait(Duration pause, Stage stage) {
  stage_ = stage;
  server_.loop_.Disarm(timer_);
  resume_at_ = After(server_.loop_.Now(), pause);
  timer_ = server_.loop_.Arm(resume_at_, [this] { OnTimer(); });
}

void FakeApiServer::FakeListWatch::OnTimer() {
  if (stage_ == Stage::kPumping) return Pump();
  if (!server_.up_) return Trouble(Error(ErrorCode::kUnavailable, "the API server is down"));
  if (list_due_) return List();
  StartWatch();
}

void FakeApiServer::FakeListWatch::OnChange() {
  if (stage_ == Stage::kWatching) Wait(server_.Delay(), Stage::kPumping);
}

void FakeApiServer::FakeListWatch::OnCrash() {
  if (stage_ == Stage::kPaused) return;
  NoteWatchTime();
  // Told in a turn of its own, as everything is.
  Wait(server_.Delay(), Stage::kPaused);
}

void FakeApiServer::FakeListWatch::OnServerBack() {
  pause_ = {};
  if (stage_ != Stage::kPaused || !troubled_) return;
  const Duration soon = server_.random_.Jitter(kBackWithin / 4, 3.0);
  if (After(server_.loop_.Now(), soon) < resume_at_) Wait(soon, Stage::kPaused);
}

void FakeApiServer::FakeListWatch::List() {
  ++server_.counters_.lists;
  ListQuery query = query_;
  query.resource_version = list_from_;
  const ModelList list = server_.model_.List(query);
  if (list.refusal) {
    const Error refusal = ErrorOf(*list.refusal);
    if (list.refusal->http_status != 504 && list.refusal->http_status != 410) {
      return Trouble(refusal);
    }
    list_from_.clear();
    return Expired(refusal);
  }
  if (!TellGoingOn() || !TellList(list)) return;
  StartWatch();
}

bool FakeApiServer::FakeListWatch::TellList(const ModelList& list) {
  const std::shared_ptr<FakeListWatch*> self = self_;
  objects_.BeginList();
  user_.OnListing();
  if (*self == nullptr) return false;
  for (const std::string& item : list.items) {
    if (!Tell(item)) return false;
  }
  list_due_ = false;
  version_ = list_from_ = std::to_string(list.version);
  for (const auto& gone : objects_.EndList()) {
    user_.OnGone(gone.object, gone.uid);
    if (*self == nullptr) return false;
  }
  user_.OnSynced();
  return *self != nullptr;
}

bool FakeApiServer::FakeListWatch::Tell(const std::string& wire) {
  const std::shared_ptr<FakeListWatch*> self = self_;
  const Result<kube::MetaView> meta = kube::ReadMeta(wire);
  CHECK(bool(meta));
  const kube::WatchedObjects::Change change = objects_.Put(*meta);
  if (change.gone) {
    user_.OnGone(change.gone->object, change.gone->uid);
    if (*self == nullptr) return false;
  }
  if (change.news) user_.OnObject(wire);
  return *self != nullptr;
}

void FakeApiServer::FakeListWatch::StartWatch() {
  ListQuery query = query_;
  query.resource_version = version_;
  const ModelAnswer answer = server_.model_.Watch(query, watch_);
  if (!answer.ok()) return Trouble(ErrorOf(answer));
  if (!TellGoingOn()) return;
  watching_since_ = server_.loop_.Now();
  Wait(server_.Delay(), Stage::kPumping);
}

void FakeApiServer::FakeListWatch::Pump() {
  stage_ = Stage::kWatching;
  while (true) {
    const std::vector<ModelEvent> events = server_.model_.Take(watch_, 1);
    if (watch_.over) {
      NoteWatchTime();
      list_due_ = true;
      list_from_.clear();
      return Expired(Error(ErrorCode::kConflict, "the API server said 410: too old"));
    }
    if (events.empty()) break;
    if (server_.Chance(server_.faults_.broken_watch)) {
      if (const auto meta = kube::ReadMeta(events[0].wire)) {
        server_.Told(FakeApiFault::kBrokenWatch, query_.resource, meta->Ref());
      }
      NoteWatchTime();
      list_due_ = server_.Chance(server_.faults_.repeated_list);
      return Trouble(BrokenError());
    }
    if (!TellEvent(events[0])) return;
    version_ = std::to_string(watch_.position);
    pause_ = {};
  }
  version_ = std::to_string(watch_.position);
}

bool FakeApiServer::FakeListWatch::TellEvent(const ModelEvent& event) {
  const std::shared_ptr<FakeListWatch*> self = self_;
  switch (event.type) {
    case kube::WatchEventType::kAdded:
    case kube::WatchEventType::kModified:
      return Tell(event.wire);
    case kube::WatchEventType::kDeleted:
      if (const auto gone = objects_.Remove(*kube::ReadMeta(event.wire))) {
        user_.OnGone(gone->object, gone->uid);
      }
      break;
    case kube::WatchEventType::kBookmark:
    case kube::WatchEventType::kError:
      break;
  }
  return *self != nullptr;
}

bool FakeApiServer::FakeListWatch::TellGoingOn() {
  const std::shared_ptr<FakeListWatch*> self = self_;
  if (std::exchange(troubled_, false)) user_.OnGoingOn();
  return *self != nullptr;
}

void FakeApiServer::FakeListWatch::NoteWatchTime() {
  if (server_.loop_.Now() - watching_since_ >= kRelistPeriod) expirations_ = 0;
}

Duration FakeApiServer::FakeListWatch::NextPause() {
  pause_ = std::min(2 * std::max(pause_, kPauseMin / 2), kPauseMax);
  return server_.random_.Jitter(pause_, 1.0);
}

// A list follows at once, the next time after a pause; only the third in a row is trouble.
void FakeApiServer::FakeListWatch::Expired(const Error& reason) {
  ++expirations_;
  if (expirations_ > 2) return Trouble(reason);
  Wait(expirations_ == 1 ? server_.Delay() : NextPause(), Stage::kPaused);
}

void FakeApiServer::FakeListWatch::Trouble(const Error& reason) {
  Wait(NextPause(), Stage::kPaused);
  troubled_ = true;
  user_.OnTrouble(reason);
}

}  // namespace denselet::fakes
