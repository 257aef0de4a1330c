#include "sync/mirror/mirror_keeper.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/sources/pod_difference.h"

namespace denselet::sync {
namespace {

ObjectRef NameOf(const kube::PodAtRest& pod) {
  return {std::string(pod.hot().ns), std::string(pod.hot().name)};
}

}  // namespace

MirrorKeeper::MirrorKeeper(reactor::Loop& loop, Random& random, Logger log, ApiServer& api,
                           const SourceReadiness& sources, const EndingStaticPods& ending,
                           MirrorKeeperOptions options)
    : loop_(loop),
      random_(random),
      log_(std::move(log)),
      api_(api),
      sources_(sources),
      ending_(ending),
      options_(std::move(options)) {}

MirrorKeeper::~MirrorKeeper() {
  cancel_.Cancel();
  for (auto& [name, entry] : entries_) loop_.Disarm(entry.timer);
}

MirrorKeeper::Stage MirrorKeeper::stage(const ObjectRef& pod) const {
  const auto found = entries_.find(pod);
  return found == entries_.end() ? Stage::kIdle : found->second.stage;
}

// ---- what changes

void MirrorKeeper::OnPodChanges(std::span<const PodChange> changes) {
  for (const PodChange& change : changes) {
    if (!change.pod->hot().IsMirror() && !change.pod->hot().IsStatic()) continue;
    if (change.op == PodOp::kRemove) {
      pods_.Remove(change.pod);
    } else {
      pods_.Put(change.pod);
    }
    Judge(NameOf(*change.pod));
  }
}

void MirrorKeeper::OnSourceReady() { JudgeAll(); }

void MirrorKeeper::OnStaticPodEnded(const ObjectRef& pod) { Judge(pod); }

void MirrorKeeper::SetNode(std::string uid) {
  if (uid == node_uid_) return;
  node_uid_ = std::move(uid);
  JudgeAll();
}

// ---- judging

MirrorKeeper::Work MirrorKeeper::Plan(const ObjectRef& name) const {
  if (ending_.StillEnds(name)) return {};
  if (const auto pair = pods_.PairOf(name)) {
    switch (pair->state) {
      case MirrorState::kCurrent: {
        // A deletion that was begun is brought to its end: it may have taken place, and what the
        // mirror shows is of a life of the pod that is over.
        const auto entry = entries_.find(name);
        const bool goes = entry != entries_.end() && entry->second.deletes &&
                          entry->second.deletes->hot().uid == pair->mirror->hot().uid;
        return goes ? Work{Work::Kind::kDelete, pair->mirror} : Work{};
      }
      case MirrorState::kMissing:
        if (node_uid_.empty()) return {};
        return {Work::Kind::kCreate, pair->static_pod};
      case MirrorState::kStale:
        if (faults_.keep_old) return {Work::Kind::kCreate, pair->static_pod};
        [[fallthrough]];
      case MirrorState::kGoing:
        return {Work::Kind::kDelete, pair->mirror};
    }
  }
  if (!sources_.Ready({SourceKind::kFile, SourceKind::kHttp})) return {};
  const kube::PodRef orphan = pods_.OrphanOf(name);
  return orphan && !faults_.keep_orphans ? Work{Work::Kind::kDelete, orphan} : Work{};
}

void MirrorKeeper::JudgeAll() {
  for (const MirrorPods::Pair& pair : pods_.Pairs()) Judge(NameOf(*pair.static_pod));
  for (const kube::PodRef& orphan : pods_.Orphans()) Judge(NameOf(*orphan));
}

// Asked whenever something changed; while a request is under way its answer asks again.
void MirrorKeeper::Judge(const ObjectRef& name) {
  const auto found = entries_.find(name);
  const Stage stage = found == entries_.end() ? Stage::kIdle : found->second.stage;
  if (stage == Stage::kCreating || stage == Stage::kDeleting) return;
  if (Plan(name).kind == Work::Kind::kNothing) {
    waiting_.erase(name);
    if (found == entries_.end()) return;
    loop_.Disarm(found->second.timer);
    entries_.erase(found);
    return;
  }
  if (stage == Stage::kPausing) return;
  entries_[name].stage = Stage::kWaiting;
  waiting_.insert(name);
  Pump();
}

void MirrorKeeper::Pump() {
  while (!waiting_.empty() && requests_ < options_.requests_max) {
    const ObjectRef name = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    Begin(name, Plan(name));
  }
}

// ---- requests

void MirrorKeeper::Begin(const ObjectRef& name, const Work& work) {
  Entry& entry = entries_.at(name);
  entry.stage = Stage::kIdle;
  switch (work.kind) {
    case Work::Kind::kNothing:
      return Judge(name);
    case Work::Kind::kCreate: {
      auto request = CreateRequest(work.pod);
      if (!request) return OnFailure(name, entry, request.error());
      log_.Info("Creating a mirror pod for static pod", Pod(name));
      entry.stage = Stage::kCreating;
      return Ask(name, *std::move(request), &MirrorKeeper::OnCreated);
    }
    case Work::Kind::kDelete:
      break;
  }
  log_.Info("Deleting a mirror pod", Pod(name), KV("podUID", work.pod->hot().uid));
  entry.stage = Stage::kDeleting;
  entry.deletes = work.pod;
  ApiRequest request{.verb = ApiVerb::kDelete, .resource = kube::kPods, .object = name};
  request.grace_seconds = 0;
  request.uid_precondition = std::string(work.pod->hot().uid);
  Ask(name, std::move(request), &MirrorKeeper::OnDeleted);
}

// The static pod, with the annotation by which it is known again, and owned by the node: without an
// owner the server takes no pod from a node.
Result<ApiRequest> MirrorKeeper::CreateRequest(const kube::PodRef& static_pod) const {
  auto parsed = static_pod->Parse();
  if (!parsed) return parsed.error().With("read static pod");
  kube::core::Pod& pod = **parsed;
  (*pod.mutable_metadata()->mutable_annotations())[std::string(kMirrorAnnotation)] =
      static_pod->hot().config_hash;
  pod.mutable_metadata()->clear_resourceversion();
  pod.mutable_metadata()->clear_ownerreferences();
  auto& owner = *pod.mutable_metadata()->add_ownerreferences();
  owner.set_apiversion("v1");
  owner.set_kind("Node");
  owner.set_name(options_.node_name);
  owner.set_uid(node_uid_);
  owner.set_controller(true);
  return ApiRequest{.verb = ApiVerb::kCreate,
                    .resource = kube::kPods,
                    .object = {pod.metadata().namespace_(), ""},
                    .body = kube::EncodeWire(pod)};
}

void MirrorKeeper::Ask(const ObjectRef& name, ApiRequest request,
                       void (MirrorKeeper::*take)(const ObjectRef&, Entry&,
                                                  const Result<ApiObject>&)) {
  ++requests_;
  const Context context{.deadline = After(loop_.Now(), options_.request_time_max),
                        .priority = Priority::kNormal,
                        .cancel = cancel_.token(),
                        .trace = {}};
  api_.Send(context, std::move(request),
            [this, alive = cancel_.token(), name, take](const Result<ApiObject>& answer) {
              if (alive.cancelled()) return;
              --requests_;
              Entry& entry = entries_.at(name);
              entry.stage = Stage::kIdle;
              (this->*take)(name, entry, answer);
              Pump();
            });
}

void MirrorKeeper::OnCreated(const ObjectRef& name, Entry& entry, const Result<ApiObject>& answer) {
  // Of kAlreadyExists: the watch will show it, and if it is ours, it is current.
  if (!answer) return OnFailure(name, entry, answer.error().With("create mirror pod"));
  entry.failures = 0;
  // The watch will show it. The answer itself is not believed: the mirror may be gone by now, and
  // the watch may have told so before.
  Pause(name, entry, options_.shown_within);
  Judge(name);
}

void MirrorKeeper::OnDeleted(const ObjectRef& name, Entry& entry, const Result<ApiObject>& answer) {
  // Of kConflict: another one is in its place, which the watch will show.
  const bool gone = answer || answer.error().code() == ErrorCode::kNotFound;
  if (!gone) return OnFailure(name, entry, answer.error().With("delete mirror pod"));
  entry.failures = 0;
  pods_.Remove(std::exchange(entry.deletes, {}));
  Judge(name);
}

void MirrorKeeper::OnFailure(const ObjectRef& name, Entry& entry, const Error& error) {
  ++entry.failures;
  // A server that is away is told once a pod, not once a try. After a start of the agent mirrors
  // are there that the watch is about to show.
  const bool is_first = entry.failures == 1;
  const bool is_news = error.code() == ErrorCode::kAlreadyExists
                           ? !is_first
                           : is_first || error.code() != ErrorCode::kUnavailable;
  if (is_news) {
    log_.Error(error, "Could not bring a mirror pod up to date", Pod(name),
               KV("failures", entry.failures));
  }
  Duration pause = options_.retry_min;
  for (uint32_t i = 1; i < entry.failures && pause < options_.retry_max; ++i) pause *= 2;
  Pause(name, entry, random_.Jitter(std::min(pause, options_.retry_max), 0.2));
  Judge(name);  // the watch may have told that it was done
}

void MirrorKeeper::Pause(const ObjectRef& name, Entry& entry, Duration pause) {
  entry.stage = Stage::kPausing;
  entry.timer = loop_.Arm(After(loop_.Now(), pause), [this, name] {
    entries_.at(name).stage = Stage::kIdle;
    Judge(name);
  });
}

}  // namespace denselet::sync
