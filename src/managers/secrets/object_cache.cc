#include "managers/secrets/object_cache.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/quoted.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;

const kube::Resource& ResourceOfKind(sync::ObjectKind kind) {
  return kind == sync::ObjectKind::kSecret ? kube::kSecrets : kube::kConfigMaps;
}

// As upstream calls them in what people read.
std::string_view WordFor(sync::ObjectKind kind) {
  return kind == sync::ObjectKind::kSecret ? "secret" : "configmap";
}

Error NotFound(const sync::ObjectKey& key) {
  return Error(ErrorCode::kNotFound,
               std::string(WordFor(key.kind)) + " \"" + key.ref.name + "\" not found");
}

Error NotSynced(const sync::ObjectKey& key) {
  return Error(ErrorCode::kUnavailable, "failed to sync " + std::string(WordFor(key.kind)) +
                                            " cache: timed out waiting for the condition");
}

std::optional<uint64_t> NumberOf(const std::string& version) {
  uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [stop, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Versions are numbers that grow. What is none is taken for news.
bool IsOlder(const std::string& version, const std::string& than) {
  const std::optional<uint64_t> a = NumberOf(version);
  const std::optional<uint64_t> b = NumberOf(than);
  return a && b && *a < *b;
}

// One as it is kept.
struct Kept {
  sync::ObjectBytes bytes;
  std::string uid;
  std::string version;
  bool immutable = false;
};

template <class Object>
Result<Kept> KeepAs(std::string_view wire) {
  Object object;
  if (!object.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return Error(ErrorCode::kCorrupt, "the API server's object cannot be read");
  }
  Kept kept{.bytes = {},
            .uid = object.metadata().uid(),
            .version = object.metadata().resourceversion(),
            .immutable = object.immutable()};
  // Nobody asks who wrote which field, and it is often more than the object.
  if (object.metadata().managedfields_size() > 0) {
    object.mutable_metadata()->clear_managedfields();
    kept.bytes = std::make_shared<const std::string>(object.SerializeAsString());
  } else {
    kept.bytes = std::make_shared<const std::string>(wire);
  }
  return kept;
}

Result<Kept> Keep(sync::ObjectKind kind, std::string_view wire) {
  return kind == sync::ObjectKind::kSecret ? KeepAs<core::Secret>(wire)
                                           : KeepAs<core::ConfigMap>(wire);
}

}  // namespace

class ObjectCache::Entry final : private sync::ListWatchUser {
 public:
  enum class State : uint8_t { kUnknown, kPresent, kAbsent };

  Entry(ObjectCache& cache, sync::ObjectKey key, uint64_t generation)
      : cache_(cache),
        key_(std::move(key)),
        generation_(generation),
        waiting_(cache.loop_, cache.options_.waiting_max) {}
  ~Entry() { cache_.loop_.Disarm(late_timer_); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const sync::ObjectKey& key() const { return key_; }
  uint64_t generation() const { return generation_; }
  State state() const { return state_; }
  bool watches() const { return watch_ != nullptr; }
  bool immutable() const { return kept_.immutable; }
  WaitingLine<sync::ObjectBytes>& waiting() { return waiting_; }
  std::map<uint32_t, ObjectUse>& holders() { return holders_; }
  bool live() const {
    return std::ranges::any_of(holders_,
                               [](const auto& h) { return h.second == ObjectUse::kLive; });
  }

  Result<sync::ObjectBytes> Answer() const {
    if (state_ == State::kPresent) return kept_.bytes;
    return NotFound(key_);
  }

  // Its watch has not spoken yet, so what is known of it is what a look has shown.
  bool unheard() const { return !heard_ && cache_.options_.detection == ChangeDetection::kWatch; }
  // ... and that was long ago.
  bool IsOld(TimePoint now) const {
    return unheard() && looked_at_ && now - *looked_at_ >= cache_.options_.ttl;
  }
  // The version to ask for. What is looked at once more for the time that has passed may come from
  // the server's cache, as upstream; what a pod has just begun to refer to may not, nor what was
  // missing, nor what somebody wants without any cache.
  std::string BeginLook() {
    refreshing_ = state_ == State::kPresent && looked_at_ &&
                  cache_.options_.detection != ChangeDetection::kGet;
    looking_ = true;
    return refreshing_ ? "0" : "";
  }

  void Watch() {
    if (watch_ != nullptr || cache_.api_ == nullptr) return;
    seen_ = false;
    heard_ = false;
    watch_ = cache_.api_->Follow({.resource = ResourceOfKind(key_.kind),
                                  .ns = key_.ref.ns,
                                  .field_selector = "metadata.name=" + key_.ref.name,
                                  .watch_time_min = cache_.options_.watch_time_min},
                                 *this);
  }
  void StopWatching() { watch_.reset(); }
  // Until it is asked for again.
  void Rest() {
    watch_.reset();
    kept_ = {};
    state_ = State::kUnknown;
    looked_at_.reset();
  }
  // Who waits is not to wait for a watch that has no place on any connection.
  void LookIfLate() {
    if (waits_) return;
    waits_ = true;
    late_timer_ =
        cache_.loop_.Arm(After(cache_.loop_.Now(), cache_.options_.first_wait_max), [this] {
          waits_ = false;
          if (state_ != State::kUnknown || waiting_.empty()) return;
          if (cache_.api_ == nullptr) return waiting_.Answer(NotSynced(key_));
          cache_.Look(*this);
        });
  }

  // What is known, or is being asked for, is not enough any more.
  void Invalidate() {
    looked_at_.reset();
    if (looking_ && !too_early_for_) too_early_for_ = waiting_.next();
  }

  // What a GET answered, to those who had come when it began. For all others together it is asked
  // once more.
  void Take(const Result<sync::ApiObject>& answer, TimePoint now) {
    looking_ = false;
    const std::optional<uint64_t> too_early_for = std::exchange(too_early_for_, std::nullopt);
    answers_before_ = too_early_for.value_or(kEveryone);
    Learn(answer, now);
    answers_before_ = kEveryone;
    if (!too_early_for) return;
    looked_at_.reset();
    if (!waiting_.empty()) cache_.Look(*this);
  }

  TimePoint used_at = {};
  std::optional<TimePoint> looked_at_ = {};  // of kCache and kGet
  bool looking_ = false;

 private:
  static constexpr uint64_t kEveryone = std::numeric_limits<uint64_t>::max();

  void Learn(const Result<sync::ApiObject>& answer, TimePoint now) {
    // The watch has spoken meanwhile, and tells of what came after this.
    if (cache_.options_.detection == ChangeDetection::kWatch && !unheard()) return;
    const bool gone = !answer && answer.error().code() == ErrorCode::kNotFound;
    Result<Kept> kept = answer ? Keep(key_.kind, answer->wire) : Result<Kept>(answer.error());
    if (!kept && !gone) return AnswerFailed(kept.error());
    // The server's cache may be behind what we know. That was no look, then.
    if (refreshing_ && kept && IsOlder(kept->version, kept_.version)) {
      return AnswerWaiting(Answer());
    }
    looked_at_ = now;
    if (gone) return SetAbsent();
    if (kept->immutable) watch_.reset();
    SetPresent(*std::move(kept));
  }

  // sync::ListWatchUser
  void OnObject(std::string_view wire) override {
    Result<Kept> kept = Keep(key_.kind, wire);
    // What cannot be read is no reason to forget what could.
    if (!kept) return;
    seen_ = true;
    heard_ = true;
    const bool immutable = kept->immutable;
    SetPresent(*std::move(kept));
    if (immutable) watch_.reset();
  }
  void OnGone(const ObjectRef&, std::string_view) override {
    seen_ = false;
    heard_ = true;
    SetAbsent();
  }
  void OnSynced() override {
    heard_ = true;
    if (!seen_) SetAbsent();
  }
  // It goes on trying; what was known stays true as far as anybody knows.
  void OnTrouble(const Error&) override {}

  // What was known serves on, as upstream; but who wants no cache gets none.
  void AnswerFailed(const Error& error) {
    const ChangeDetection detection = cache_.options_.detection;
    if (state_ != State::kUnknown && detection != ChangeDetection::kGet) {
      return AnswerWaiting(Answer());
    }
    AnswerWaiting(detection == ChangeDetection::kWatch ? NotSynced(key_) : error);
  }

  void SetPresent(Kept kept) {
    const bool same = state_ == State::kPresent && kept.uid == kept_.uid &&
                      kept.version == kept_.version && !kept.version.empty();
    if (!same) kept_ = std::move(kept);
    state_ = State::kPresent;
    AnswerWaiting(kept_.bytes);
    if (!same) Tell();
  }
  void SetAbsent() {
    const bool same = state_ == State::kAbsent;
    kept_ = {};
    state_ = State::kAbsent;
    AnswerWaiting(NotFound(key_));
    if (!same) Tell();
  }
  void AnswerWaiting(const Result<sync::ObjectBytes>& answer) {
    waiting_.AnswerBefore(answers_before_, answer);
  }
  void Tell() {
    std::vector<uint32_t> holders;
    for (const auto& [holder, use] : holders_) holders.push_back(holder);
    cache_.user_.OnObjectChanged(key_, holders);
  }

  ObjectCache& cache_;
  const sync::ObjectKey key_;
  const uint64_t generation_;
  State state_ = State::kUnknown;
  Kept kept_ = {};
  bool seen_ = false;                           // since the watch began
  bool heard_ = false;                          // the same, of anything
  bool refreshing_ = false;                     // by the look under way
  std::optional<uint64_t> too_early_for_ = {};  // the look under way: who waits from this one on
  uint64_t answers_before_ = kEveryone;         // who waits are answered by what is being learnt
  reactor::TimerId late_timer_ = {};
  bool waits_ = false;  // for it
  std::map<uint32_t, ObjectUse> holders_;
  std::unique_ptr<sync::ListWatch> watch_;
  WaitingLine<sync::ObjectBytes> waiting_;
};

ObjectCache::ObjectCache(reactor::Loop& loop, Random& random, ObjectCacheUser& user,
                         const ObjectCacheOptions& options)
    : loop_(loop), random_(random), user_(user), options_(options), ttl_(options.ttl) {}

ObjectCache::~ObjectCache() {
  cancel_.Cancel();
  if (sweeping_) loop_.Disarm(sweep_timer_);
}

void ObjectCache::Join(sync::ApiServer& api) {
  api_ = &api;
  if (options_.detection != ChangeDetection::kWatch) return;
  for (auto& [key, entry] : entries_) entry->Watch();
}

void ObjectCache::Leave() {
  cancel_.Cancel();
  api_ = nullptr;
  for (auto& [key, entry] : entries_) entry->StopWatching();
}

size_t ObjectCache::watches() const {
  return static_cast<size_t>(
      std::ranges::count_if(entries_, [](const auto& e) { return e.second->watches(); }));
}

Context ObjectCache::OwnContext() const {
  return {.deadline = After(loop_.Now(), options_.request_time_max),
          .priority = Priority::kNormal,
          .cancel = cancel_.token(),
          .trace = {}};
}

void ObjectCache::Hold(const sync::ObjectKey& key, uint32_t holder, ObjectUse use,
                       ObjectNews news) {
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= options_.objects_max) return;
    found = entries_.emplace(key, std::make_unique<Entry>(*this, key, next_generation_++)).first;
  }
  Entry& entry = *found->second;
  entry.used_at = loop_.Now();
  entry.holders().insert_or_assign(holder, use);
  if (options_.detection == ChangeDetection::kWatch) {
    if (!entry.immutable()) entry.Watch();
  } else if (news == ObjectNews::kNewPod) {
    entry.Invalidate();
  }
  if (sweeping_) return;
  sweeping_ = true;
  sweep_timer_ = loop_.Arm(After(loop_.Now(), options_.sweep_period), [this] { Sweep(); });
}

