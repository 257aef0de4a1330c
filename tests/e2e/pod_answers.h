// Pods as the API server answers with them, decoded; an answer that cannot be is a failure of the
// test.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::kube {

inline constexpr DecodeOptions kStrict{.extras = Extras::kRefused};
inline const TypeMeta kPod{.api_version = "v1", .kind = "Pod"};
inline const std::string kProtobuf(kProtobufContentType);

inline core::Pod FromJson(std::string_view json) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(json, pod, kStrict);
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  EXPECT_EQ(report.type, kPod) << json;
  return pod;
}

inline core::Pod FromProtobuf(std::string_view bytes) {
  core::Pod pod;
  const Result<Envelope> envelope = DecodeEnvelope(bytes);
  if (!envelope) {
    ADD_FAILURE() << envelope.error().message();
    return pod;
  }
  EXPECT_EQ(envelope->Type(), kPod);
  EXPECT_TRUE(pod.ParseFromArray(envelope->raw.data(), static_cast<int>(envelope->raw.size())));
  return pod;
}

}  // namespace denselet::kube
