#include "kube/client/api_request_text.h"

#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

using sync::ApiRequest;
using sync::ApiVerb;

std::string_view MethodOf(ApiVerb verb) {
  switch (verb) {
    case ApiVerb::kGet:
      return "GET";
    case ApiVerb::kCreate:
      return "POST";
    case ApiVerb::kUpdate:
      return "PUT";
    case ApiVerb::kPatch:
      return "PATCH";
    case ApiVerb::kDelete:
    case ApiVerb::kDeleteCollection:
      return "DELETE";
  }
  return "GET";
}

std::string TargetOf(const ApiRequest& request, std::optional<Duration> timeout) {
  // A subresource of an object is created at the object: serviceaccounts/NAME/token.
  const bool collection = request.verb == ApiVerb::kDeleteCollection ||
                          (request.verb == ApiVerb::kCreate && request.subresource.empty());
  const std::string path = collection
                               ? request.resource.CollectionPath(request.object.ns)
                               : request.resource.ObjectPath(request.object, request.subresource);
  Query query;
  query.Add("resourceVersion", request.resource_version)
      .Add("fieldSelector", request.field_selector)
      .Add("timeout", timeout ? FormatDuration(*timeout) : "");
  return path + query.text();
}

std::string DeleteOptionsBody(const ApiRequest& request) {
  if (!request.grace_seconds && request.uid_precondition.empty()) return {};
  meta::DeleteOptions options;
  if (request.grace_seconds) options.set_graceperiodseconds(*request.grace_seconds);
  if (!request.uid_precondition.empty()) {
    options.mutable_preconditions()->set_uid(request.uid_precondition);
  }
  return EncodeEnvelope({"v1", "DeleteOptions"}, EncodeWire(options));
}

// The kind of what is sent: of a subresource with a type of its own, not the resource's.
TypeMeta BodyType(const ApiRequest& request) {
  if (request.subresource == "token") return {"authentication.k8s.io/v1", "TokenRequest"};
  return request.resource.Type();
}

}  // namespace

Query& Query::Add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  text_.append(text_.empty() ? "?" : "&").append(name).append("=").append(PercentEncode(value));
  return *this;
}

net::HttpRequest ToHttpRequest(const ApiRequest& request, std::optional<Duration> timeout) {
  net::HttpRequest http{.method = std::string(MethodOf(request.verb)),
                        .scheme = {},
                        .authority = {},
                        .target = TargetOf(request, timeout),
                        .headers = {{"accept", kAcceptAnswer}}};
  switch (request.verb) {
    case ApiVerb::kCreate:
    case ApiVerb::kUpdate:
    case ApiVerb::kDelete:
    case ApiVerb::kDeleteCollection:
      http.headers.Add("content-type", std::string(kProtobufContentType));
      break;
    case ApiVerb::kPatch:
      http.headers.Add("content-type", "application/strategic-merge-patch+json");
      break;
    case ApiVerb::kGet:
      break;
  }
  return http;
}

std::string ToHttpBody(const ApiRequest& request) {
  switch (request.verb) {
    case ApiVerb::kCreate:
    case ApiVerb::kUpdate:
      return EncodeEnvelope(BodyType(request), request.body);
    case ApiVerb::kPatch:
      return request.body;
    case ApiVerb::kDelete:
    case ApiVerb::kDeleteCollection:
      return DeleteOptionsBody(request);
    case ApiVerb::kGet:
      break;
  }
  return {};
}

}  // namespace denselet::kube
