#include "kube/api/objects/resource.h"

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

TEST(Resource, PathsAreThoseOfTheApiServer) {
  EXPECT_EQ(kPods.CollectionPath("default"), "/api/v1/namespaces/default/pods");
  EXPECT_EQ(kPods.CollectionPath(""), "/api/v1/pods");
  EXPECT_EQ(kPods.ObjectPath({"a", "b"}, "status"), "/api/v1/namespaces/a/pods/b/status");
  EXPECT_EQ(kNodes.ObjectPath({"", "n1"}), "/api/v1/nodes/n1");
  EXPECT_EQ(kLeases.ObjectPath({"kube-node-lease", "n1"}),
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1");
  EXPECT_EQ(kLeases.ApiVersion(), "coordination.k8s.io/v1");
}

TEST(Resource, ANameStaysOnePieceOfThePath) {
  EXPECT_EQ(kNodes.ObjectPath({"", "../a b?c"}), "/api/v1/nodes/..%2Fa%20b%3Fc");
  EXPECT_EQ(PercentEncode("spec.nodeName=n\xc3\xa4"), "spec.nodeName%3Dn%C3%A4");
}

}  // namespace
}  // namespace denselet::kube
