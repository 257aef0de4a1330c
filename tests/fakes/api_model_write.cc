// What changes the objects of an ApiModel.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/patch/strategic_patch.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/api_model.h"
#include "tests/fakes/api_object.h"

namespace denselet::fakes {
namespace {

using kube::Resource;
using sync::ApiRequest;
using sync::ApiVerb;

constexpr char kModified[] =
    "the object has been modified; please apply your changes to the latest version and try again";

bool IsPod(const Resource& resource) { return resource.plural == "pods"; }

// Resources whose update may leave out the version it starts from.
bool MayUpdateBlindly(const Resource& resource) {
  return resource.group.empty() || resource.group == kube::kCertificatesGroup;
}
bool MayCreateByUpdate(const Resource& resource) {
  return resource.plural == "leases" || resource.plural == "events" ||
         resource.plural == "services" || resource.plural == "runtimeclasses";
}
// Those whose delete is answered with what was deleted.
bool ReturnsDeleted(const Resource& resource) {
  return IsPod(resource) || resource.plural == "services" || resource.plural == "serviceaccounts" ||
         resource.plural == "csinodes";
}

kube::meta::Time TimeOf(WallTime wall) {
  kube::meta::Time time;
  time.set_seconds(ToTimestamp(wall).seconds);
  time.set_nanos(0);
  return time;
}

ModelAnswer Answer(const Resource& resource, std::string wire, int http_status = 200) {
  return {.http_status = http_status, .type = resource.Type(), .wire = std::move(wire)};
}

// Empty: nothing is wrong with it, as far as this model looks.
std::string FaultOf(const Resource& resource, const AnyObject& object) {
  if (!IsPod(resource)) return {};
  const auto& pod = dynamic_cast<const kube::core::Pod&>(object.message());
  if (pod.spec().containers().empty()) return "spec.containers: Required value";
  for (const kube::core::Container& container : pod.spec().containers()) {
    if (container.name().empty()) return "spec.containers[0].name: Required value";
  }
  return {};
}

std::string PreconditionFault(const kube::meta::ObjectMeta& wanted,
                              const kube::meta::ObjectMeta& present) {
  if (!wanted.uid().empty() && wanted.uid() != present.uid()) {
    return "Precondition failed: UID in precondition: " + wanted.uid() +
           ", UID in object meta: " + present.uid();
  }
  if (!wanted.resourceversion().empty() && wanted.resourceversion() != present.resourceversion()) {
    return kModified;
  }
  return {};
}

void KeepWhatIsTheServers(kube::meta::ObjectMeta& wanted, const kube::meta::ObjectMeta& present) {
  wanted.set_name(present.name());
  wanted.set_namespace_(present.namespace_());
  wanted.set_uid(present.uid());
  wanted.set_resourceversion(present.resourceversion());
  wanted.set_generation(present.generation());
  *wanted.mutable_creationtimestamp() = present.creationtimestamp();
  wanted.clear_deletiontimestamp();
  wanted.clear_deletiongraceperiodseconds();
  if (!present.has_deletiontimestamp()) return;
  *wanted.mutable_deletiontimestamp() = present.deletiontimestamp();
  wanted.set_deletiongraceperiodseconds(present.deletiongraceperiodseconds());
}

void PrepareNewPod(kube::core::Pod& pod) {
  pod.mutable_metadata()->set_generation(1);
  pod.mutable_status()->Clear();
  pod.mutable_status()->set_phase("Pending");
  if (!pod.spec().has_terminationgraceperiodseconds()) {
    pod.mutable_spec()->set_terminationgraceperiodseconds(30);
  }
}

// How long a pod may take to end; 0: it is gone at once.
int64_t GraceOf(const kube::core::Pod& pod, const std::optional<int64_t>& asked) {
  if (pod.spec().nodename().empty()) return 0;
  if (pod.status().phase() == "Failed" || pod.status().phase() == "Succeeded") return 0;
  const int64_t grace = asked.value_or(pod.spec().terminationgraceperiodseconds());
  return grace < 0 ? 1 : grace;
}

}  // namespace

ModelAnswer ApiModel::Serve(const ApiRequest& request, WallTime now) {
  if (auto fault = Fault()) return *fault;
  switch (request.verb) {
    case ApiVerb::kGet:
      return Get(request);
    case ApiVerb::kCreate:
      return request.subresource == "token" ? CreateToken(request, now) : Create(request, now);
    case ApiVerb::kUpdate:
      return Update(request, now);
    case ApiVerb::kPatch:
      return Patch(request, now);
    case ApiVerb::kDelete:
      return Delete(request, now);
    case ApiVerb::kDeleteCollection:
      return DeleteCollection(request, now);
  }
  return BadRequest("no such verb");
}

std::string ApiModel::NextUid() {
  char text[64];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(++uids_));
  return text;
}

