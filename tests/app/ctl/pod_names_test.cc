#include "app/ctl/pod_names.h"

#include <gtest/gtest.h>

namespace denselet::app {
namespace {

const std::vector<PodRow>& Pods() {
  static const std::vector<PodRow> pods{
      {.ns = "default", .name = "server"},         {.ns = "default", .name = "worker-1"},
      {.ns = "kube-system", .name = "dns"},        {.ns = "prod", .name = "server"},
      {.ns = "prod", .name = "twice", .uid = "1"}, {.ns = "prod", .name = "twice", .uid = "2"}};
  return pods;
}

std::string Found(std::string_view name, std::optional<std::string> ns = {}) {
  const auto found = FindPod(Pods(), name, ns);
  return found ? found->FullName() : found.error().message();
}

TEST(PodNames, ANameThatOneNamespaceHasIsEnough) {
  EXPECT_EQ(Found("dns"), "kube-system/dns");
  EXPECT_EQ(Found("prod/server"), "prod/server");
  EXPECT_EQ(Found("server", "default"), "default/server");
}

TEST(PodNames, TwoLivesOfOnePodAreOneAnswer) { EXPECT_EQ(Found("twice"), "prod/twice"); }

TEST(PodNames, SeveralNamespacesAreNamed) {
  EXPECT_EQ(Found("server"),
            "several namespaces have a pod \"server\": default, prod; say which with -n NAMESPACE");
  EXPECT_EQ(FindPod(Pods(), "server", {}).error().code(), ErrorCode::kConflict);
}

TEST(PodNames, AnUnknownOneComesWithThoseWrittenMuchTheSame) {
  EXPECT_EQ(Found("sever"), "there is no pod \"sever\"; did you mean default/server, prod/server?");
  EXPECT_EQ(Found("worker"), "there is no pod \"worker\"; did you mean default/worker-1?");
  EXPECT_EQ(Found("dns", "prod"),
            "there is no pod \"dns\" in namespace \"prod\"; did you mean kube-system/dns?");
  EXPECT_EQ(Found("nothing-like-it"), "there is no pod \"nothing-like-it\"");
}

TEST(PodNames, DistanceCountsLetters) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace denselet::app
