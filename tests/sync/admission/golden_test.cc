// What the kubelet's own admission makes of random pods on random nodes
// (third_party/peers/admission), made by ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/admission/predicates.h"
#include "sync/admission/preemption.h"
#include "sync/admission/sysctls.h"
#include "tests/golden.h"

namespace denselet::sync {
namespace {

struct Verdict {
  Rejection rejection = {};  // empty: admitted
  std::string preempted = {};
};

template <class T>
T Decode(const std::string& json) {
  T object;
  const auto report = kube::DecodeJson(json, object);
  EXPECT_TRUE(report.ok()) << json;
  return object;
}

Verdict Preempt(const PodNeeds& needs, const Bookings& bookings,
                const std::vector<AdmissionFailure>& failures) {
  std::vector<Shortage> shortages;
  for (const AdmissionFailure& failure : failures) {
    if (!failure.shortage) return {.rejection = failure.rejection};
    shortages.push_back(*failure.shortage);
  }
  const auto chosen = ChoosePodsToPreempt(needs, bookings.Staying(), shortages);
  if (!chosen)
    return {.rejection = {std::string(kUnexpectedAdmissionError), chosen.error().message()}};
  std::vector<std::string> uids;
  for (const PodUid& uid : *chosen) uids.push_back(uid.value());
  std::sort(uids.begin(), uids.end());
  Verdict verdict;
  for (const std::string& uid : uids) {
    verdict.preempted += (verdict.preempted.empty() ? "" : " ") + uid;
  }
  return verdict;
}

Verdict Judge(const NodeView& node, const Bookings& bookings, const kube::core::Pod& pod) {
  const auto sysctls = SysctlAllowList::Make({"kernel.shmmax", "fs.mqueue.*", "net.ipv4.conf.*"},
                                             KernelVersion{6, 1});
  if (auto forbidden = sysctls->Refuse(pod)) return {.rejection = {"SysctlForbidden", *forbidden}};
  if (auto refused = RefuseByKind(pod, node)) return {.rejection = *refused};
  const PodNeeds needs = ReadPodNeeds(pod);
  std::vector<AdmissionFailure> failures = FindFailures(pod, needs, node, bookings);
  if (failures.empty()) return {};
  if (!needs.critical) return {.rejection = failures.front().rejection};
  // What is not about resources comes first.
  std::stable_partition(failures.begin(), failures.end(),
                        [](const AdmissionFailure& f) { return !f.shortage; });
  return Preempt(needs, bookings, failures);
}

TEST(AdmissionGolden, VerdictsAreUpstreams) {
  int admitted = 0, preempted = 0;
  for (const auto& row : tests::ReadGolden("tests/sync/admission/golden/verdicts.txt")) {
    ASSERT_EQ(row.size(), 6u);
    const NodeView node = ReadNodeView(Decode<kube::core::Node>(row[0]));
    const std::string others = row[1] == "null" ? "[]" : row[1];
    Bookings bookings;
    const auto list = Decode<kube::core::PodList>("{\"items\":" + others + "}");
    for (const auto& other : list.items())
      bookings.Book(std::make_shared<PodNeeds>(ReadPodNeeds(other)));
    const Verdict verdict = Judge(node, bookings, Decode<kube::core::Pod>(row[2]));
    EXPECT_EQ(verdict.rejection.reason, row[3]) << row[2] << "\n" << row[4];
    // Ours is the end of upstream's where that is a chain of contexts.
    EXPECT_TRUE(row[4].ends_with(verdict.rejection.message)) << verdict.rejection.message << "\n"
                                                             << row[4];
    EXPECT_EQ(verdict.rejection.message.empty(), row[4].empty());
    EXPECT_EQ(verdict.preempted, row[5]) << row[0] << "\n" << row[1] << "\n" << row[2];
    admitted += row[3].empty() ? 1 : 0;
    preempted += row[5].empty() ? 0 : 1;
  }
  // Otherwise the table shows little.
  EXPECT_GT(admitted, 50);
  EXPECT_GT(preempted, 5);
}

}  // namespace
}  // namespace denselet::sync
