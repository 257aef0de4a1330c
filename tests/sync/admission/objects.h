// Pods and nodes of YAML for the tests of admission.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kube/api/codec/codec.h"
#include "kube/api/pod/pod_at_rest.h"
#include "kube/api/types.h"
#include "sync/admission/node_view.h"
#include "sync/admission/pod_needs.h"

namespace denselet::sync {

inline kube::core::Pod PodOf(std::string_view yaml) {
  kube::core::Pod pod;
  const auto report = kube::DecodeYaml(yaml, pod, {.extras = kube::Extras::kRefused});
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  return pod;
}

inline PodNeeds NeedsOf(std::string_view yaml) { return ReadPodNeeds(PodOf(yaml)); }

inline NodeView NodeOf(std::string_view yaml) {
  kube::core::Node node;
  const auto report = kube::DecodeYaml(yaml, node, {.extras = kube::Extras::kRefused});
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  return ReadNodeView(node);
}

// A pod of the API server with one container; `more` are further lines of its spec.
inline std::string SimplePod(const std::string& uid, const std::string& cpu,
                             const std::string& more = "") {
  return "metadata: {name: " + uid + ", namespace: ns, uid: " + uid +
         ", annotations: {kubernetes.io/config.source: api}}\n"
         "spec:\n"
         "  containers: [{name: c, resources: {requests: {cpu: '" +
         cpu + "'}}}]\n" + more;
}

inline kube::PodRef RefOf(std::string_view yaml) { return *kube::PodAtRest::FromPod(PodOf(yaml)); }

}  // namespace denselet::sync
