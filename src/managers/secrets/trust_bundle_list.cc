#include "managers/secrets/trust_bundle_list.h"

#include <algorithm>
#include <utility>

#include "base/quoted.h"

namespace denselet::managers {
namespace {

constexpr kube::Resource kBetaBundles{kube::kCertificatesGroup, "v1beta1", "clustertrustbundles",
                                      "ClusterTrustBundle", kube::Scope::kCluster};
constexpr kube::Resource kAlphaBundles{kube::kCertificatesGroup, "v1alpha1", "clustertrustbundles",
                                       "ClusterTrustBundle", kube::Scope::kCluster};

Error Unlisted() {
  return {ErrorCode::kUnavailable, "ClusterTrustBundle informer has not yet synced"};
}
// Upstream's word for whatever the reason is that there are none.
Error Unsupported() {
  return {ErrorCode::kUnsupported,
          "ClusterTrustBundle projection is not supported in static kubelet mode"};
}

Result<sync::ObjectBytes> NoneOf(const sync::TrustWish& wish, std::string why) {
  if (wish.optional) return std::make_shared<const std::string>();
  return Error(ErrorCode::kNotFound, std::move(why));
}

}  // namespace

TrustBundleList::TrustBundleList(reactor::Loop& loop, Random& random, TrustBundleListUser& user,
                                 const TrustBundleListOptions& options)
    : loop_(loop),
      user_(user),
      options_(options),
      seed_(random.Next()),
      waiting_(loop, options.waiting_max) {}

TrustBundleList::~TrustBundleList() = default;

void TrustBundleList::Join(sync::ApiServer& api) {
  api_ = &api;
  if (wanted_) Follow(Stage::kBeta);
}

void TrustBundleList::Leave() {
  api_ = nullptr;
  watch_.reset();
}

void TrustBundleList::Drop(uint32_t holder) {
  holders_.erase(holder);
  if (!holders_.empty()) return;
  wanted_ = false;
  StopFollowing();
  stage_ = Stage::kIdle;
}

void TrustBundleList::StopFollowing() {
  watch_.reset();
  listed_ = false;
  bundles_.clear();
  made_.clear();
}

void TrustBundleList::Follow(Stage stage) {
  StopFollowing();
  stage_ = stage;
  if (stage == Stage::kAbsent) {
    absent_since_ = loop_.Now();
    return waiting_.Answer(Unsupported());
  }
  watch_ = api_->Follow({.resource = stage == Stage::kBeta ? kBetaBundles : kAlphaBundles}, *this);
}

void TrustBundleList::Fetch(const Context& context, const sync::TrustWish& wish,
                            reactor::Done<sync::ObjectBytes> done) {
  const auto answer = [&](Result<sync::ObjectBytes> now) {
    loop_.Post([now = std::move(now), done = std::move(done)]() mutable { done(std::move(now)); });
  };
  if (!options_.enabled || !options_.has_api_server) return answer(Unsupported());
  wanted_ = true;
  const bool again = stage_ == Stage::kIdle || (stage_ == Stage::kAbsent &&
                                                loop_.Now() - absent_since_ >= options_.look_again);
  if (again && api_ != nullptr) Follow(Stage::kBeta);
  if (stage_ == Stage::kAbsent) return answer(Unsupported());
  if (listed_) return answer(Answer(wish));
  waiting_.Add(std::min(context.deadline, After(loop_.Now(), options_.first_wait_max)), Unlisted(),
               [this, wish, done = std::move(done)](const Status& listed) mutable {
                 if (!listed) return done(listed.error());
                 done(Answer(wish));
               });
}

Result<sync::ObjectBytes> TrustBundleList::Answer(const sync::TrustWish& wish) {
  if (const auto known = made_.find(wish); known != made_.end()) return known->second;
  Result<sync::ObjectBytes> anchors = Make(wish);
  if (!anchors) return anchors;
  if (made_.size() >= options_.made_max) made_.clear();
  made_.emplace(wish, *anchors);
  return anchors;
}

Result<sync::ObjectBytes> TrustBundleList::Make(const sync::TrustWish& wish) const {
  std::vector<const TrustBundle*> meant;
  if (!wish.name.empty()) {
    const auto found = bundles_.find(wish.name);
    if (found == bundles_.end()) {
      return NoneOf(wish,
                    "while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io " +
                        GoQuoted(wish.name) + " not found");
    }
    meant.push_back(&found->second);
  } else {
    for (const auto& [name, bundle] : bundles_) {
      if (!wish.selector) break;  // none is meant; an empty one means all
      const Result<bool> selected = Selects(*wish.selector, bundle.labels);
      if (!selected) return selected.error();
      if (*selected && bundle.signer == wish.signer) meant.push_back(&bundle);
    }
    if (meant.empty()) {
      return NoneOf(wish,
                    "combination of signerName and labelSelector matched zero ClusterTrustBundles");
    }
  }
  return std::make_shared<const std::string>(PemOf(meant, seed_));
}

void TrustBundleList::OnObject(std::string_view wire) {
  Result<TrustBundle> bundle = ReadTrustBundle(wire);
  // What cannot be read is no reason to forget what could.
  if (!bundle || bundle->name.empty()) return;
  const std::string name = bundle->name;
  bundles_[name] = *std::move(bundle);
  Changed();
}

void TrustBundleList::OnGone(const ObjectRef& object, std::string_view) {
  if (bundles_.erase(object.name) != 0) Changed();
}

void TrustBundleList::Changed() {
  made_.clear();
  if (listed_) user_.OnTrustBundlesChanged(holders_);
}

// Who asked before the first list and was told that there is none yet asks again now.
void TrustBundleList::OnSynced() {
  if (std::exchange(listed_, true)) return;
  waiting_.Answer(Unit{});
  user_.OnTrustBundlesChanged(holders_);
}

void TrustBundleList::OnTrouble(const Error& reason) {
  if (listed_ || reason.code() != ErrorCode::kNotFound) return;  // it goes on trying
  Follow(stage_ == Stage::kBeta ? Stage::kAlpha : Stage::kAbsent);
}

}  // namespace denselet::managers
