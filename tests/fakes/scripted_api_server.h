// An API server of a few kinds of objects that does as the test says: serves, refuses, stays
// silent, or serves and loses the answer. It remembers what it was asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/api/patch/strategic_patch.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_typed.h"

namespace denselet::tests {

class ScriptedApiServer final : public sync::ApiServer {
 public:
  explicit ScriptedApiServer(reactor::Loop& loop) : loop_(loop) {}

  struct Fate {
    enum class Kind : uint8_t { kServe, kRefuse, kHang, kServeAndLose };
    Kind kind = Kind::kServe;
    ErrorCode code = ErrorCode::kUnavailable;  // of kRefuse
    bool answered = false;                     // the server itself refuses
  };
  // Asked for every request; by default all are served.
  std::function<Fate(const sync::ApiRequest&)> fate = [](const auto&) { return Fate{}; };
  Duration latency = Milliseconds(2);

  struct Seen {
    TimePoint at;
    Context context;
    sync::ApiRequest request;
  };
  std::vector<Seen> seen;
  int idle_drops = 0;
  void DropIdleConnections() override { ++idle_drops; }

  size_t Count(sync::ApiVerb verb, std::string_view plural) const {
    size_t count = 0;
    for (const Seen& each : seen) {
      count += each.request.verb == verb && each.request.resource.plural == plural ? 1 : 0;
    }
    return count;
  }

  // What there is; null: nothing.
  template <class T>
  std::optional<T> Find(const ObjectRef& object) const {
    const auto found = objects_.find(PathOf(sync::ResourceOf<T>(), object));
    if (found == objects_.end()) return std::nullopt;
    T parsed;
    parsed.ParseFromString(found->second);
    return parsed;
  }

  // As somebody else does it.
  template <class T>
  void Put(const T& object) {
    T stored = object;
    stored.mutable_metadata()->set_resourceversion(std::to_string(++version_));
    if (stored.metadata().uid().empty()) {
      stored.mutable_metadata()->set_uid("uid-" + std::to_string(version_));
    }
    const ObjectRef ref{stored.metadata().namespace_(), stored.metadata().name()};
    objects_[PathOf(sync::ResourceOf<T>(), ref)] = stored.SerializeAsString();
    Announce(sync::ResourceOf<T>(), stored.SerializeAsString());
  }
  template <class T>
  void Remove(const ObjectRef& object) {
    objects_.erase(PathOf(sync::ResourceOf<T>(), object));
    for (Follower* follower : followers_) {
      if (follower->spec.resource.plural == sync::ResourceOf<T>().plural) {
        loop_.Post([this, follower, object] {
          if (IsThere(follower)) follower->user.OnGone(object, "");
        });
      }
    }
  }

  // To all who follow.
  void Interrupt(const Error& reason) {
    loop_.Post([this, reason] {
      for (Follower* follower : followers_) follower->user.OnTrouble(reason);
    });
  }
  void GoOn() {
    loop_.Post([this] {
      for (Follower* follower : followers_) follower->user.OnGoingOn();
    });
  }

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override {
    seen.push_back({loop_.Now(), context, request});
    const Fate what = fate(request);
    if (what.kind == Fate::Kind::kHang) {
      hanging_.push_back(std::move(done));
      if (context.deadline == kNever) return;
      loop_.Arm(context.deadline, [this, index = hanging_.size() - 1] {
        hanging_[index](Error(ErrorCode::kUnknownOutcome, "timed out"));
      });
      return;
    }
    loop_.Arm(After(loop_.Now(), latency),
              [this, what, request = std::move(request), done = std::move(done)]() mutable {
                if (what.kind == Fate::Kind::kRefuse) {
                  const Error refused(what.code, "refused");
                  return done(what.answered ? refused.AsAnswer() : refused);
                }
                Result<sync::ApiObject> answer = Serve(request);
                if (what.kind == Fate::Kind::kServeAndLose) {
                  return done(Error(ErrorCode::kUnknownOutcome, "the connection broke"));
                }
                done(std::move(answer));
              });
  }

  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override {
    auto follower = std::make_unique<Follower>(*this, std::move(spec), user);
    followers_.push_back(follower.get());
    loop_.Post([this, each = follower.get()] {
      if (!IsThere(each)) return;
      const std::string prefix = each->spec.resource.CollectionPath(each->spec.ns) + "/";
      for (const auto& [path, wire] : objects_) {
        if (path.starts_with(prefix)) each->user.OnObject(wire);
      }
      each->user.OnSynced();
    });
    return follower;
  }

