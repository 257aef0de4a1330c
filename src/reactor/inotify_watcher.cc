#include "reactor/inotify_watcher.h"

#include <limits.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace denselet::reactor {
namespace {

// Entries of a directory that come or go: a step of the resolution may lead elsewhere.
constexpr uint32_t kEntryEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
// At the end of a path also writes, told when they are complete. No events about the thing itself:
// its deletion and its renaming are events of its directory, which is on the trail.
constexpr uint32_t kEndEvents = kEntryEvents | IN_CLOSE_WRITE;
// The kernel watch has ended by itself.
constexpr uint32_t kWatchGone = IN_IGNORED | IN_UNMOUNT;

// As many as the kernel follows; at the next it says ELOOP.
constexpr int kLinksMax = 40;
// A path of more steps is blind: a turn is too short for it.
constexpr int kStepsMax = 512;

// Due in the next turn. A timer instead of Post, because it can be taken back.
constexpr TimePoint kNextTurn = TimePoint::min();

// The components of `path` in front of what is in `rest`, whose end is the front.
void PushComponents(std::string_view path, std::vector<std::string>& rest) {
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    const std::string_view name = path.substr(slash == path.npos ? 0 : slash + 1);
    if (!name.empty() && name != ".") rest.emplace_back(name);
    path = path.substr(0, slash == path.npos ? 0 : slash);
  }
}

}  // namespace

// Resolves a path as the kernel does, and leaves a kernel watch at every step before looking at it.
class InotifyWatcher::PathWalk {
 public:
  explicit PathWalk(InotifyQueue& queue) : queue_(queue) {}

  Walked Walk(std::string_view path) {
    PushComponents(path, rest_);
    if (TakeSteps()) Watch(kEndEvents, "");
    std::vector<Step>& trail = walked_.trail;
    std::sort(trail.begin(), trail.end());
    trail.erase(std::unique(trail.begin(), trail.end()), trail.end());
    return std::move(walked_);
  }

 private:
  // False: the walk ended before the path did.
  bool TakeSteps() {
    for (int steps = 0; !rest_.empty(); ++steps) {
      if (steps == kStepsMax) return Blind();
      const std::string name = std::move(rest_.back());
      rest_.pop_back();
      if (name == "..") {
        at_.resize(at_.empty() ? 0 : at_.rfind('/'));
      } else if (!Watch(kEntryEvents | IN_ONLYDIR, name) || !Follow(name)) {
        return false;
      }
    }
    return true;
  }

  bool Watch(uint32_t events, const std::string& name) {
    const int wd = queue_.Add(at_.empty() ? "/" : at_, events);
    if (wd < 0) return Failed(-wd);
    walked_.trail.push_back({wd, name});
    return true;
  }

  bool Follow(const std::string& name) {
    const std::string path = at_ + '/' + name;
    std::array<char, PATH_MAX> buffer;
    const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
    if (size < 0 && errno != EINVAL) return Failed(errno);
    if (size < 0) {  // not a link
      at_ = path;
      return true;
    }
    // With too many links there is nothing at the path; when one of them changes, we hear.
    if (++links_ > kLinksMax) return false;
    const std::string_view link(buffer.data(), static_cast<size_t>(size));
    if (link.starts_with('/')) at_.clear();
    PushComponents(link, rest_);
    return true;
  }

  bool Failed(int error) {
    // Not there, or not a directory: when it comes, the directory before it tells. So it does when
    // a step already taken has changed under our feet.
    return error == ENOENT || error == ENOTDIR ? false : Blind();
  }

  bool Blind() {
    walked_.blind = true;
    return false;
  }

  InotifyQueue& queue_;
  Walked walked_;
  std::string at_;                 // resolved so far, free of links; empty is the root
  std::vector<std::string> rest_;  // components to go, the next one last
  int links_ = 0;
};

bool InotifyWatcher::InterestOrder::operator()(const Interest& a, const Interest& b) const {
  return std::tie(a.wd, a.name, a.watch) < std::tie(b.wd, b.name, b.watch);
}

bool InotifyWatcher::InterestOrder::operator()(const Interest& a, const Place& b) const {
  return a.wd != b.wd ? a.wd < b.wd : a.name < b.name;
}

bool InotifyWatcher::InterestOrder::operator()(const Place& a, const Interest& b) const {
  return a.wd != b.wd ? a.wd < b.wd : a.name < b.name;
}

Result<std::unique_ptr<InotifyWatcher>> InotifyWatcher::Make(Loop& loop,
                                                             const InotifyWatcherOptions& options) {
  Result<UniqueFd> instance = InotifyQueue::OpenInstance();
  if (!instance) return instance.error().With("watch paths");
  return std::unique_ptr<InotifyWatcher>(new InotifyWatcher(loop, options, std::move(*instance)));
}

InotifyWatcher::InotifyWatcher(Loop& loop, const InotifyWatcherOptions& options, UniqueFd instance)
    : loop_(loop),
      options_(options),
      queue_(loop, std::move(instance), [this](const InotifyEvent& event) { OnEvent(event); }),
      watches_(options.watches_max) {}

InotifyWatcher::~InotifyWatcher() {
  loop_.Disarm(run_heard_);
  loop_.Disarm(recheck_);
}

