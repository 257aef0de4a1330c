// Our statuses against the kubelet's own, of random pods on their way from nothing to their end:
// golden/pod_status.txt, printed by third_party/peers/podstatus.
//
// Where we differ, we do so on purpose:
//   - A container that is created and not started waits with a reason (ContainerCreating), as
//     before and after.
//   - The volume mounts of a container whose first status is already one of the runtime's are told.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "tests/golden.h"
#include "tests/sync/status/status_scene.h"

namespace denselet::sync::tests {
namespace {

using kube::core::PodStatus;

PodStatus Decoded(const std::string& json) {
  PodStatus status;
  const auto report = kube::DecodeJson(json, status);
  EXPECT_TRUE(report.ok()) << json;
  return status;
}

template <class Visit>
void ForEach(PodStatus& status, Visit visit) {
  for (auto& container : *status.mutable_initcontainerstatuses()) visit(container);
  for (auto& container : *status.mutable_containerstatuses()) visit(container);
  for (auto& container : *status.mutable_ephemeralcontainerstatuses()) visit(container);
}

std::string Comparable(PodStatus status, bool first) {
  const char* not_yet =
      status.initcontainerstatuses().empty() ? "ContainerCreating" : "PodInitializing";
  ForEach(status, [&](kube::core::ContainerStatus& container) {
    if (container.state().has_waiting() && container.state().waiting().reason().empty()) {
      container.mutable_state()->mutable_waiting()->set_reason(not_yet);
    }
    if (first) container.clear_volumemounts();
  });
  status.clear_starttime();
  for (auto& condition : *status.mutable_conditions()) condition.clear_lasttransitiontime();
  return kube::EncodeJson(status);
}

TEST(PodStatusGolden, IsTheKubelets) {
  size_t rows = 0, refused = 0;
  std::string last_pod, last_after;
  for (std::vector<std::string> row :
       denselet::tests::ReadGolden("tests/sync/status/golden/pod_status.txt")) {
    ASSERT_EQ(row.size(), 4U);
    ++rows;
    if (row[0] == "=") row[0] = last_pod;
    if (row[1] == "=") row[1] = last_after;
    last_pod = row[0];
    if (row[3] != "refused") last_after = row[3];
    SCOPED_TRACE("row " + std::to_string(rows) + ": " + row[2] + "\n" + row[0]);
    const bool first = row[1] == "-";
    StatusScene scene = MakeStatusScene(row[0], row[2]);
    if (!first) scene.before = Decoded(row[1]);
    const bool finished = scene.finished == Finished::kYes;
    scene.finished = Finished::kNo;
    Result<PodStatus> made = scene.Build();
    if (row[3] == "refused") {  // a container would come back to life
      if (made) {
        scene.before = *made;
        made = scene.Build();
      }
      refused += made ? 0 : 1;
      continue;
    }
    ASSERT_TRUE(made) << made.error().message();
    scene.before = *made;
    if (finished) scene.finished = Finished::kYes;
    made = scene.Build();
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(Comparable(*made, first), Comparable(Decoded(row[3]), first));
    if (HasFailure()) return;
  }
  EXPECT_GT(rows, 300U);
  EXPECT_GT(refused, 10U);
}

}  // namespace
}  // namespace denselet::sync::tests