void ObjectCache::Drop(const sync::ObjectKey& key, uint32_t holder) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second->holders().erase(holder);
  if (found->second->holders().empty()) entries_.erase(found);
}

void ObjectCache::Fetch(const Context& context, const sync::ObjectKey& key,
                        reactor::Done<sync::ObjectBytes> done) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || !options_.has_api_server) {
    return FetchOnce(context, key, std::move(done));
  }
  Entry& entry = *found->second;
  const TimePoint now = loop_.Now();
  entry.used_at = now;
  const bool known = entry.state() != Entry::State::kUnknown && !entry.IsOld(now);
  const bool fresh = options_.detection == ChangeDetection::kWatch ||
                     (options_.detection == ChangeDetection::kCache && entry.looked_at_ &&
                      now - *entry.looked_at_ < ttl_);
  if ((known && fresh) || entry.immutable()) {
    return loop_.Post(
        [answer = entry.Answer(), done = std::move(done)]() mutable { done(std::move(answer)); });
  }
  const Duration wait = options_.detection == ChangeDetection::kWatch
                            ? options_.first_wait_max + options_.late_look_max
                            : options_.request_time_max;
  // Its time may end together with that of the request.
  const bool serves =
      entry.state() != Entry::State::kUnknown && options_.detection != ChangeDetection::kGet;
  entry.waiting().Add(std::min(context.deadline, After(now, wait)),
                      serves ? entry.Answer() : Result<sync::ObjectBytes>(NotSynced(key)),
                      std::move(done));
  if (options_.detection == ChangeDetection::kWatch) entry.Watch();
  if (options_.detection == ChangeDetection::kWatch && entry.state() == Entry::State::kUnknown) {
    entry.LookIfLate();
  } else {
    Look(entry);
  }
}

