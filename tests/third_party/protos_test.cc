// The generated types link and work in every preset, although they are compiled without its
// sanitizers.
#include <gtest/gtest.h>

#include <string>

#include "k8s.io/api/core/v1/generated.pb.h"
#include "k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h"

namespace {

TEST(Protos, PodSurvivesTheWire) {
  k8s::io::api::core::v1::Pod pod;
  pod.mutable_metadata()->set_name("web");
  pod.mutable_metadata()->set_namespace_("default");
  auto* container = pod.mutable_spec()->add_containers();
  container->set_image("busybox");
  (*container->mutable_resources()->mutable_limits())["cpu"].set_string("500m");

  std::string wire;
  ASSERT_TRUE(pod.SerializeToString(&wire));
  k8s::io::api::core::v1::Pod read;
  ASSERT_TRUE(read.ParseFromString(wire));

  EXPECT_EQ(read.metadata().name(), "web");
  EXPECT_EQ(read.spec().containers(0).resources().limits().at("cpu").string(), "500m");
}

TEST(Protos, CriHasTheCallsOfARuntime) {
  const auto* service =
      runtime::v1::VersionRequest::descriptor()->file()->FindServiceByName("RuntimeService");
  ASSERT_NE(service, nullptr);
  EXPECT_NE(service->FindMethodByName("RunPodSandbox"), nullptr);
  EXPECT_NE(service->FindMethodByName("GetContainerEvents"), nullptr);
}

}  // namespace
