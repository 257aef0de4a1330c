#include "tests/fakes/api_routes.h"

#include <charconv>
#include <map>
#include <vector>

#include "kube/api/codec/envelope.h"
#include "kube/api/patch/strategic_patch.h"
#include "kube/api/types.h"

namespace denselet::fakes {
namespace {

using kube::Resource;
using sync::ApiVerb;
using Query = std::map<std::string, std::string>;

constexpr const Resource* kResources[] = {
    &kube::kConfigMaps,      &kube::kCertificateSigningRequests,
    &kube::kCsiNodes,        &kube::kEvents,
    &kube::kLeases,          &kube::kNamespaces,
    &kube::kNodes,           &kube::kPods,
    &kube::kRuntimeClasses,  &kube::kSecrets,
    &kube::kServiceAccounts, &kube::kServices};

std::string Decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i] + 3, value, 16).ec == std::errc()) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string> Split(std::string_view text, char sign) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(sign), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Query ParseQuery(std::string_view text) {
  Query query;
  for (const std::string& part : Split(text, '&')) {
    const size_t sign = std::min(part.find('='), part.size());
    query[part.substr(0, sign)] =
        Decode(std::string_view(part).substr(std::min(sign + 1, part.size())));
  }
  return query;
}

size_t Number(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  size_t value = 0;
  if (found == query.end()) return 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::string Text(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

// Resource, namespace, name and subresource of a path; false: there is nothing.
bool ParsePath(std::string_view path, Resource& resource, ObjectRef& object,
               std::string& subresource) {
  std::vector<std::string> parts = Split(path.substr(1), '/');
  for (std::string& part : parts) part = Decode(part);
  size_t at = 1;
  std::string group;
  if (parts.empty() || (parts[0] != "api" && parts[0] != "apis")) return false;
  if (parts[0] == "apis" && at < parts.size()) group = parts[at++];
  if (at >= parts.size()) return false;
  const std::string version = parts[at++];
  if (at + 2 < parts.size() && parts[at] == "namespaces" && parts[at + 2] != "status") {
    object.ns = parts[at + 1];
    at += 2;
  }
  if (at >= parts.size()) return false;
  for (const Resource* known : kResources) {
    if (known->group == group && known->version == version && known->plural == parts[at]) {
      resource = *known;
      if (at + 1 < parts.size()) object.name = parts[at + 1];
      if (at + 2 < parts.size()) subresource = parts[at + 2];
      return at + 3 >= parts.size();
    }
  }
  return false;
}

ModelAnswer NoSuchPath() {
  return Refuse({.code = 404,
                 .reason = "NotFound",
                 .message = "the server could not find the requested resource"});
}

ModelAnswer WrongMediaType() {
  return Refuse({.code = 415,
                 .reason = "UnsupportedMediaType",
                 .message = "the body of the request was in an unknown format"});
}

bool TakeDeleteOptions(std::string_view raw, sync::ApiRequest& request) {
  kube::meta::DeleteOptions options;
  if (!options.ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return false;
  if (options.has_graceperiodseconds()) request.grace_seconds = options.graceperiodseconds();
  request.uid_precondition = options.preconditions().uid();
  return true;
}

// The body as the port has it.
std::optional<ModelAnswer> TakeBody(const Http2Request& http, sync::ApiRequest& request) {
  const std::string* const type = http.headers.Find("content-type");
  if (request.verb == ApiVerb::kPatch) {
    if (type == nullptr || *type != kube::kStrategicPatchContentType) return WrongMediaType();
    request.body = http.body;
    return std::nullopt;
  }
  if (http.body.empty()) return std::nullopt;
  if (type == nullptr || *type != kube::kProtobufContentType) return WrongMediaType();
  const Result<kube::Envelope> envelope = kube::DecodeEnvelope(http.body);
  if (!envelope) return BadRequest(envelope.error().message());
  if (envelope->kind == "DeleteOptions") {
    if (!TakeDeleteOptions(envelope->raw, request)) return BadRequest("not DeleteOptions");
    return std::nullopt;
  }
  if (envelope->kind != request.resource.kind && request.subresource != "token") {
    return BadRequest("the object is a " + std::string(envelope->kind));
  }
  request.body = envelope->raw;
  return std::nullopt;
}

ListQuery ToListQuery(const sync::ApiRequest& request, const Query& query) {
  return {.resource = request.resource,
          .ns = request.object.ns,
          .field_selector = Text(query, "fieldSelector"),
          .resource_version = Text(query, "resourceVersion"),
          .version_match = Text(query, "resourceVersionMatch"),
          .limit = Number(query, "limit"),
          .continue_token = Text(query, "continue"),
          .allow_bookmarks = Text(query, "allowWatchBookmarks") == "true",
          .send_initial_events = Text(query, "sendInitialEvents") == "true"};
}

}  // namespace

std::variant<ApiRoute, ModelAnswer> ParseRoute(const Http2Request& http) {
  ApiRoute route;
  sync::ApiRequest& request = route.request;
  const std::string_view target = http.target;
  const size_t mark = std::min(target.find('?'), target.size());
  const Query query = ParseQuery(target.substr(std::min(mark + 1, target.size())));
  if (!target.starts_with('/') ||
      !ParsePath(target.substr(0, mark), request.resource, request.object, request.subresource)) {
    return NoSuchPath();
  }
  const bool collection = request.object.name.empty();
  if (http.method == "GET") {
    if (collection) {
      route.query = ToListQuery(request, query);
      const std::string watch = Text(query, "watch");
      route.kind = watch == "true" || watch == "1" ? ApiRoute::Kind::kWatch : ApiRoute::Kind::kList;
      route.timeout = Seconds(Number(query, "timeoutSeconds"));
      return route;
    }
    request.verb = ApiVerb::kGet;
    request.resource_version = Text(query, "resourceVersion");
    return route;
  }
  if (http.method == "POST") {
    if (collection == !request.subresource.empty()) return NoSuchPath();
    request.verb = ApiVerb::kCreate;
  } else if (http.method == "DELETE") {
    request.verb = collection ? ApiVerb::kDeleteCollection : ApiVerb::kDelete;
    request.field_selector = Text(query, "fieldSelector");
  } else if (http.method == "PUT" || http.method == "PATCH") {
    if (collection) return NoSuchPath();
    request.verb = http.method == "PUT" ? ApiVerb::kUpdate : ApiVerb::kPatch;
  } else {
    return Refuse({.code = 405, .reason = "MethodNotAllowed", .message = "no such method"});
  }
  if (auto refusal = TakeBody(http, request)) return *refusal;
  return route;
}

}  // namespace denselet::fakes
