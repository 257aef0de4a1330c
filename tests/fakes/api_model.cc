#include "tests/fakes/api_model.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/meta_view.h"
#include "tests/fakes/api_object.h"

namespace denselet::fakes {
namespace {

using kube::WatchEventType;

constexpr char kInitialEventsEnd[] = "k8s.io/initial-events-end";
constexpr char kContinueTooOld[] =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter.";

std::optional<uint64_t> ParseVersion(std::string_view text) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

// "VERSION/NAMESPACE/NAME" of the last object that was told; version 0: whatever is newest.
struct ContinueToken {
  uint64_t version = 0;
  ObjectRef last;

  std::string ToString() const { return std::to_string(version) + "/" + last.ns + "/" + last.name; }
  static std::optional<ContinueToken> Parse(std::string_view text) {
    const size_t first = text.find('/');
    if (first == std::string_view::npos) return std::nullopt;
    const size_t second = text.find('/', first + 1);
    const std::optional<uint64_t> version = ParseVersion(text.substr(0, first));
    if (!version || second == std::string_view::npos) return std::nullopt;
    return ContinueToken{*version,
                         {std::string(text.substr(first + 1, second - first - 1)),
                          std::string(text.substr(second + 1))}};
  }
};

AnyObject MustParse(const kube::Resource& resource, std::string_view wire) {
  Result<AnyObject> object = AnyObject::Parse(resource, wire);
  CHECK(bool(object));
  return *std::move(object);
}

bool IsIn(const ObjectRef& object, const std::string& ns) { return ns.empty() || object.ns == ns; }

// One field of a message in protobuf: its number, and bytes.
void AppendBytes(int number, std::string_view bytes, std::string& out) {
  out += static_cast<char>(number << 3 | 2);
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(size | 0x80);
  out += static_cast<char>(size);
  out += bytes;
}

}  // namespace

ModelAnswer ModelList::ToAnswer(const kube::Resource& resource) const {
  if (refusal) return *refusal;
  kube::meta::ListMeta meta;
  meta.set_resourceversion(std::to_string(version));
  meta.set_continue_(continue_token);
  ModelAnswer answer;
  answer.type = {resource.ApiVersion(), std::string(resource.kind) + "List"};
  AppendBytes(1, kube::EncodeWire(meta), answer.wire);
  for (const std::string& item : items) AppendBytes(2, item, answer.wire);
  return answer;
}

std::optional<ModelAnswer> ApiModel::Fault() {
  if (faults_.too_many_requests > 0) {
    --faults_.too_many_requests;
    return TooManyRequests(faults_.retry_after_seconds);
  }
  if (faults_.internal_errors > 0) {
    --faults_.internal_errors;
    return InternalError();
  }
  return std::nullopt;
}

// ---- history

void ApiModel::Record(Change change, Stored last) {
  history_.push_back(std::move(change));
  last_ = std::move(last);
  for (auto& [id, changed] : subscriptions_) changed();
}

ApiModel::LastChange ApiModel::last_change() const {
  const Change& last = history_.back();
  return {last.key.first, last.key.second, last_, last.deleted};
}

uint64_t ApiModel::Subscribe(UniqueFunction<void()> changed) {
  subscriptions_.emplace(next_subscription_, std::move(changed));
  return next_subscription_++;
}

void ApiModel::Compact(uint64_t version) {
  compacted_ = std::clamp(version, compacted_, version_);
  while (!history_.empty() && history_.front().version <= compacted_) history_.pop_front();
}

void ApiModel::Restore(uint64_t version) {
  while (!history_.empty() && history_.back().version > version) {
    CHECK(history_.back().before == nullptr);
    objects_.erase(history_.back().key);
    history_.pop_back();
  }
  version_ = version;
}

std::map<ObjectRef, ApiModel::Wire> ApiModel::StateAt(const kube::Resource& resource,
                                                      uint64_t version) const {
  const std::string name = QualifiedName(resource);
  std::map<ObjectRef, Wire> state;
  for (auto entry = objects_.lower_bound({name, {}});
       entry != objects_.end() && entry->first.first == name; ++entry) {
    state.emplace(entry->first.second, entry->second->wire);
  }
  for (auto change = history_.rbegin(); change != history_.rend(); ++change) {
    if (change->version <= version) break;
    if (change->key.first != name) continue;
    if (change->before == nullptr) {
      state.erase(change->key.second);
    } else {
      state[change->key.second] = change->before;
    }
  }
  return state;
}

ApiModel::Stored ApiModel::FindStored(const kube::Resource& resource,
                                      const ObjectRef& object) const {
  const auto found = objects_.find({QualifiedName(resource), object});
  return found == objects_.end() ? nullptr : found->second;
}

std::string ApiModel::Find(const kube::Resource& resource, const ObjectRef& object) const {
  const Stored found = FindStored(resource, object);
  return found == nullptr ? std::string() : *found->wire;
}

std::map<ObjectRef, std::string> ApiModel::Versions(const ListQuery& query) const {
  const Result<FieldSelector> selector = FieldSelector::Parse(query.resource, query.field_selector);
  CHECK(bool(selector));
  std::map<ObjectRef, std::string> versions;
  for (const auto& [object, wire] : StateAt(query.resource, version_)) {
    if (!IsIn(object, query.ns) || !selector->Matches(*wire)) continue;
    versions.emplace(object, std::string(kube::ReadMeta(*wire)->resource_version));
  }
  return versions;
}

// ---- lists

ModelList ApiModel::List(const ListQuery& query) {
  ModelList list;
  const auto refuse = [&](ModelAnswer answer) {
    list.refusal = std::move(answer);
    return list;
  };
  if (auto fault = Fault()) return refuse(*fault);
  const Result<FieldSelector> selector = FieldSelector::Parse(query.resource, query.field_selector);
  if (!selector) return refuse(BadRequest(selector.error().message()));
  const std::optional<uint64_t> wanted =
      query.resource_version.empty() ? 0 : ParseVersion(query.resource_version);
  if (!wanted) return refuse(BadRequest("invalid resource version"));
  if (query.resource_version.empty() && !query.version_match.empty()) {
    return refuse(Invalid("ListOptions", "", "resourceVersionMatch: Forbidden"));
  }

  list.version = version_;
  ContinueToken from;
  if (!query.continue_token.empty()) {
    const std::optional<ContinueToken> token = ContinueToken::Parse(query.continue_token);
    if (!token) return refuse(BadRequest("continue key is not valid"));
    if (*wanted != 0) {
      return refuse(BadRequest("specifying resource version is not allowed when using continue"));
    }
    from = *token;
    if (from.version != 0 && from.version < compacted_) {
      return refuse(TooOld(kContinueTooOld, ContinueToken{0, from.last}.ToString()));
    }
    if (from.version != 0) list.version = from.version;
  } else if (*wanted > version_) {
    return refuse(TooLarge(*wanted, version_));
  } else if (query.resource_version == "0") {
    list.version = std::max(compacted_, version_ - std::min(version_, faults_.cache_behind));
  }

  // What comes out of the server's cache comes whole.
  const size_t limit = query.resource_version.empty() ? query.limit : 0;
  ObjectRef last;
  for (auto& [object, wire] : StateAt(query.resource, list.version)) {
    if (!query.continue_token.empty() && object <= from.last) continue;
    if (!IsIn(object, query.ns) || !selector->Matches(*wire)) continue;
    if (limit > 0 && list.items.size() == limit) {
      list.continue_token = ContinueToken{list.version, last}.ToString();
      break;
    }
    list.items.push_back(*wire);
    last = object;
  }
  return list;
}

// ---- watches

ModelAnswer ApiModel::Watch(const ListQuery& query, ModelWatch& watch) {
  if (auto fault = Fault()) return *fault;
  if (query.send_initial_events && faults_.refuses_initial_events) {
    return Invalid("ListOptions", "",
                   "sendInitialEvents: Forbidden: the WatchList feature is disabled");
  }
  if (query.send_initial_events != (query.version_match == "NotOlderThan")) {
    return Invalid("ListOptions", "", "resourceVersionMatch and sendInitialEvents belong together");
  }
  Result<FieldSelector> selector = FieldSelector::Parse(query.resource, query.field_selector);
  if (!selector) return BadRequest(selector.error().message());
  const std::optional<uint64_t> wanted =
      query.resource_version.empty() ? 0 : ParseVersion(query.resource_version);
  if (!wanted) return BadRequest("invalid resource version");
  if (query.send_initial_events && *wanted > version_) return TooLarge(*wanted, version_);

  watch = {.query = query,
           .selector = *std::move(selector),
           .first = {},
           .position = *wanted,
           .over = false};
  if (*wanted != 0 && !query.send_initial_events) return {};
  watch.position = version_;
  for (const auto& [object, wire] : StateAt(query.resource, version_)) {
    if (!IsIn(object, query.ns) || !watch.selector.Matches(*wire)) {
      continue;
    }
    watch.first.push_back({WatchEventType::kAdded, query.resource.Type(), *wire});
  }
  if (query.send_initial_events && query.allow_bookmarks) {
    ModelEvent end = Bookmark(watch);
    AnyObject object = MustParse(query.resource, end.wire);
    (*object.meta().mutable_annotations())[kInitialEventsEnd] = "true";
    end.wire = object.Wire();
    watch.first.push_back(std::move(end));
  }
  return {};
}

ModelEvent ApiModel::Bookmark(const ModelWatch& watch) const {
  AnyObject object = MustParse(watch.query.resource, {});
  object.meta().set_resourceversion(std::to_string(watch.position));
  return {WatchEventType::kBookmark, watch.query.resource.Type(), object.Wire()};
}

// A change as this watch sees it: what begins to match is new to it, what matches no more is gone.
std::optional<ModelEvent> ApiModel::ToEvent(const Change& change, const ModelWatch& watch) const {
  const ListQuery& query = watch.query;
  if (change.key.first != QualifiedName(query.resource)) return std::nullopt;
  if (!IsIn(change.key.second, query.ns)) return std::nullopt;
  const bool did = change.before != nullptr && watch.selector.Matches(*change.before);
  const bool does = !change.deleted && watch.selector.Matches(*change.after);
  if (!did && !does) return std::nullopt;
  if (does) {
    return ModelEvent{did ? WatchEventType::kModified : WatchEventType::kAdded,
                      query.resource.Type(), *change.after};
  }
  // As it was when it last matched, with the version at which that ended.
  AnyObject last = MustParse(query.resource, *change.before);
  last.meta().set_resourceversion(std::to_string(change.version));
  return ModelEvent{WatchEventType::kDeleted, query.resource.Type(), last.Wire()};
}

std::vector<ModelEvent> ApiModel::Take(ModelWatch& watch, size_t events_max) {
  std::vector<ModelEvent> events;
  while (!watch.first.empty() && events.size() < events_max) {
    events.push_back(std::move(watch.first.front()));
    watch.first.pop_front();
  }
  if (watch.over || !watch.first.empty()) return events;
  if (watch.position < compacted_) {
    const ModelAnswer too_old =
        TooOld("too old resource version: " + std::to_string(watch.position) + " (" +
               std::to_string(compacted_) + ")");
    events.push_back({WatchEventType::kError, too_old.type, too_old.wire});
    watch.over = true;
    return events;
  }
  auto change = std::ranges::upper_bound(history_, watch.position, {}, &Change::version);
  for (; change != history_.end() && events.size() < events_max; ++change) {
    watch.position = change->version;
    if (std::optional<ModelEvent> event = ToEvent(*change, watch)) {
      events.push_back(*std::move(event));
    }
  }
  return events;
}

}  // namespace denselet::fakes
