// The API server with the generated types: what a manager writes is
//
//   Get<core::Node>(api, context, {.object = {"", name}}, [](Result<core::Node> node) { ... });
//
// For .cc files: includes the generated headers.
#pragma once

#include <k8s.io/api/authentication/v1/generated.pb.h>
#include <k8s.io/api/certificates/v1/generated.pb.h>
#include <k8s.io/api/coordination/v1/generated.pb.h>

#include <string>
#include <utility>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/ports/api_server.h"

namespace denselet::sync {

namespace coordination = ::k8s::io::api::coordination::v1;
namespace certificates = ::k8s::io::api::certificates::v1;
namespace authentication = ::k8s::io::api::authentication::v1;

// Which resource a type is. A type without one does not link.
template <class T>
const kube::Resource& ResourceOf();
template <>
inline const kube::Resource& ResourceOf<kube::core::Pod>() {
  return kube::kPods;
}
template <>
inline const kube::Resource& ResourceOf<kube::core::Node>() {
  return kube::kNodes;
}
template <>
inline const kube::Resource& ResourceOf<kube::core::Event>() {
  return kube::kEvents;
}
template <>
inline const kube::Resource& ResourceOf<coordination::Lease>() {
  return kube::kLeases;
}
template <>
inline const kube::Resource& ResourceOf<certificates::CertificateSigningRequest>() {
  return kube::kCertificateSigningRequests;
}

template <class T>
Result<T> ParseObject(std::string_view wire) {
  T object;
  if (!object.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return Error(ErrorCode::kCorrupt, "the API server's answer is not what was asked for");
  }
  return object;
}

// Sends the request and parses what comes back.
template <class T>
void SendFor(ApiServer& api, const Context& context, ApiRequest request, reactor::Done<T> done) {
  api.Send(context, std::move(request), [done = std::move(done)](Result<ApiObject> answer) mutable {
    if (!answer) return done(answer.error());
    done(ParseObject<T>(answer->wire));
  });
}

template <class T>
void Get(ApiServer& api, const Context& context, ApiRequest request, reactor::Done<T> done) {
  request.verb = ApiVerb::kGet;
  request.resource = ResourceOf<T>();
  SendFor<T>(api, context, std::move(request), std::move(done));
}

// `request` says the namespace and the traffic.
template <class T>
void Create(ApiServer& api, const Context& context, ApiRequest request, const T& object,
            reactor::Done<T> done) {
  request.verb = ApiVerb::kCreate;
  request.resource = ResourceOf<T>();
  request.body = kube::EncodeWire(object);
  SendFor<T>(api, context, std::move(request), std::move(done));
}

template <class T>
void Update(ApiServer& api, const Context& context, ApiRequest request, const T& object,
            reactor::Done<T> done) {
  request.verb = ApiVerb::kUpdate;
  request.resource = ResourceOf<T>();
  request.body = kube::EncodeWire(object);
  SendFor<T>(api, context, std::move(request), std::move(done));
}

// `patch` is a strategic merge patch.
template <class T>
void Patch(ApiServer& api, const Context& context, ApiRequest request, std::string patch,
           reactor::Done<T> done) {
  request.verb = ApiVerb::kPatch;
  request.resource = ResourceOf<T>();
  request.body = std::move(patch);
  SendFor<T>(api, context, std::move(request), std::move(done));
}

template <class T>
void Delete(ApiServer& api, const Context& context, ApiRequest request, reactor::Done<Unit> done) {
  request.verb = ApiVerb::kDelete;
  request.resource = ResourceOf<T>();
  api.Send(context, std::move(request), [done = std::move(done)](Result<ApiObject> answer) mutable {
    if (!answer) return done(answer.error());
    done(Unit{});
  });
}

}  // namespace denselet::sync