void ObjectCache::Look(Entry& entry) {
  if (entry.looking_ || api_ == nullptr) return;
  api_->Send(OwnContext(),
             {.verb = sync::ApiVerb::kGet,
              .resource = ResourceOfKind(entry.key().kind),
              .object = entry.key().ref,
              .resource_version = entry.BeginLook()},
             [this, alive = cancel_.token(), key = entry.key(),
              generation = entry.generation()](const Result<sync::ApiObject>& answer) {
               if (alive.cancelled()) return;
               const auto found = entries_.find(key);
               if (found == entries_.end() || found->second->generation() != generation) return;
               found->second->Take(answer, loop_.Now());
             });
}

void ObjectCache::FetchOnce(const Context& context, const sync::ObjectKey& key,
                            reactor::Done<sync::ObjectBytes> done) {
  if (api_ == nullptr) {
    const std::string word = key.kind == sync::ObjectKind::kSecret ? "secret" : "configMap";
    Error error =
        options_.has_api_server
            ? NotSynced(key)
            : Error(ErrorCode::kUnavailable,
                    "couldn't get " + word + " " + key.ref.ToString() + ", no kubeClient defined");
    return loop_.Post(
        [error = std::move(error), done = std::move(done)]() mutable { done(std::move(error)); });
  }
  Context own = OwnContext();
  own.deadline = std::min(own.deadline, context.deadline);
  own.priority = context.priority;
  api_->Send(own,
             {.verb = sync::ApiVerb::kGet, .resource = ResourceOfKind(key.kind), .object = key.ref},
             [key, done = std::move(done)](Result<sync::ApiObject> answer) mutable {
               if (!answer && answer.error().code() == ErrorCode::kNotFound) {
                 return done(NotFound(key));
               }
               if (!answer) return done(answer.error());
               Result<Kept> kept = Keep(key.kind, answer->wire);
               if (!kept) return done(kept.error());
               done(kept->bytes);
             });
}