WatchId InotifyWatcher::Watch(std::string path, PathChanged changed) {
  CHECK(changed);
  if (!path.starts_with('/') || path.find('\0') != path.npos) return {};
  const std::optional<SlotKey> key =
      watches_.Insert({.path = std::move(path), .changed = std::move(changed), .walked = {}});
  if (!key) return {};
  Walk(*key, *watches_.Find(*key));
  return WatchId{*key};
}

void InotifyWatcher::Unwatch(WatchId watch) {
  const std::optional<Entry> entry = watches_.Remove(watch.key);
  if (!entry) return;
  DropInterests(watch.key, entry->walked.trail, {});
  if (entry->walked.blind) --stats_.watches_blind;
  if (entry->queued) std::erase(heard_, watch.key);
}

void InotifyWatcher::LookAgain() { HearAll(Due::kWalk); }

InotifyWatcherStats InotifyWatcher::stats() const {
  InotifyWatcherStats stats = stats_;
  stats.watches = watches_.size();
  return stats;
}

bool InotifyWatcher::Walk(SlotKey key, Entry& entry) {
  ++stats_.walks;
  const Walked old = std::exchange(entry.walked, PathWalk(queue_).Walk(entry.path));
  stats_.watches_blind += entry.walked.blind;
  stats_.watches_blind -= old.blind;
  if (entry.walked.blind && recheck_ == TimerId{}) {
    recheck_ = loop_.Arm(After(loop_.Now(), options_.recheck_period), [this] { Recheck(); });
  }
  if (entry.walked.trail == old.trail) return false;
  AddInterests(key, entry.walked.trail);
  DropInterests(key, old.trail, entry.walked.trail);
  return true;
}

void InotifyWatcher::AddInterests(SlotKey key, const std::vector<Step>& trail) {
  for (const Step& step : trail) interests_.insert({step.wd, step.name, key});
}

void InotifyWatcher::DropInterests(SlotKey key, const std::vector<Step>& trail,
                                   const std::vector<Step>& kept) {
  for (const Step& step : trail) {
    if (std::binary_search(kept.begin(), kept.end(), step)) continue;
    interests_.erase(Interest{step.wd, step.name, key});
    if (!interests_.contains(step.wd)) queue_.Remove(step.wd);
  }
}

void InotifyWatcher::OnEvent(const InotifyEvent& event) {
  ++stats_.events;
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    ++stats_.overflows;
    HearAll(Due::kWalkAndTell);
    return;
  }
  if ((event.mask & kWatchGone) != 0) {
    const auto [begin, end] = interests_.equal_range(event.wd);
    for (auto i = begin; i != end; ++i) Hear(i->watch, *watches_.Find(i->watch), Due::kWalkAndTell);
    return;
  }
  HearAt({event.wd, ""}, Due::kTell);
  if ((event.mask & kEntryEvents) != 0) HearAt({event.wd, event.name}, Due::kWalkAndTell);
}

void InotifyWatcher::HearAt(const Place& place, Due due) {
  const auto [begin, end] = interests_.equal_range(place);
  for (auto i = begin; i != end; ++i) Hear(i->watch, *watches_.Find(i->watch), due);
}

void InotifyWatcher::HearAll(Due due) {
  watches_.ForEach([&](SlotKey key, Entry& entry) { Hear(key, entry, due); });
}

void InotifyWatcher::Hear(SlotKey key, Entry& entry, Due due) {
  entry.walk_due |= due != Due::kTell;
  entry.tell_due |= due != Due::kWalk;
  if (entry.queued) return;
  entry.queued = true;
  heard_.push_back(key);
  ArmRunHeard();
}

void InotifyWatcher::ArmRunHeard() {
  if (run_heard_ != TimerId{}) return;
  run_heard_ = loop_.Arm(kNextTurn, [this] { RunHeard(); });
}

void InotifyWatcher::RunHeard() {
  ActivityScope scope(loop_.activity(), "path watcher");
  // Taken out first: what callbacks cause to be heard waits for the next turn.
  const size_t count = std::min(heard_.size(), options_.watches_per_turn_max);
  const auto end = heard_.begin() + static_cast<ptrdiff_t>(count);
  const std::vector<SlotKey> batch(heard_.begin(), end);
  heard_.erase(heard_.begin(), end);
  run_heard_ = {};
  if (!heard_.empty()) ArmRunHeard();
  for (const SlotKey key : batch) Settle(key);
}

void InotifyWatcher::Settle(SlotKey key) {
  Entry* entry = watches_.Find(key);
  if (entry == nullptr) return;  // an earlier callback of this batch ended it
  entry->queued = false;
  const bool moved = std::exchange(entry->walk_due, false) && Walk(key, *entry);
  const bool told = std::exchange(entry->tell_due, false);
  if (moved || told) Tell(key);
}

void InotifyWatcher::Tell(SlotKey key) {
  ++stats_.callbacks;
  // Out of the map while it runs: it may end its own watch, or begin others, which moves the map.
  PathChanged changed = std::move(watches_.Find(key)->changed);
  changed();
  if (Entry* entry = watches_.Find(key)) entry->changed = std::move(changed);
}

void InotifyWatcher::Recheck() {
  recheck_ = {};
  // The walks arm the timer again where they stay blind.
  watches_.ForEach([&](SlotKey key, Entry& entry) {
    if (entry.walked.blind) Hear(key, entry, Due::kWalkAndTell);
  });
}

}  // namespace denselet::reactor
