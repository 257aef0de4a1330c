// What a model of an API server answers: an object, or a metav1.Status that says no in the words of
// the real one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api/objects/resource.h"

namespace denselet::fakes {

struct ModelAnswer {
  int http_status = 200;
  kube::TypeMeta type = {};  // of the object
  std::string wire = {};
  std::optional<int> retry_after_seconds = {};  // the header

  bool ok() const { return http_status >= 200 && http_status <= 299; }
};

// "leases.coordination.k8s.io"
std::string QualifiedName(const kube::Resource& resource);

struct StatusWords {
  int code = 0;
  std::string reason = {};
  std::string message = {};
  std::string cause = {};  // the type of its only one; empty: none
  int retry_after_seconds = 0;
  std::string continue_token = {};
};
ModelAnswer Refuse(const StatusWords& words);

ModelAnswer NotFound(const kube::Resource& resource, std::string_view name);
ModelAnswer AlreadyExists(const kube::Resource& resource, std::string_view name);
ModelAnswer Conflict(const kube::Resource& resource, std::string_view name, std::string_view why);
ModelAnswer Invalid(std::string_view kind, std::string_view name, std::string_view why);
ModelAnswer BadRequest(std::string_view why);
ModelAnswer Unauthorized();
ModelAnswer TooOld(std::string_view why, std::string continue_token = {});
ModelAnswer TooLarge(uint64_t wanted, uint64_t current);
ModelAnswer TooManyRequests(int retry_after_seconds);
ModelAnswer InternalError();

// Of a delete that left nothing behind.
ModelAnswer Success(const kube::Resource& resource, std::string_view name, std::string_view uid);

}  // namespace denselet::fakes
