// Pods and objects in JSON, for the tests of volumes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/pod/pod_at_rest.h"
#include "kube/api/types.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

inline kube::core::Pod PodFrom(const std::string& spec, const std::string& uid = "u-1",
                               const std::string& metadata = "") {
  kube::core::Pod pod;
  const std::string json = R"({"metadata":{"name":"p","namespace":"n","uid":")" + uid + "\"" +
                           (metadata.empty() ? "" : "," + metadata) + R"(},"spec":)" + spec + "}";
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return pod;
}

inline kube::PodRef RefFrom(const std::string& spec, const std::string& uid = "u-1",
                            const std::string& metadata = "") {
  return *kube::PodAtRest::FromPod(PodFrom(spec, uid, metadata));
}

template <class Object>
sync::ObjectBytes BytesOf(const std::string& json) {
  Object object;
  EXPECT_TRUE(kube::DecodeJson(json, object).ok()) << json;
  return std::make_shared<const std::string>(object.SerializeAsString());
}

inline sync::ObjectKey ConfigMapKey(const std::string& name) {
  return {.kind = sync::ObjectKind::kConfigMap, .ref = {"n", name}};
}
inline sync::ObjectKey SecretKey(const std::string& name) {
  return {.kind = sync::ObjectKind::kSecret, .ref = {"n", name}};
}

}  // namespace denselet::managers