// Lets go of what nobody reads, and looks again at what no watch tells of.
void ObjectCache::Sweep() {
  sweeping_ = !entries_.empty();
  const TimePoint now = loop_.Now();
  for (auto& [key, entry] : entries_) {
    if (options_.detection == ChangeDetection::kWatch) {
      // An immutable one costs no watch, and serves also while the server is away.
      const bool idle = !entry->live() && !entry->immutable() && entry->waiting().empty() &&
                        entry->state() != Entry::State::kUnknown &&
                        now - entry->used_at >= options_.idle_max;
      if (idle) {
        entry->Rest();
      } else if ((entry->live() || entry->state() == Entry::State::kAbsent) && entry->IsOld(now) &&
                 !entry->immutable()) {
        Look(*entry);
      }
      continue;
    }
    const bool wanted = entry->live() || entry->state() == Entry::State::kAbsent;
    const Duration lasts = options_.detection == ChangeDetection::kCache ? ttl_ : options_.ttl;
    const bool old = !entry->looked_at_ || now - *entry->looked_at_ >= lasts;
    if (wanted && old && !entry->immutable()) Look(*entry);
  }
  if (!sweeping_) return;
  const Duration pause = random_.Jitter(options_.sweep_period, 0.1);
  sweep_timer_ = loop_.Arm(After(now, pause), [this] { Sweep(); });
}

}  // namespace denselet::managers
