#include "sync/sources/pod_sources.h"

#include <utility>

namespace denselet::sync {
namespace {

ObjectRef NameOf(const kube::PodAtRest& pod) {
  return {std::string(pod.hot().ns), std::string(pod.hot().name)};
}

}  // namespace

PodSources::PodSources(reactor::Loop& loop, Logger log, const PodSourcesOptions& options,
                       DesiredPodsUser& user)
    : loop_(loop), log_(std::move(log)), options_(options), user_(user) {
  late_timer_ = loop_.Arm(After(loop_.Now(), options_.late_after), [this] { OnLate(); });
}

PodSources::~PodSources() {
  loop_.Disarm(late_timer_);
  loop_.Disarm(tell_timer_);
}

bool PodSources::Ready(SourceSet needed) const {
  return seen_.HasAll(needed.And(options_.configured));
}

void PodSources::OnLate() {
  late_ = true;
  for (const SourceKind source : kSourceKinds) {
    if (!late().Has(source)) continue;
    log_.Warning("Pod source has not reported yet", KV("source", SourceName(source)),
                 KV("waited", options_.late_after));
    user_.OnSourceLate(source);
  }
}

void PodSources::Tell(SourceKind source, const PodMerge& merge) {
  for (const RefusedPod& refused : merge.refused) {
    const ObjectRef name = NameOf(*refused.pod);
    log_.Error(refused.reason, "Refused pod of a source", Pod(name),
               KV("podUID", refused.pod->hot().uid), KV("source", SourceName(source)));
    user_.OnPodRefused(source, refused);
  }
  for (const PodChange& change : merge.changes) {
    log_.V(2).Info("Changed desired pod", KV("op", PodOpName(change.op)),
                   KV("pod", LogValue::Object(change.pod->hot().ns, change.pod->hot().name)),
                   KV("podUID", change.pod->hot().uid), KV("source", SourceName(source)));
  }
  if (!merge.changes.empty()) user_.OnPodChanges(source, merge.changes);
}

void PodSources::OnPods(SourceKind source, std::vector<kube::PodRef> pods) {
  const bool first = !seen_.Has(source);
  const size_t count = pods.size();
  const PodMerge merge = pods_.Set(source, std::move(pods), loop_.WallNow());
  seen_.Add(source);
  Tell(source, merge);
  if (!first) return;
  log_.Info("Pod source is ready", KV("source", SourceName(source)), KV("pods", count));
  user_.OnSourceReady(source);
}

void PodSources::OnPod(SourceKind source, kube::PodRef pod) {
  Tell(source, pods_.Put(source, pod, loop_.WallNow()));
}

void PodSources::OnPodGone(SourceKind source, std::string_view uid) {
  Tell(source, pods_.Remove(source, uid));
}

// In the log it stands with its place.
void PodSources::OnPodLeftOut(SourceKind source, const kube::PodRef& pod, const Error& reason) {
  user_.OnPodRefused(source, {.pod = pod, .reason = reason});
}

void PodSources::OnTrouble(SourceKind source, const std::string& where, const Error& reason) {
  Note({source, where}, reason, Loss::kAll);
}

void PodSources::OnPartIgnored(SourceKind source, const std::string& where, const Error& reason) {
  Note({source, where}, reason, Loss::kPart);
}

void PodSources::LogTrouble(const Place& place, const Error& reason, Loss loss) const {
  const auto& [source, where] = place;
  if (loss == Loss::kPart) {
    return log_.Warning("Ignored a part of what a pod source has", Err(reason),
                        KV("source", SourceName(source)), KV("path", where));
  }
  log_.Error(reason, "Could not use what a pod source has", KV("source", SourceName(source)),
             KV("path", where));
}

// A source tells as often as it tries; the log hears of it when it is news.
void PodSources::Note(Place place, const Error& reason, Loss loss) {
  auto found = troubles_.find(place);
  if (found == troubles_.end()) {
    if (troubles_.size() >= options_.troubles_max) {
      ++not_kept_;
      return LogTrouble(place, reason, loss);
    }
    found = troubles_.emplace(std::move(place), KeptTrouble{reason, loss, {}}).first;
  }
  KeptTrouble& kept = found->second;
  kept.reason = reason;
  kept.loss = loss;
  if (kept.told.IsNews(loop_.Now(), reason.message()))
    return LogTrouble(found->first, reason, loss);
  if (!kept.told.IsTold(reason.message())) TellAt(kept.told.NewsAt());
}

void PodSources::TellAt(TimePoint when) {
  if (when >= tell_at_) return;
  loop_.Disarm(tell_timer_);
  tell_at_ = when;
  tell_timer_ = loop_.Arm(when, [this] { TellWhatIsDue(); });
}

void PodSources::TellWhatIsDue() {
  tell_at_ = kNever;
  for (auto& [place, kept] : troubles_) {
    if (kept.told.IsTold(kept.reason.message())) continue;
    if (kept.told.IsNews(loop_.Now(), kept.reason.message())) {
      LogTrouble(place, kept.reason, kept.loss);
    } else {
      TellAt(kept.told.NewsAt());
    }
  }
}

void PodSources::OnTroubleOver(SourceKind source, const std::string& where) {
  if (troubles_.erase(std::pair(source, where)) == 0) return;
  log_.Info("Trouble of a pod source is over", KV("source", SourceName(source)), KV("path", where));
}

std::vector<PodSources::Trouble> PodSources::Troubles() const {
  std::vector<Trouble> troubles;
  for (const auto& [place, trouble] : troubles_) {
    troubles.push_back({place.first, place.second, trouble.reason});
  }
  return troubles;
}

}  // namespace denselet::sync
