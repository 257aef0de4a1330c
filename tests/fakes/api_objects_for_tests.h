// Objects that tests of the API server's twins make, and requests for them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/meta_view.h"
#include "kube/api/types.h"
#include "sync/ports/api_server.h"

namespace denselet::fakes {

inline kube::core::ConfigMap MakeConfigMap(const std::string& name,
                                           const std::string& value = "value") {
  kube::core::ConfigMap object;
  object.mutable_metadata()->set_name(name);
  object.mutable_metadata()->set_namespace_("default");
  (*object.mutable_data())["key"] = value;
  return object;
}

// A pod that the real server takes, too.
inline kube::core::Pod MakePod(const std::string& name, const std::string& node = "") {
  kube::core::Pod pod;
  pod.mutable_metadata()->set_name(name);
  pod.mutable_metadata()->set_namespace_("default");
  pod.mutable_spec()->set_nodename(node);
  pod.mutable_spec()->set_automountserviceaccounttoken(false);
  kube::core::Container& container = *pod.mutable_spec()->add_containers();
  container.set_name("main");
  container.set_image("image:1");
  return pod;
}

inline sync::ApiRequest CreateRequest(const kube::Resource& resource,
                                      const google::protobuf::Message& object,
                                      const std::string& ns = "default") {
  return {.verb = sync::ApiVerb::kCreate,
          .resource = resource,
          .object = {ns, ""},
          .body = kube::EncodeWire(object)};
}

inline sync::ApiRequest RequestOf(sync::ApiVerb verb, const kube::Resource& resource,
                                  const ObjectRef& object, std::string body = {}) {
  return {.verb = verb, .resource = resource, .object = object, .body = std::move(body)};
}

// Who follows: keeps what it was told, and what was wrong with the order of that.
struct FollowedObjects final : sync::ListWatchUser {
  struct Entry {
    std::string uid, version;
  };

  void OnObject(std::string_view wire) override {
    const Result<kube::MetaView> meta = kube::ReadMeta(wire);
    if (!meta) {
      faults.push_back("an object that is none");
      return;
    }
    ++told;
    if (in_trouble) faults.push_back(meta->Ref().ToString() + " was told in trouble");
    auto [entry, is_new] = objects.try_emplace(meta->Ref());
    if (!is_new && entry->second.uid != meta->uid) {
      faults.push_back(meta->Ref().ToString() + " was replaced without a word");
    }
    if (!is_new && entry->second.uid == meta->uid &&
        std::stoull(std::string(meta->resource_version)) <= std::stoull(entry->second.version)) {
      faults.push_back(meta->Ref().ToString() + " came as " + std::string(meta->resource_version) +
                       " after " + entry->second.version);
    }
    if (ended.contains(std::string(meta->uid))) {
      faults.push_back(meta->Ref().ToString() + " came back with the same uid");
    }
    entry->second = {std::string(meta->uid), std::string(meta->resource_version)};
  }
  void OnGone(const ObjectRef& object, std::string_view uid) override {
    const auto found = objects.find(object);
    if (found == objects.end() || found->second.uid != uid) {
      faults.push_back(object.ToString() + " is gone, but was not there");
      return;
    }
    if (uids_end) ended.insert(found->second.uid);
    objects.erase(found);
    ++gone;
  }
  void OnSynced() override { ++synced; }
  void OnTrouble(const Error& reason) override {
    troubles.push_back(reason.message());
    in_trouble = true;
  }
  void OnGoingOn() override {
    if (!in_trouble) faults.push_back("goes on without trouble");
    in_trouble = false;
  }

  std::map<ObjectRef, std::string> Versions() const {
    std::map<ObjectRef, std::string> versions;
    for (const auto& [object, entry] : objects) versions.emplace(object, entry.version);
    return versions;
  }

  std::string UidOf(const ObjectRef& object) const {
    const auto found = objects.find(object);
    return found == objects.end() ? "" : found->second.uid;
  }
  std::string VersionOf(const ObjectRef& object) const {
    const auto found = objects.find(object);
    return found == objects.end() ? "" : found->second.version;
  }

  // False where a field selector lets the same object come and go.
  bool uids_end = true;
  bool in_trouble = false;
  std::map<ObjectRef, Entry> objects;
  std::set<std::string> ended;
  int told = 0, gone = 0, synced = 0;
  std::vector<std::string> troubles, faults;
};

}  // namespace denselet::fakes