 private:
  struct Follower final : sync::ListWatch {
    Follower(ScriptedApiServer& s, sync::ListWatchSpec what, sync::ListWatchUser& who)
        : server(s), spec(std::move(what)), user(who) {}
    ~Follower() override { std::erase(server.followers_, this); }
    const std::string& resource_version() const override { return version; }

    ScriptedApiServer& server;
    const sync::ListWatchSpec spec;
    sync::ListWatchUser& user;
    std::string version;
  };

  static std::string PathOf(const kube::Resource& resource, const ObjectRef& object) {
    return resource.ObjectPath(object);
  }
  bool IsThere(const Follower* follower) const {
    return std::find(followers_.begin(), followers_.end(), follower) != followers_.end();
  }
  void Announce(const kube::Resource& resource, const std::string& wire) {
    for (Follower* follower : followers_) {
      if (follower->spec.resource.plural != resource.plural) continue;
      loop_.Post([this, follower, wire] {
        if (IsThere(follower)) follower->user.OnObject(wire);
      });
    }
  }

  Result<sync::ApiObject> Serve(const sync::ApiRequest& request) {
    if (request.resource.plural == kube::kNodes.plural) return ServeAs<kube::core::Node>(request);
    if (request.resource.plural == kube::kEvents.plural) {
      return ServeAs<kube::core::Event>(request);
    }
    if (request.resource.plural == kube::kLeases.plural) {
      return ServeAs<sync::coordination::Lease>(request);
    }
    return Error(ErrorCode::kNotFound, "no such kind");
  }

  template <class T>
  Result<sync::ApiObject> ServeAs(const sync::ApiRequest& request) {
    const std::optional<T> there = Find<T>(request.object);
    switch (request.verb) {
      case sync::ApiVerb::kGet:
        if (!there) return Error(ErrorCode::kNotFound, "not found");
        return sync::ApiObject{there->SerializeAsString()};
      case sync::ApiVerb::kCreate: {
        T object;
        object.ParseFromString(request.body);
        const ObjectRef ref{request.object.ns, object.metadata().name()};
        if (Find<T>(ref)) return Error(ErrorCode::kAlreadyExists, "exists");
        object.mutable_metadata()->clear_uid();
        return Store(object, ref);
      }
      case sync::ApiVerb::kUpdate: {
        if (!there) return Error(ErrorCode::kNotFound, "not found");
        T object;
        object.ParseFromString(request.body);
        if (object.metadata().resourceversion() != there->metadata().resourceversion()) {
          return Error(ErrorCode::kConflict, "another version");
        }
        return Store(object, request.object);
      }
      case sync::ApiVerb::kPatch: {
        if (!there) return Error(ErrorCode::kNotFound, "not found");
        T object = *there;
        const Status patched = kube::ApplyStrategicPatch(object, request.body);
        if (!patched) return patched.error();
        return Store(object, request.object);
      }
      case sync::ApiVerb::kDelete:
      case sync::ApiVerb::kDeleteCollection:
        break;
    }
    return Error(ErrorCode::kUnsupported, "not scripted");
  }
  template <class T>
  Result<sync::ApiObject> Store(const T& object, const ObjectRef& ref) {
    Put(object);
    return sync::ApiObject{Find<T>(ref)->SerializeAsString()};
  }

  reactor::Loop& loop_;
  uint64_t version_ = 0;
  std::map<std::string, std::string> objects_;  // by path
  std::vector<Follower*> followers_;
  std::vector<reactor::Done<sync::ApiObject>> hanging_;
};

}  // namespace denselet::tests
