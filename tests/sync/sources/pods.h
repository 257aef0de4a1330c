// Small pods for tests of the sources.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/unique_function.h"
#include "kube/api/pod/pod_at_rest.h"
#include "kube/api/types.h"

namespace denselet::sync {

using EditPod = UniqueFunction<void(kube::core::Pod&)>;

inline kube::PodRef AtRest(const kube::core::Pod& pod) {
  auto at_rest = kube::PodAtRest::FromPod(pod);
  EXPECT_TRUE(at_rest) << at_rest.error().message();
  return *at_rest;
}

inline kube::PodRef MakePod(const std::string& name, const std::string& uid, EditPod edit = {}) {
  kube::core::Pod pod;
  pod.mutable_metadata()->set_name(name);
  pod.mutable_metadata()->set_namespace_("default");
  pod.mutable_metadata()->set_uid(uid);
  pod.mutable_spec()->add_containers()->set_name("app");
  if (edit) edit(pod);
  return AtRest(pod);
}

inline EditPod Annotated(const std::string& key, const std::string& value) {
  return [key, value](kube::core::Pod& pod) {
    (*pod.mutable_metadata()->mutable_annotations())[key] = value;
  };
}

inline std::string Annotation(const kube::PodRef& pod, const std::string& key) {
  const auto parsed = pod->Parse();
  EXPECT_TRUE(parsed) << parsed.error().message();
  const auto& annotations = (*parsed)->metadata().annotations();
  const auto found = annotations.find(key);
  return found == annotations.end() ? "" : found->second;
}

}  // namespace denselet::sync
