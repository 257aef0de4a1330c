#include "sync/spec/unsupported_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/sync/spec/made_specs.h"

namespace denselet::sync {
namespace {

kube::core::Pod Pod(const std::string& fields) {
  kube::core::Pod pod;
  const std::string json = R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{)" +
                           fields +
                           R"("enableServiceLinks":true,"containers":[{"name":"c","image":"i"}]}})";
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return pod;
}

template <class T>
std::string Why(const Result<T>& result) {
  return result ? "" : result.error().message();
}

struct Row {
  const char* fields;
  const char* refused;  // empty: it is not
};

const Row kRows[] = {
    {"", ""},
    {R"("hostUsers":true,)", ""},
    {R"("hostPID":true,"shareProcessNamespace":false,)", ""},
    {R"("runtimeClassName":"gvisor",)", R"(runtimeClassName "gvisor" is not supported yet)"},
    {R"("hostUsers":false,)",
     "a user namespace of the pod's own (hostUsers: false) is not supported yet"},
    {R"("resourceClaims":[{"name":"gpu","resourceClaimName":"x"}],)",
     R"(resource claim "gpu" is not supported yet)"},
};

TEST(UnsupportedFields, AreRefusedByName) {
  for (const Row& row : kRows) {
    const Status checked = CheckSupported(Pod(row.fields));
    EXPECT_EQ(Why(checked), row.refused);
    EXPECT_TRUE(checked || checked.error().code() == ErrorCode::kUnsupported) << row.fields;
  }
}

TEST(UnsupportedFields, APodThatHasOneGetsNoSandboxAndNoContainer) {
  MadeSpecs made;
  for (const Row& row : kRows) {
    const kube::PodRef pod = *kube::PodAtRest::FromPod(Pod(row.fields));
    EXPECT_EQ(Why(made.specs().Sandbox(pod, 0)), row.refused);
    // One that has a sandbox from before our time, too.
    EXPECT_EQ(Why(made.Container(pod, {.name = "c"})), row.refused);
  }
}

}  // namespace
}  // namespace denselet::sync
