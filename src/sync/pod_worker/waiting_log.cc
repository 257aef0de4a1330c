#include "sync/pod_worker/waiting_log.h"

#include "sync/ports/observed_pod.h"

namespace denselet::sync {

void WaitingLog::Lacks(const PodIdentity& pod, Lack lack, const std::string& subject,
                       std::string_view cause, TimePoint now) {
  const auto [at, is_new] = entries_.try_emplace({pod.uid, lack, subject});
  Entry& entry = at->second;
  if (is_new) entry.since = now;
  if (is_new || entry.cause != cause) {
    if (!is_new) Leave(at->first, entry);
    entry.cause = cause;
    entry.named = false;
    ++causes_[{lack, entry.cause}].pods;
  }
  if (entry.named) return;
  Cause& of_all = causes_[{lack, entry.cause}];
  if (of_all.named < kPodsNamedMax) {
    Name(pod, at->first, entry, now);
    if (entry.named) ++of_all.named;
    return;
  }
  if (of_all.pods < of_all.count_next) return;
  of_all.count_next *= 10;
  log_.Warning("Many pods wait for the same", KV("pods", of_all.pods), KV("cause", cause));
}

void WaitingLog::Name(const PodIdentity& pod, const Key& key, Entry& entry, TimePoint now) {
  if (!HasRoom(now) || !entry.changes.IsNews(now, entry.cause)) return;
  ++lines_;
  entry.named = entry.ever_named = true;
  switch (key.lack) {
    case Lack::kVolume:
      return log_.Warning("Pod waits for a volume", Pod(pod.ref), Uid(pod.uid),
                          KV("volumeName", key.subject), KV("cause", entry.cause));
    case Lack::kReference:
      return log_.Warning("Container waits for what it refers to", Pod(pod.ref), Uid(pod.uid),
                          KV("containerName", key.subject), KV("cause", entry.cause));
    case Lack::kRenewal:
      return log_.Warning("Volume of a running pod could not be renewed", Pod(pod.ref),
                          Uid(pod.uid), KV("volumeName", key.subject), KV("cause", entry.cause));
    case Lack::kRead:
      return log_.Warning("Could not read a pod from the runtime", Pod(pod.ref), Uid(pod.uid),
                          KV("cause", entry.cause));
  }
}

void WaitingLog::Has(const PodIdentity& pod, Lack lack, const std::string& subject, TimePoint now) {
  const auto found = entries_.find({pod.uid, lack, subject});
  if (found != entries_.end()) End(pod, found, now);
}

void WaitingLog::HasAllBut(const PodIdentity& pod, Lack lack, const std::set<std::string>& missing,
                           TimePoint now) {
  auto at = entries_.lower_bound({pod.uid, lack, ""});
  while (at != entries_.end() && at->first.pod == pod.uid && at->first.lack == lack) {
    at = missing.count(at->first.subject) != 0 ? std::next(at) : End(pod, at, now);
  }
}

void WaitingLog::Forget(const PodUid& pod) {
  auto at = entries_.lower_bound({pod, Lack::kVolume, ""});
  while (at != entries_.end() && at->first.pod == pod) {
    Leave(at->first, at->second);
    at = entries_.erase(at);
  }
}

WaitingLog::Entries::iterator WaitingLog::End(const PodIdentity& pod, Entries::iterator at,
                                              TimePoint now) {
  const Key& key = at->first;
  const Entry& entry = at->second;
  const Duration waited = now - entry.since;
  if (entry.ever_named) {
    switch (key.lack) {
      case Lack::kVolume:
        log_.Info("Pod has the volume that it waited for", Pod(pod.ref), Uid(pod.uid),
                  KV("volumeName", key.subject), KV("waited", waited));
        break;
      case Lack::kReference:
        log_.Info("Container has what it waited for", Pod(pod.ref), Uid(pod.uid),
                  KV("containerName", key.subject), KV("waited", waited));
        break;
      case Lack::kRenewal:
        log_.Info("Volume of a running pod was renewed again", Pod(pod.ref), Uid(pod.uid),
                  KV("volumeName", key.subject), KV("waited", waited));
        break;
      case Lack::kRead:
        log_.Info("Pod can be read from the runtime again", Pod(pod.ref), Uid(pod.uid),
                  KV("waited", waited));
        break;
    }
  }
  Leave(key, entry);
  return entries_.erase(at);
}

void WaitingLog::Leave(const Key& key, const Entry& entry) {
  const auto found = causes_.find({key.lack, entry.cause});
  if (--found->second.pods > 0) return;
  const bool counted = found->second.count_next > Cause().count_next;
  causes_.erase(found);
  if (counted) log_.Info("No pod waits for it any more", KV("cause", entry.cause));
}

bool WaitingLog::HasRoom(TimePoint now) {
  if (now >= After(minute_, Minutes(1))) {
    minute_ = now;
    lines_ = 0;
  }
  return lines_ < kLinesMax;
}

}  // namespace denselet::sync
