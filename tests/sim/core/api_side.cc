#include "tests/sim/core/api_side.h"

#include <iterator>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/fakes/api_object.h"

namespace denselet::sim {
namespace {

using kube::core::Pod;

ObjectRef NameOf(const SimPod& pod) { return {"default", pod.name}; }

Pod& PodOf(fakes::AnyObject& object) { return dynamic_cast<Pod&>(object.message()); }

constexpr const char* kForeign[] = {"example.com/Checked", "example.com/Billed"};

void WriteCondition(Pod& pod, const std::string& type, Random& random) {
  kube::core::PodCondition* place = nullptr;
  for (kube::core::PodCondition& condition : *pod.mutable_status()->mutable_conditions()) {
    if (condition.type() == type) place = &condition;
  }
  if (place == nullptr) place = pod.mutable_status()->add_conditions();
  place->set_type(type);
  place->set_status(random.Below(2) == 0 ? "True" : "False");
  place->set_message(std::to_string(random.Below(1000)));
}

}  // namespace

ApiSide::ApiSide(World& world, std::function<void(const ServerChange&)> changed)
    : world_(world),
      changed_(std::move(changed)),
      server_(world.loop(0), world.random(), model_),
      subscription_(model_.Subscribe([this] { OnChange(); })) {}

ApiSide::~ApiSide() { model_.Unsubscribe(subscription_); }

const Pod* ApiSide::Find(const std::string& name) const {
  const auto found = pods_.find({"default", name});
  return found == pods_.end() ? nullptr : found->second.get();
}

void ApiSide::OnChange() {
  const fakes::ApiModel::LastChange change = model_.last_change();
  std::shared_ptr<const Pod>& place = pods_[change.object];
  std::shared_ptr<const Pod> after;
  if (!change.deleted) {
    after = {change.after, &dynamic_cast<const Pod&>(change.after->object.message())};
  }
  const std::shared_ptr<const Pod> before = std::exchange(place, std::move(after));
  changed_({.before = before.get(), .after = place.get(), .who = who_});
  if (change.deleted) pods_.erase(change.object);
}

void ApiSide::Delete(const ObjectRef& name, const std::string& uid, int64_t grace) {
  sync::ApiRequest request{.verb = sync::ApiVerb::kDelete, .resource = kube::kPods, .object = name};
  request.grace_seconds = grace;
  request.uid_precondition = uid;
  // Its faults are for the agent.
  const fakes::ModelFaults faults = std::exchange(model_.faults(), {});
  model_.Serve(request, world_.clock().WallNow());
  model_.faults() = faults;
}

void ApiSide::Apply(const SimPod& pod) {
  const NotTheAgent author(*this);
  const ObjectRef name = NameOf(pod);
  const Pod* const there = Find(pod.name);
  const bool exists = there != nullptr && there->metadata().uid() == pod.uid.value();
  if (!pod.wished) {
    if (exists) Delete(name, pod.uid.value(), 0);
    return;
  }
  if (there != nullptr && !exists) return;  // the name is another's
  Pod wanted = pod.Object();
  if (!exists) {
    wanted.mutable_metadata()->set_generation(1);
    wanted.mutable_metadata()->mutable_creationtimestamp()->set_seconds(
        ToTimestamp(world_.clock().WallNow()).seconds);
    wanted.mutable_status()->set_phase("Pending");
    return model_.Put(kube::kPods, *fakes::AnyObject::Parse(kube::kPods, kube::EncodeWire(wanted)));
  }
  model_.Edit(kube::kPods, name, [&](fakes::AnyObject& object) {
    Pod& present = PodOf(object);
    if (kube::EncodeWire(present.spec()) != kube::EncodeWire(wanted.spec())) {
      *present.mutable_spec() = wanted.spec();
      present.mutable_metadata()->set_generation(present.metadata().generation() + 1);
    }
    (*present.mutable_metadata()->mutable_labels())["told"] = std::to_string(++told_);
  });
  if (pod.deleting) {
    Delete(name, pod.uid.value(), pod.deletion_grace.value_or(pod.grace_seconds));
  }
}

std::string ApiSide::Meddle(Random& random) {
  if (pods_.empty()) return "";
  auto at = pods_.begin();
  std::advance(at, static_cast<int64_t>(random.Below(pods_.size())));
  const NotTheAgent stranger(*this);
  return MeddleWith(ObjectRef(at->first), *at->second, random);
}

std::string ApiSide::MeddleWith(const ObjectRef& name, const Pod& pod, Random& random) {
  const bool is_mirror = pod.metadata().annotations().contains("kubernetes.io/config.mirror");
  const bool is_gated = pod.spec().readinessgates_size() > 0;
  const uint64_t what = random.Below(4);
  if (is_mirror && what < 2) {
    Delete(name, pod.metadata().uid(), what == 0 ? 0 : 30);
    return "a stranger deletes the mirror " + name.name;
  }
  model_.Edit(kube::kPods, name, [&](fakes::AnyObject& object) {
    if (what == 3) {
      (*object.meta().mutable_labels())["stranger"] = std::to_string(++told_);
    } else {
      WriteCondition(PodOf(object), is_gated && what < 2 ? kSimGate : kForeign[random.Below(2)],
                     random);
    }
  });
  return "a stranger writes to " + name.name;
}

}  // namespace denselet::sim