ApiModel::Stored ApiModel::NextVersion(AnyObject object) {
  object.meta().set_resourceversion(std::to_string(++version_));
  auto wire = std::make_shared<const std::string>(object.Wire());
  return std::make_shared<const StoredObject>(StoredObject{std::move(object), std::move(wire)});
}

std::string ApiModel::Store(const Key& key, AnyObject object) {
  const Stored stored = NextVersion(std::move(object));
  const Stored before = std::exchange(objects_[key], stored);
  Record({version_, key, before == nullptr ? nullptr : before->wire, stored->wire, false}, stored);
  return *stored->wire;
}

std::string ApiModel::Erase(const Key& key, AnyObject object) {
  const Stored last = NextVersion(std::move(object));
  Change change{version_, key, objects_[key]->wire, last->wire, true};
  objects_.erase(key);
  Record(std::move(change), last);
  return *last->wire;
}

ModelAnswer ApiModel::Get(const ApiRequest& request) {
  const Stored found = FindStored(request.resource, request.object);
  if (found == nullptr) return NotFound(request.resource, request.object.name);
  return Answer(request.resource, *found->wire);
}

ModelAnswer ApiModel::Create(const ApiRequest& request, WallTime now) {
  const Resource& resource = request.resource;
  Result<AnyObject> parsed = AnyObject::Parse(resource, request.body);
  if (!parsed) return BadRequest(parsed.error().message());
  AnyObject& object = *parsed;
  kube::meta::ObjectMeta& meta = object.meta();
  if (resource.scope == kube::Scope::kNamespace) {
    if (meta.namespace_().empty()) meta.set_namespace_(request.object.ns);
    if (meta.namespace_() != request.object.ns) {
      return BadRequest(
          "the namespace of the provided object does not match the namespace sent on "
          "the request");
    }
  }
  if (meta.name().empty() && !meta.generatename().empty()) {
    meta.set_name(meta.generatename() + std::to_string(10000 + uids_));
  }
  if (meta.name().empty()) {
    return Invalid(resource.kind, "",
                   "metadata.name: Required value: name or generateName is required");
  }
  const Key key{QualifiedName(resource), {meta.namespace_(), meta.name()}};
  if (!meta.resourceversion().empty()) return InternalError();
  if (const std::string fault = FaultOf(resource, object); !fault.empty()) {
    return Invalid(resource.kind, meta.name(), fault);
  }
  if (objects_.contains(key)) return AlreadyExists(resource, meta.name());
  meta.set_uid(NextUid());
  *meta.mutable_creationtimestamp() = TimeOf(now);
  meta.clear_deletiontimestamp();
  meta.clear_deletiongraceperiodseconds();
  meta.set_generation(0);
  if (IsPod(resource)) PrepareNewPod(dynamic_cast<kube::core::Pod&>(object.message()));
  return Answer(resource, Store(key, std::move(object)), 201);
}

