#include "managers/source/manifest_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/ids.h"
#include "base/quoted.h"

namespace denselet::managers {
namespace {

constexpr size_t kQuotedBytesMax = 300;

Error SamePodAs(const std::string& path) {
  return Error(ErrorCode::kAlreadyExists, "has the same pod as " + Quoted(path, kQuotedBytesMax) +
                                              ", which counts because its name comes last");
}

}  // namespace

bool ManifestFiles::IsNew(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() || (!found->second.hash && !found->second.pending);
}

bool ManifestFiles::HasTimes(const std::string& path) const {
  const auto found = files_.find(path);
  return found != files_.end() && found->second.info;
}

bool ManifestFiles::MustRead(const std::string& path, const reactor::FileInfo& info) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return true;
  const File& file = found->second;
  if (!file.info || !file.hash || file.pending || file.unreadable) return true;
  return file.info->modified != info.modified || file.info->size != info.size ||
         file.info->kind != info.kind;
}

bool ManifestFiles::IsAboutToCount(const std::string& path, TimePoint now) const {
  const auto found = files_.find(path);
  if (found == files_.end() || !found->second.pending) return false;
  return now >= After(found->second.pending->since, options_.quiet_time);
}

void ManifestFiles::SetBad(File& file, const Error& reason, TimePoint now) {
  const TimePoint since = file.bad ? file.bad->since : now;
  file.bad = Fault{reason, since};
}

bool ManifestFiles::Settle(File& file, uint64_t hash, TimePoint now) const {
  if (file.hash == hash) {
    file.pending.reset();
    return false;
  }
  if (!file.pending || file.pending->hash != hash) {
    const TimePoint first = file.pending ? file.pending->first : now;
    file.pending = Pending{hash, now, first};
  }
  if (now < After(file.pending->since, options_.quiet_time)) return false;
  file.pending.reset();
  return true;
}

void ManifestFiles::OnContent(const std::string& path, std::string_view content,
                              const std::optional<reactor::FileInfo>& info, WallTime wall,
                              TimePoint now) {
  File& file = files_[path];
  const uint64_t hash = Fnv1a64(content);
  // The same content at a later time: what is known of its times still holds.
  if (info || file.hash != hash) file.info.reset();
  if (info && wall - info->modified >= options_.young) file.info = info;
  file.unreadable.reset();
  if (!Settle(file, hash, now)) return;
  file.hash = hash;
  Result<Decoded> decoded = decode_(path, content);
  if (!decoded) return SetBad(file, decoded.error(), now);
  file.bad.reset();
  file.ignored = std::move(decoded->ignored);
  // An edit of comments makes no new pod.
  if (!file.pod || file.pod->wire() != decoded->pod->wire()) file.pod = std::move(decoded->pod);
}

void ManifestFiles::OnBad(const std::string& path, const Error& reason, TimePoint now) {
  File& file = files_[path];
  file.hash.reset();
  file.pending.reset();
  file.unreadable.reset();
  SetBad(file, reason, now);
}

void ManifestFiles::OnUnreadable(const std::string& path, const Error& reason, TimePoint now) {
  File& file = files_[path];
  const TimePoint since = file.unreadable ? file.unreadable->since : now;
  file.unreadable = Fault{reason, since};
}

void ManifestFiles::DropGone(Outcome& outcome) {
  for (auto it = files_.begin(); it != files_.end();) {
    if (it->second.scan == scan_) {
      ++it;
      continue;
    }
    if (it->second.told) outcome.troubles.push_back({it->first, std::nullopt, false});
    it = files_.erase(it);
  }
}

std::optional<Error> ManifestFiles::TroubleOf(const File& file, TimePoint now,
                                              Outcome& outcome) const {
  if (file.pending && !file.unreadable &&
      now >= After(file.pending->first, options_.bad_time_max)) {
    return Error(ErrorCode::kUnavailable, "its content keeps changing");
  }
  const std::optional<Fault>& fault = file.unreadable ? file.unreadable : file.bad;
  if (!fault) return file.ignored;
  const TimePoint due = After(fault->since, options_.settle_time);
  if (now >= due) return fault->reason;
  outcome.look_again_at = std::min(outcome.look_again_at, due);
  return file.told;
}

ManifestFiles::ByUid ManifestFiles::Winners(std::map<std::string, Error>& duplicates) const {
  ByUid winners;
  std::map<ObjectRef, const std::string*> names;
  std::map<std::string_view, const std::string*> uids;
  for (auto it = files_.rbegin(); it != files_.rend(); ++it) {
    const auto& [path, file] = *it;
    if (!file.pod) continue;
    const kube::PodHotFields& hot = file.pod->hot();
    const ObjectRef name{std::string(hot.ns), std::string(hot.name)};
    if (const auto taken = names.find(name); taken != names.end()) {
      duplicates.emplace(path, SamePodAs(*taken->second));
    } else if (const auto other = uids.find(hot.uid); other != uids.end()) {
      duplicates.emplace(path, SamePodAs(*other->second));
    } else {
      names.emplace(name, &path);
      uids.emplace(hot.uid, &path);
      winners.emplace(hot.uid, file.pod);
    }
  }
  return winners;
}

ManifestFiles::Outcome ManifestFiles::EndScan(TimePoint now) {
  Outcome outcome;
  DropGone(outcome);
  for (auto& [path, file] : files_) {
    outcome.unreadable |= file.unreadable.has_value();
    outcome.undecided |= file.unreadable || file.pending;
    // Of one that cannot be read its quiet time has passed for long: it is tried with pauses.
    if (file.pending && !file.unreadable) {
      outcome.look_again_at =
          std::min(outcome.look_again_at, After(file.pending->since, options_.quiet_time));
    }
    if (!file.bad || !file.pod || file.unreadable) continue;
    const TimePoint end = After(file.bad->since, options_.bad_time_max);
    if (now >= end) {
      file.pod = {};
    } else {
      outcome.look_again_at = std::min(outcome.look_again_at, end);
    }
  }
  std::map<std::string, Error> duplicates;
  ByUid winners = Winners(duplicates);
  for (auto& [path, file] : files_) {
    std::optional<Error> trouble = TroubleOf(file, now, outcome);
    const auto duplicate = duplicates.find(path);
    const bool left_out = !file.bad && !file.unreadable && duplicate != duplicates.end();
    if (left_out) trouble = duplicate->second;
    if (file.told == trouble) continue;
    file.told = trouble;
    if (left_out) {
      const Error& reason = duplicate->second;
      outcome.left_out.push_back(
          {file.pod, Error(reason.code(), Quoted(path, kQuotedBytesMax) + " " + reason.message())});
    }
    const bool pod_counts = !left_out && trouble && trouble == file.ignored;
    outcome.troubles.push_back({path, std::move(trouble), pod_counts});
  }
  for (const auto& [uid, pod] : pods_) {
    if (!winners.contains(uid)) outcome.gone.push_back(uid);
  }
  for (const auto& [uid, pod] : winners) {
    const auto before = pods_.find(uid);
    // The same from another file, with a uid of its own, is no news.
    const bool same = before != pods_.end() && before->second->wire() == pod->wire();
    if (!same) outcome.changed.push_back(pod);
  }
  pods_ = std::move(winners);
  return outcome;
}

std::vector<kube::PodRef> ManifestFiles::Pods() const {
  std::vector<kube::PodRef> pods;
  pods.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  return pods;
}

}  // namespace denselet::managers
