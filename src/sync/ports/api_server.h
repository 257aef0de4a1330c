// The API server as the agent sees it: the only way by which anybody reaches it. kube/client
// implements it over HTTP/2; tests have a model of the server behind the same port.
//
// Lives on the API shard, and answers there. Objects travel as their protobuf bytes; api_typed.h
// puts the generated types around that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/objects/resource.h"
#include "reactor/api/file_system.h"

namespace denselet::sync {

enum class ApiVerb : uint8_t { kGet, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };

// Whose turn it is when requests are limited, and which connection carries them.
enum class ApiTraffic : uint8_t {
  kHeartbeat,  // lease and node status: never limited, on a connection of their own
  kMain,       // kubeAPIQPS, kubeAPIBurst
  kEvents,     // eventRecordQPS, eventBurst
};

struct ApiRequest {
  ApiVerb verb = ApiVerb::kGet;
  kube::Resource resource = {};
  ObjectRef object = {};         // without a name: the collection (create, delete-collection)
  std::string subresource = {};  // "status", "token"
  ApiTraffic traffic = ApiTraffic::kMain;

  // Of create and update: the object's protobuf bytes. Of patch: a strategic merge patch in JSON.
  std::string body = {};
  // Of get: "0" is content with what the server's cache has.
  std::string resource_version = {};
  // Of delete.
  std::optional<int64_t> grace_seconds = {};
  std::string uid_precondition = {};  // empty: none
  // Of delete-collection.
  std::string field_selector = {};
};

// An object as the server answered. Of a delete: what it was, if the server says.
struct ApiObject {
  std::string wire = {};
};

// What a list-watch follows.
struct ListWatchSpec {
  kube::Resource resource = {};
  std::string ns = {};  // empty: all
  std::string field_selector = {};
  // The server ends each watch after this, or up to twice as long; then it is taken up again.
  Duration watch_time_min = Minutes(5);
  // Of pages, which take their turn under kubeAPIQPS; watches take none.
  Priority priority = Priority::kNormal;
};

// Who follows. Calls come in turns of the loop, never inside a call to the list-watch, which may be
// destroyed in any of them.
class ListWatchUser {
 public:
  // An object that is new or has changed; `wire` is valid during the call. One of the same name but
  // with another uid is announced by OnGone of the old one.
  virtual void OnObject(std::string_view wire) = 0;
  virtual void OnGone(const ObjectRef& object, std::string_view uid) = 0;
  // A list begins, the first or a later one; it may begin again before OnSynced. Until then some of
  // what was told before may be gone without a word.
  virtual void OnListing() {}
  // Everything that there was when the list was taken has been told, and what is no more was told
  // to be gone. Comes after the first list and after each later one.
  virtual void OnSynced() = 0;
  // It does not come through, or was broken; it goes on trying, for ever and with pauses.
  virtual void OnTrouble(const Error& reason) = 0;
  // After trouble: the server answers again. Comes before what it then tells.
  virtual void OnGoingOn() {}

 protected:
  ~ListWatchUser() = default;
};

// Destroying it ends it, without a further call.
class ListWatch {
 public:
  virtual ~ListWatch() = default;
  // Up to which version of the collection all was told; empty before the first list.
  virtual const std::string& resource_version() const = 0;
};

class ApiServer {
 public:
  virtual ~ApiServer() = default;

  // Answers once, in a later turn. What the server says no to (Error::answered, as of its 5xx):
  //   kNotFound, kAlreadyExists, kPermission (401 and 403), kInvalid (400, 405, 413, 415, 422)
  //   kConflict       another version, uid or state (a namespace that ends); a version too old
  //   kOverloaded     429 beyond all retries
  // where the server was not asked:
  //   kOverloaded     (not answered) a queue of ours is full, or it did not get its turn under the
  //                   rate limit in time: the server is not to blame, and may be well
  // and otherwise, after the retries that are safe:
  //   kUnavailable    not processed; kUnknownOutcome: it may have been (never of a get)
  //   kDeadlineExceeded, kCancelled, kCorrupt as the context and the answer have it
  virtual void Send(const Context& context, ApiRequest request, reactor::Done<ApiObject> done) = 0;

  virtual std::unique_ptr<ListWatch> Follow(ListWatchSpec spec, ListWatchUser& user) = 0;

  // Requests of that kind wait for their turn: what can wait should not stand in their way.
  virtual bool IsBusy(ApiTraffic) const { return false; }

  // Heartbeats have failed more than once: connections that carry nothing may lead nowhere any
  // more, and are given up. For who has connections.
  virtual void DropIdleConnections() {}
};

}  // namespace denselet::sync
