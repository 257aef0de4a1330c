// What pods refer to, as a test has it: objects and services by hand, answers in a later turn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/pod_objects.h"
#include "sync/ports/pod_volumes.h"

namespace denselet::fakes {

class FakePodObjects final : public sync::PodObjects {
 public:
  explicit FakePodObjects(reactor::Loop& loop) : loop_(loop) {}

  template <class Object>
  void Put(sync::ObjectKind kind, const Object& object) {
    objects_[{kind, {object.metadata().namespace_(), object.metadata().name()}}] =
        std::make_shared<const std::string>(object.SerializeAsString());
  }
  template <class Service>
  void PutService(const Service& service) {
    services_.services.push_back(std::make_shared<const std::string>(service.SerializeAsString()));
  }
  // Until told otherwise nothing is listed, nothing is answered.
  bool listed = true;
  bool silent = false;
  uint64_t asked = 0;

  void Follow(const kube::PodRef&) override {}
  void Unfollow(const PodUid&) override {}
  void Fetch(const Context&, const sync::ObjectKey& key,
             reactor::Done<sync::ObjectBytes> done) override {
    ++asked;
    if (silent) return;
    const auto found = objects_.find(key);
    const char* word = key.kind == sync::ObjectKind::kSecret ? "secret" : "configmap";
    Answer<sync::ObjectBytes>(
        std::move(done), found != objects_.end()
                             ? Result<sync::ObjectBytes>(found->second)
                             : Error(ErrorCode::kNotFound,
                                     std::string(word) + " \"" + key.ref.name + "\" not found"));
  }
  void Services(const Context&, const std::string&, sync::WhenUnlisted when_unlisted,
                reactor::Done<sync::ServiceSet> done) override {
    if (!listed && when_unlisted == sync::WhenUnlisted::kWait) {
      return Answer<sync::ServiceSet>(std::move(done),
                                      Error(ErrorCode::kUnavailable, "services unlisted"));
    }
    Answer<sync::ServiceSet>(std::move(done), listed ? services_ : sync::ServiceSet());
  }
  void Token(const Context&, const sync::TokenWish&,
             reactor::Done<sync::ServiceToken> done) override {
    Answer<sync::ServiceToken>(std::move(done), Error(ErrorCode::kUnavailable, "no tokens here"));
  }
  void TrustAnchors(const Context&, const sync::TrustWish&,
                    reactor::Done<sync::ObjectBytes> done) override {
    Answer<sync::ObjectBytes>(std::move(done), Error(ErrorCode::kUnavailable, "no bundles here"));
  }

 private:
  template <class T>
  void Answer(reactor::Done<T> done, Result<T> answer) {
    loop_.Post([done = std::move(done), answer = std::move(answer)]() mutable {
      done(std::move(answer));
    });
  }

  reactor::Loop& loop_;
  std::map<sync::ObjectKey, sync::ObjectBytes> objects_;
  sync::ServiceSet services_;
};

// Volumes of which there are files, and no mounts but those that a test gives.
class FakePodVolumes final : public sync::PodVolumes {
 public:
  explicit FakePodVolumes(reactor::Loop& loop) : loop_(loop) {}

  Result<std::vector<sync::MountSpec>> mounts = std::vector<sync::MountSpec>();
  std::map<std::pair<std::string, std::string>, std::string> files;  // by volume and path
  sync::KeyValues seen_env;

  void MountsOf(const Context&, const kube::PodRef&, const sync::ContainerWish&,
                const sync::KeyValues& env,
                reactor::Done<std::vector<sync::MountSpec>> done) override {
    seen_env = env;
    loop_.Post([done = std::move(done), answer = mounts]() mutable { done(std::move(answer)); });
  }
  void ReadFile(const Context&, const kube::PodRef&, const std::string& volume,
                const std::string& path, size_t, reactor::Done<std::string> done) override {
    const auto found = files.find({volume, path});
    loop_.Post([done = std::move(done),
                answer = found != files.end()
                             ? Result<std::string>(found->second)
                             : Error(ErrorCode::kNotFound, "no such file")]() mutable {
      done(std::move(answer));
    });
  }

 private:
  reactor::Loop& loop_;
};

}  // namespace denselet::fakes
