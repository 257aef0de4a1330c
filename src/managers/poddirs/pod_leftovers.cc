#include "managers/poddirs/pod_leftovers.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "managers/poddirs/log_links.h"

namespace denselet::managers {
namespace {

using Entries = std::vector<reactor::DirectoryEntry>;

bool IsFolder(const reactor::DirectoryEntry& entry) {
  return entry.kind == reactor::FileInfo::Kind::kDirectory;
}

// A directory that is not there has nothing in it.
Result<Entries> OrNothing(Result<Entries> entries) {
  if (!entries && entries.error().code() == ErrorCode::kNotFound) return Entries();
  return entries;
}

std::vector<sync::PodIdentity> PodsOf(const Entries& data, const Entries& logs) {
  std::vector<sync::PodIdentity> pods;
  std::set<PodUid> named;
  for (const reactor::DirectoryEntry& entry : logs) {
    std::optional<sync::PodIdentity> pod = PodOfLogFolder(entry.name);
    if (!pod || !IsFolder(entry)) continue;
    named.insert(pod->uid);
    pods.push_back(*std::move(pod));
  }
  for (const reactor::DirectoryEntry& entry : data) {
    PodUid uid(entry.name);
    if (IsFolder(entry) && !named.contains(uid)) pods.push_back({.uid = std::move(uid)});
  }
  std::ranges::sort(pods, {},
                    [](const sync::PodIdentity& pod) { return std::tie(pod.uid, pod.ref); });
  return pods;
}

}  // namespace

std::optional<sync::PodIdentity> PodOfLogFolder(std::string_view name) {
  const size_t first = name.find('_');
  const size_t last = name.rfind('_');
  if (first == std::string_view::npos || name.find('_', first + 1) != last) return std::nullopt;
  const std::string_view ns = name.substr(0, first);
  const std::string_view pod = name.substr(first + 1, last - first - 1);
  const std::string_view uid = name.substr(last + 1);
  if (first == last || ns.empty() || pod.empty() || uid.empty()) return std::nullopt;
  return sync::PodIdentity{.ref = {std::string(ns), std::string(pod)},
                           .uid = PodUid(std::string(uid))};
}

void PodLeftoverFinder::Find(const Context& context,
                             reactor::Done<std::vector<sync::PodIdentity>> done) {
  files_.List(context, options_.root_folder + "/pods", kPodsMax,
              [this, context, done = std::move(done)](Result<Entries> listed) mutable {
                Result<Entries> data = OrNothing(std::move(listed));
                if (!data) return done(data.error());
                files_.List(context, options_.logs_folder, kPodsMax,
                            [data = *std::move(data),
                             done = std::move(done)](Result<Entries> also_listed) mutable {
                              const Result<Entries> logs = OrNothing(std::move(also_listed));
                              if (!logs) return done(logs.error());
                              done(PodsOf(data, *logs));
                            });
              });
}

void PodLeftoverFinder::RemoveDeadLinks(const Context& context, reactor::Done<size_t> done) {
  if (options_.links_folder.empty()) {
    loop_.Post([done = std::move(done)]() mutable { done(size_t{0}); });
    return;
  }
  managers::RemoveDeadLinks(files_, runtime_, context, options_.links_folder, std::move(done));
}

}  // namespace denselet::managers
