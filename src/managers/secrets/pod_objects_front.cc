#include "managers/secrets/pod_objects_front.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/api/types.h"

namespace denselet::managers {
namespace {

// One question: answered by home, or given up. Shared by the message and the cancel.
template <class T>
struct Question {
  reactor::Done<T> done;
  CancelRegistration cancelled;

  void Answer(Result<T> answer) {
    cancelled.Forget();
    if (reactor::Done<T> mine = std::exchange(done, nullptr)) mine(std::move(answer));
  }
};

}  // namespace

PodObjectsFront::PodObjectsFront(reactor::Shard& shard, PodObjectsHome::Handle home,
                                 uint32_t home_shard)
    : shard_(shard),
      home_(std::move(home)),
      home_shard_(home_shard),
      handle_(std::make_shared<PodObjectsFront*>(this)) {}

PodObjectsFront::~PodObjectsFront() {
  *handle_ = nullptr;
  if (waits_) shard_.loop().Disarm(timer_);
}

void PodObjectsFront::Follow(const kube::PodRef& pod) {
  const auto parsed = pod->Parse();
  if (!parsed) return;  // its worker tells of it
  const PodUid uid(std::string(pod->hot().uid));
  Uses after = ReferredObjects(**parsed);
  Uses& known = pods_[uid];
  if (known == after) return;
  const Uses before = std::exchange(known, std::move(after));
  Refer(uid, before, known);
  TellHome();
}

void PodObjectsFront::Unfollow(const PodUid& pod) {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return;
  Refer(pod, found->second, {});
  pods_.erase(found);
  gone_.insert(pod);
  TellHome();
}

void PodObjectsFront::Refer(const PodUid& pod, const Uses& before, const Uses& after) {
  for (const auto& [key, use] : before) {
    if (after.count(key) != 0) continue;
    const auto found = referred_.find(key);
    found->second.erase(pod);
    if (found->second.empty()) referred_.erase(found);
    untold_.try_emplace(key, ObjectNews::kAsBefore);
  }
  for (const auto& [key, use] : after) {
    const auto known = before.find(key);
    if (known != before.end() && known->second == use) continue;
    referred_[key][pod] = use;
    ObjectNews& news = untold_.try_emplace(key, ObjectNews::kAsBefore).first->second;
    if (known == before.end()) news = ObjectNews::kNewPod;
  }
}

void PodObjectsFront::TellHome() {
  if (waits_) return;
  HoldChanges changes;
  for (const auto& [key, news] : untold_) {
    std::optional<ObjectUse> use;
    if (const auto found = referred_.find(key); found != referred_.end()) {
      use = ObjectUse::kOnce;
      for (const auto& [pod, wants] : found->second) use = std::max(*use, wants);
    }
    changes.objects.push_back({key, use, news});
  }
  changes.gone.assign(gone_.begin(), gone_.end());
  const Status sent = shard_.Send(home_shard_, {},
                                  [home = home_, shard = shard_.index(), front = handle_,
                                   changes = std::move(changes)](const QueuedContext&) {
                                    if (*home != nullptr) (*home)->Take(shard, front, changes);
                                  });
  if (sent) {
    untold_.clear();
    gone_.clear();
    return;
  }
  waits_ = true;
  timer_ = shard_.loop().Arm(After(shard_.loop().Now(), kSendAgain), [this] {
    waits_ = false;
    TellHome();
  });
}

template <class T, class Work>
void PodObjectsFront::AskHome(const Context& context, Work work, reactor::Done<T> done) {
  const auto question = std::make_shared<Question<T>>();
  question->done = std::move(done);
  const Status sent = shard_.Ask<T>(
      home_shard_, context,
      [home = home_, work = std::move(work)](const QueuedContext& queued,
                                             reactor::Reply<T> reply) mutable {
        if (*home == nullptr) return;  // the reply says so
        // Its cancel is another shard's; here the time alone ends it.
        const Context here{.deadline = queued.context.deadline,
                           .priority = queued.context.priority,
                           .cancel = {},
                           .trace = queued.context.trace};
        work(**home, here,
             [reply = std::move(reply)](Result<T> answer) mutable { reply(std::move(answer)); });
      },
      [question, front = handle_](Result<T> answer) {
        if (*front != nullptr) question->Answer(std::move(answer));
      });
  const auto later = [&loop = shard_.loop(), question, front = handle_](Error error) {
    loop.Post([question, front, error = std::move(error)] {
      if (*front != nullptr) question->Answer(error);
    });
  };
  if (!sent) return later(sent.error());
  const Error given_up(ErrorCode::kCancelled, "nobody wants it any more");
  if (context.cancel.cancelled()) return later(given_up);
  question->cancelled = context.cancel.OnCancel([later, given_up] { later(given_up); });
}

void PodObjectsFront::Fetch(const Context& context, const sync::ObjectKey& key,
                            reactor::Done<sync::ObjectBytes> done) {
  AskHome<sync::ObjectBytes>(
      context,
      [key](PodObjectsHome& home, const Context& here, reactor::Done<sync::ObjectBytes> reply) {
        home.objects().Fetch(here, key, std::move(reply));
      },
      std::move(done));
}

void PodObjectsFront::Services(const Context& context, const std::string& ns,
                               sync::WhenUnlisted when_unlisted,
                               reactor::Done<sync::ServiceSet> done) {
  AskHome<sync::ServiceSet>(
      context,
      [ns, when_unlisted](PodObjectsHome& home, const Context& here,
                          reactor::Done<sync::ServiceSet> reply) {
        home.services().Fetch(here, ns, when_unlisted, std::move(reply));
      },
      std::move(done));
}

void PodObjectsFront::Token(const Context& context, const sync::TokenWish& wish,
                            reactor::Done<sync::ServiceToken> done) {
  AskHome<sync::ServiceToken>(
      context,
      [wish](PodObjectsHome& home, const Context& here, reactor::Done<sync::ServiceToken> reply) {
        home.tokens().Fetch(here, wish, std::move(reply));
      },
      std::move(done));
}

void PodObjectsFront::TrustAnchors(const Context& context, const sync::TrustWish& wish,
                                   reactor::Done<sync::ObjectBytes> done) {
  AskHome<sync::ObjectBytes>(
      context,
      [wish](PodObjectsHome& home, const Context& here, reactor::Done<sync::ObjectBytes> reply) {
        home.trust_bundles().Fetch(here, wish, std::move(reply));
      },
      std::move(done));
}

void PodObjectsFront::OnChanged(const std::vector<sync::ObjectKey>& keys) {
  for (const sync::ObjectKey& key : keys) {
    const auto found = referred_.find(key);
    if (found == referred_.end()) continue;
    std::vector<PodUid> pods;  // a user may let go of them
    for (const auto& [pod, use] : found->second) pods.push_back(pod);
    for (const PodUid& pod : pods) {
      for (sync::PodObjectsUser* user : users_) user->OnObjectChanged(pod, key);
    }
  }
}

}  // namespace denselet::managers