ModelAnswer ApiModel::CreateToken(const ApiRequest& request, WallTime now) {
  if (Find(request.resource, request.object).empty()) {
    return NotFound(request.resource, request.object.name);
  }
  sync::authentication::TokenRequest token;
  if (!token.ParseFromString(request.body)) return BadRequest("not a TokenRequest");
  const int64_t seconds =
      token.spec().has_expirationseconds() ? token.spec().expirationseconds() : 3600;
  if (seconds < 600) {
    return Invalid("TokenRequest", "",
                   "spec.expirationSeconds: Invalid value: may not specify a duration less than 10 "
                   "minutes");
  }
  token.mutable_spec()->set_expirationseconds(seconds);
  token.mutable_status()->set_token("token-" + std::to_string(++tokens_));
  *token.mutable_status()->mutable_expirationtimestamp() = TimeOf(now + Seconds(seconds));
  return {.http_status = 201,
          .type = {"authentication.k8s.io/v1", "TokenRequest"},
          .wire = kube::EncodeWire(token)};
}

ModelAnswer ApiModel::Update(const ApiRequest& request, WallTime now) {
  Result<AnyObject> wanted = AnyObject::Parse(request.resource, request.body);
  if (!wanted) return BadRequest(wanted.error().message());
  if (wanted->meta().name() != request.object.name) {
    return BadRequest("the name of the object does not match the name on the URL");
  }
  const Stored present = FindStored(request.resource, request.object);
  if (present == nullptr) {
    if (!MayCreateByUpdate(request.resource)) {
      return NotFound(request.resource, request.object.name);
    }
    if (!wanted->meta().uid().empty()) {
      return Conflict(request.resource, request.object.name,
                      "Precondition failed: UID in precondition: " + wanted->meta().uid() +
                          ", UID in object meta: ");
    }
    wanted->meta().clear_resourceversion();
    ApiRequest create = request;
    create.body = wanted->Wire();
    return Create(create, now);
  }
  if (wanted->meta().resourceversion().empty() && !MayUpdateBlindly(request.resource)) {
    return Invalid(request.resource.kind, request.object.name,
                   "metadata.resourceVersion: Invalid value: 0: must be specified for an update");
  }
  return Replace(request, *present, *std::move(wanted));
}

ModelAnswer ApiModel::Patch(const ApiRequest& request, WallTime) {
  const Stored present = FindStored(request.resource, request.object);
  if (present == nullptr) return NotFound(request.resource, request.object.name);
  const auto patched =
      kube::ApplyStrategicPatchToWire(*present->wire, request.body, *SchemaOf(request.resource));
  if (!patched) return BadRequest(patched.error().message());
  return Replace(request, *present, *AnyObject::Parse(request.resource, *patched));
}

ModelAnswer ApiModel::Replace(const ApiRequest& request, const StoredObject& there,
                              AnyObject wanted) {
  const Resource& resource = request.resource;
  const AnyObject& present = there.object;
  // To a patch the uid is no precondition, but a field that cannot be changed.
  if (request.verb == ApiVerb::kPatch && wanted.meta().uid() != present.meta().uid()) {
    return Invalid(resource.kind, request.object.name,
                   "metadata.uid: Invalid value: field is immutable");
  }
  if (const std::string fault = PreconditionFault(wanted.meta(), present.meta()); !fault.empty()) {
    return Conflict(resource, request.object.name, fault);
  }
  KeepWhatIsTheServers(wanted.meta(), present.meta());
  const bool status_only = request.subresource == "status";
  wanted.TakePart(status_only ? "spec" : "status", present);
  if (IsPod(resource) && !status_only) {
    const bool spec_changed = !wanted.SamePart("spec", present);
    if (spec_changed && wanted.Text("spec.nodeName") != present.Text("spec.nodeName")) {
      return Invalid(resource.kind, request.object.name,
                     "spec: Forbidden: pod updates may not change fields other than image");
    }
    if (spec_changed) wanted.meta().set_generation(present.meta().generation() + 1);
  }
  if (const std::string fault = FaultOf(resource, wanted); !fault.empty()) {
    return Invalid(resource.kind, request.object.name, fault);
  }
  const Key key{QualifiedName(resource), request.object};
  // A deleted object goes when the last finalizer lets it.
  if (wanted.meta().has_deletiontimestamp() && wanted.meta().finalizers().empty() &&
      wanted.meta().deletiongraceperiodseconds() == 0) {
    return Answer(resource, Erase(key, std::move(wanted)));
  }
  if (wanted.Wire() == *there.wire) return Answer(resource, *there.wire);
  return Answer(resource, Store(key, std::move(wanted)));
}

