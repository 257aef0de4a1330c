// Objects and tokens as a test sets them, behind the port of those who fill volumes. Answers come
// in a later turn; changes are told to the pods that are followed and refer to the object.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

class ObjectsForTests final : public sync::PodObjects {
 public:
  explicit ObjectsForTests(reactor::Loop& loop) : loop_(loop) {}
  ~ObjectsForTests() override { *alive_ = false; }

  void set_user(sync::PodObjectsUser* user) { user_ = user; }
  // No bytes: there is none. Tells all that are followed: which of them refer to it is for them.
  void Set(const sync::ObjectKey& key, sync::ObjectBytes bytes) {
    objects_[key] = std::move(bytes);
    for (const PodUid& pod : followed_) {
      loop_.Post([this, alive = alive_, pod, key] {
        if (*alive && user_ != nullptr && followed_.count(pod) != 0) {
          user_->OnObjectChanged(pod, key);
        }
      });
    }
  }
  void set_unavailable(bool unavailable) { unavailable_ = unavailable; }
  // The service account is gone.
  void set_tokens_refused(bool refused) { tokens_refused_ = refused; }
  // Answers of fetches wait until then.
  void Hold() { held_ = true; }
  void Release() {
    held_ = false;
    for (auto& task : std::exchange(waiting_, {})) loop_.Post(std::move(task));
  }
  void set_token(std::string token, Duration lasts) {
    token_ = std::move(token);
    token_lasts_ = lasts;
  }
  const std::set<PodUid>& followed() const { return followed_; }
  uint64_t fetches() const { return fetches_; }
  uint64_t tokens_asked() const { return tokens_asked_; }

  void Follow(const kube::PodRef& pod) override {
    followed_.insert(PodUid(std::string(pod->hot().uid)));
  }
  void Unfollow(const PodUid& pod) override { followed_.erase(pod); }
  void Fetch(const Context&, const sync::ObjectKey& key,
             reactor::Done<sync::ObjectBytes> done) override {
    ++fetches_;
    Later([this, key, done = std::move(done)]() mutable {
      if (unavailable_) return done(Error(ErrorCode::kUnavailable, "no answer"));
      const auto found = objects_.find(key);
      if (found == objects_.end() || found->second == nullptr) {
        return done(Error(ErrorCode::kNotFound, "no such object"));
      }
      done(found->second);
    });
  }
  void Services(const Context&, const std::string&, sync::WhenUnlisted,
                reactor::Done<sync::ServiceSet> done) override {
    Later([done = std::move(done)]() mutable { done(sync::ServiceSet{}); });
  }
  void Token(const Context&, const sync::TokenWish&,
             reactor::Done<sync::ServiceToken> done) override {
    ++tokens_asked_;
    Later([this, done = std::move(done)]() mutable {
      if (unavailable_) return done(Error(ErrorCode::kUnavailable, "no answer"));
      if (tokens_refused_) return done(Error(ErrorCode::kNotFound, "no such account"));
      done(sync::ServiceToken{.token = token_,
                              .expires = loop_.WallNow() + token_lasts_,
                              .refresh_at = loop_.WallNow() + token_lasts_ * 8 / 10});
    });
  }
  // All of them have the same.
  void TrustAnchors(const Context&, const sync::TrustWish& wish,
                    reactor::Done<sync::ObjectBytes> done) override {
    Later([this, wish, done = std::move(done)]() mutable {
      const auto found = objects_.find({.kind = sync::ObjectKind::kTrustBundles});
      if (found != objects_.end() && found->second != nullptr) return done(found->second);
      if (wish.optional) return done(std::make_shared<const std::string>());
      done(Error(ErrorCode::kNotFound, "no such bundle"));
    });
  }

 private:
  void Later(reactor::Task task) {
    reactor::Task mine = [alive = alive_, task = std::move(task)]() mutable {
      if (*alive) task();
    };
    if (held_) {
      waiting_.push_back(std::move(mine));
    } else {
      loop_.Post(std::move(mine));
    }
  }

  reactor::Loop& loop_;
  sync::PodObjectsUser* user_ = nullptr;
  std::map<sync::ObjectKey, sync::ObjectBytes> objects_;
  std::set<PodUid> followed_;
  bool unavailable_ = false;
  bool tokens_refused_ = false;
  bool held_ = false;
  std::vector<reactor::Task> waiting_;
  std::string token_ = "token";
  Duration token_lasts_ = Hours(1);
  uint64_t fetches_ = 0;
  uint64_t tokens_asked_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace denselet::managers
