#include "managers/secrets/service_list.h"

#include <algorithm>
#include <utility>

#include "kube/api/types.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;

constexpr const char* kMasterNamespace = "default";
constexpr const char* kMasterService = "kubernetes";

Error Unlisted() {
  return Error(ErrorCode::kUnavailable,
               "services have not yet been read at least once, cannot construct envvars");
}

}  // namespace

ServiceList::ServiceList(reactor::Loop& loop, const ServiceListOptions& options)
    : loop_(loop), options_(options), waiting_(loop, options.waiting_max) {}

ServiceList::~ServiceList() = default;

void ServiceList::Join(sync::ApiServer& api) {
  api_ = &api;
  if (!wanted_) return;
  watch_ =
      api_->Follow({.resource = kube::kServices, .field_selector = "spec.clusterIP!=None"}, *this);
}

void ServiceList::Leave() {
  api_ = nullptr;
  watch_.reset();
}

void ServiceList::Fetch(const Context& context, const std::string& ns,
                        sync::WhenUnlisted when_unlisted, reactor::Done<sync::ServiceSet> done) {
  if (!std::exchange(wanted_, true) && api_ != nullptr) Join(*api_);
  const bool at_once =
      listed_ || !options_.has_api_server || when_unlisted == sync::WhenUnlisted::kNone;
  if (at_once) {
    return loop_.Post(
        [services = Of(ns), done = std::move(done)]() mutable { done(std::move(services)); });
  }
  waiting_.Add(std::min(context.deadline, After(loop_.Now(), options_.first_wait_max)), Unlisted(),
               [this, ns, done = std::move(done)](const Status& listed) mutable {
                 if (!listed) return done(listed.error());
                 done(Of(ns));
               });
}

sync::ServiceSet ServiceList::Of(const std::string& ns) const {
  sync::ServiceSet set;
  if (const auto own = services_.find(ns); own != services_.end()) {
    for (const auto& [name, service] : own->second) set.services.push_back(service);
  }
  if (ns == kMasterNamespace) return set;
  const auto masters = services_.find(kMasterNamespace);
  if (masters == services_.end()) return set;
  const auto master = masters->second.find(kMasterService);
  if (master != masters->second.end()) set.services.push_back(master->second);
  return set;
}

void ServiceList::OnObject(std::string_view wire) {
  core::Service whole;
  if (!whole.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) return;
  core::Service kept;
  kept.mutable_metadata()->set_name(whole.metadata().name());
  kept.mutable_metadata()->set_namespace_(whole.metadata().namespace_());
  kept.mutable_spec()->set_clusterip(whole.spec().clusterip());
  *kept.mutable_spec()->mutable_ports() = whole.spec().ports();
  services_[whole.metadata().namespace_()][whole.metadata().name()] =
      std::make_shared<const std::string>(kept.SerializeAsString());
}

void ServiceList::OnGone(const ObjectRef& object, std::string_view) {
  const auto found = services_.find(object.ns);
  if (found == services_.end()) return;
  found->second.erase(object.name);
  if (found->second.empty()) services_.erase(found);
}

void ServiceList::OnSynced() {
  listed_ = true;
  waiting_.Answer(Unit{});
}

}  // namespace denselet::managers