ModelAnswer ApiModel::Delete(const ApiRequest& request, WallTime now) {
  const Resource& resource = request.resource;
  const Key key{QualifiedName(resource), request.object};
  const Stored present = FindStored(resource, request.object);
  if (present == nullptr) return NotFound(resource, request.object.name);
  AnyObject object = present->object;
  kube::meta::ObjectMeta& meta = object.meta();
  if (!request.uid_precondition.empty() && request.uid_precondition != meta.uid()) {
    return Conflict(resource, request.object.name,
                    "the UID in the precondition (" + request.uid_precondition +
                        ") does not match the UID in record (" + meta.uid() + ")");
  }
  int64_t grace = 0;
  if (IsPod(resource)) {
    grace = GraceOf(dynamic_cast<const kube::core::Pod&>(object.message()), request.grace_seconds);
  }
  const bool held = !meta.finalizers().empty();
  if (meta.has_deletiontimestamp()) {
    // It may only become shorter, and not by who does not say how long.
    const int64_t granted = meta.deletiongraceperiodseconds();
    if (granted > 0 && (!request.grace_seconds || grace >= granted))
      return Answer(resource, *present->wire);
    if (held && granted == 0) return Answer(resource, *present->wire);
    if (grace > 0 || held) {
      meta.mutable_deletiontimestamp()->set_seconds(
          std::max(meta.deletiontimestamp().seconds() - granted + grace, ToTimestamp(now).seconds));
      meta.set_deletiongraceperiodseconds(grace);
      return Answer(resource, Store(key, std::move(object)));
    }
  } else if (grace > 0 || held) {
    *meta.mutable_deletiontimestamp() = TimeOf(now + Seconds(grace));
    meta.set_deletiongraceperiodseconds(grace);
    if (meta.generation() > 0) meta.set_generation(meta.generation() + 1);
    return Answer(resource, Store(key, std::move(object)));
  }
  const std::string uid = meta.uid();
  std::string last = Erase(key, std::move(object));
  if (!ReturnsDeleted(resource)) return Success(resource, request.object.name, uid);
  return Answer(resource, std::move(last));
}

ModelAnswer ApiModel::DeleteCollection(const ApiRequest& request, WallTime now) {
  const ListQuery query{.resource = request.resource,
                        .ns = request.object.ns,
                        .field_selector = request.field_selector};
  const ModelList list = List(query);
  if (list.refusal) return *list.refusal;
  for (const std::string& item : list.items) {
    const AnyObject object = *AnyObject::Parse(request.resource, item);
    ApiRequest one = request;
    one.object = {object.meta().namespace_(), object.meta().name()};
    Delete(one, now);
  }
  return list.ToAnswer(request.resource);
}

void ApiModel::Put(const Resource& resource, AnyObject object) {
  const ObjectRef name{object.meta().namespace_(), object.meta().name()};
  Store({QualifiedName(resource), name}, std::move(object));
}

bool ApiModel::Edit(const Resource& resource, const ObjectRef& object,
                    const std::function<void(AnyObject&)>& edit) {
  const Stored present = FindStored(resource, object);
  if (present == nullptr) return false;
  AnyObject edited = present->object;
  edit(edited);
  if (edited.Wire() != *present->wire) Store({QualifiedName(resource), object}, std::move(edited));
  return true;
}

}  // namespace denselet::fakes
