// A model of an API server: objects with versions, the history of their changes, and what the real
// server would answer. Pure: no loop, no time of its own, no chance; what is built on it
// (fake_api_server.h, http_api_server.h) has those.
//
// Modelled: optimistic concurrency, subresource status, graceful deletion of pods, finalizers,
// preconditions, field selectors, pages and their tokens, watches with bookmarks and initial
// events, compaction. Not modelled: defaults and validation beyond what a node agent meets,
// authorization, namespaces that do not exist, server-side apply.
//
// Owned by a test, on one thread. A crash of the server loses nothing: what was answered is in
// here.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "kube/api/codec/watch_frames.h"
#include "kube/api/objects/resource.h"
#include "sync/ports/api_server.h"
#include "tests/fakes/api_answers.h"
#include "tests/fakes/api_selector.h"

namespace denselet::fakes {

struct ListQuery {
  kube::Resource resource = {};
  std::string ns = {};  // empty: all
  std::string field_selector = {};
  std::string resource_version = {};
  std::string version_match = {};
  size_t limit = 0;  // 0: none
  std::string continue_token = {};
  // Of a watch.
  bool allow_bookmarks = false;
  bool send_initial_events = false;
};

struct ModelList {
  std::optional<ModelAnswer> refusal;  // then there is nothing else
  std::vector<std::string> items;
  uint64_t version = 0;
  std::string continue_token;

  // One object of kind PodList.
  ModelAnswer ToAnswer(const kube::Resource& resource) const;
};

struct ModelEvent {
  kube::WatchEventType type = kube::WatchEventType::kAdded;
  kube::TypeMeta object_type = {};
  std::string wire = {};
};

// What is asked for and how far it was told. A value; the model does not know of it.
struct ModelWatch {
  ListQuery query;
  FieldSelector selector;
  std::deque<ModelEvent> first;  // to be told before the changes
  uint64_t position = 0;         // changes up to this one are in `first` or were told
  bool over = false;             // it was told an error
};

// What is switched on happens to every request until it is switched off; counts to so many.
struct ModelFaults {
  bool refuses_initial_events = false;  // an older server
  uint32_t too_many_requests = 0;       // 429 to so many
  int retry_after_seconds = 1;
  uint32_t internal_errors = 0;  // 500 to so many; nothing is done
  // Lists that are content with any version get one so many changes ago.
  uint64_t cache_behind = 0;
};

class AnyObject;
struct StoredObject;

class ApiModel {
 public:
  explicit ApiModel(uint64_t first_version = 1000)
      : version_(first_version), compacted_(first_version) {}

  ModelFaults& faults() { return faults_; }
  uint64_t version() const { return version_; }
  size_t size() const { return objects_.size(); }

  // Any verb of the port.
  ModelAnswer Serve(const sync::ApiRequest& request, WallTime now);

  ModelList List(const ListQuery& query);
  // Ok: `watch` is set; it is brought on by Take.
  ModelAnswer Watch(const ListQuery& query, ModelWatch& watch);
  std::vector<ModelEvent> Take(ModelWatch& watch, size_t events_max);
  // How far it is, for a watch that was told all.
  ModelEvent Bookmark(const ModelWatch& watch) const;

  // Versions before this one are known no more, as after five minutes of a real server.
  void Compact(uint64_t version);

  // ---- what tests do behind everybody's back

  // As from a backup of that version. Only creations can be undone.
  void Restore(uint64_t version);

  // The object's bytes; empty: there is none.
  std::string Find(const kube::Resource& resource, const ObjectRef& object) const;
  // Without validation. False: there is no such object.
  bool Edit(const kube::Resource& resource, const ObjectRef& object,
            const std::function<void(AnyObject&)>& edit);
  // As it is, with its uid, and with the next version.
  void Put(const kube::Resource& resource, AnyObject object);
  // The state that a follower of it must have: name to version.
  std::map<ObjectRef, std::string> Versions(const ListQuery& query) const;

  // `changed` is called inside of what changes something.
  uint64_t Subscribe(UniqueFunction<void()> changed);
  void Unsubscribe(uint64_t subscription) { subscriptions_.erase(subscription); }
  // For who was told: the change that was made last. Valid until the next one.
  struct LastChange {
    std::string_view resource;  // its qualified name
    const ObjectRef& object;
    std::shared_ptr<const StoredObject> after;  // deleted: its last state
    bool deleted;
  };
  LastChange last_change() const;

 private:
  using Key = std::pair<std::string, ObjectRef>;  // the resource's qualified name first

  // The newest version of an object. Shared with who was told of it.
  using Stored = std::shared_ptr<const StoredObject>;
  using Wire = std::shared_ptr<const std::string>;

  struct Change {
    uint64_t version = 0;
    Key key;
    Wire before, after;    // before is null: it was created
    bool deleted = false;  // then `after` is its last state, with this version
  };

  std::optional<ModelAnswer> Fault();

  ModelAnswer Get(const sync::ApiRequest& request);
  ModelAnswer Create(const sync::ApiRequest& request, WallTime now);
  ModelAnswer CreateToken(const sync::ApiRequest& request, WallTime now);
  ModelAnswer Update(const sync::ApiRequest& request, WallTime now);
  ModelAnswer Patch(const sync::ApiRequest& request, WallTime now);
  // What update and patch share: `wanted` becomes the object, as far as the subresource may.
  ModelAnswer Replace(const sync::ApiRequest& request, const StoredObject& there, AnyObject wanted);
  ModelAnswer Delete(const sync::ApiRequest& request, WallTime now);
  ModelAnswer DeleteCollection(const sync::ApiRequest& request, WallTime now);

  // Null: there is none.
  Stored FindStored(const kube::Resource& resource, const ObjectRef& object) const;
  // Gives it a version, keeps it and tells. The bytes of what is there now, or was last.
  std::string Store(const Key& key, AnyObject object);
  std::string Erase(const Key& key, AnyObject object);
  Stored NextVersion(AnyObject object);
  void Record(Change change, Stored last);

  // All objects of the resource as they were.
  std::map<ObjectRef, Wire> StateAt(const kube::Resource& resource, uint64_t version) const;
  std::optional<ModelEvent> ToEvent(const Change& change, const ModelWatch& watch) const;
  std::string NextUid();

  std::map<Key, Stored> objects_;
  std::deque<Change> history_;  // by version; those after compacted_
  Stored last_;                 // of the last change
  uint64_t version_;
  uint64_t compacted_;
  uint64_t uids_ = 0;
  uint64_t tokens_ = 0;
  ModelFaults faults_;
  std::map<uint64_t, UniqueFunction<void()>> subscriptions_;
  uint64_t next_subscription_ = 1;
};

}  // namespace denselet::fakes
