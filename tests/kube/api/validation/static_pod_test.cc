#include "kube/api/validation/static_pod.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/defaults/pod_defaults.h"
#include "kube/api/types.h"
#include "tests/golden.h"
#include "tests/kube/api/manifests.h"

namespace denselet::kube {
namespace {

using Lines = std::vector<std::string>;

// The pod as its source hands it over: with defaults, and a namespace.
core::Pod ReadPod(std::string_view folder, std::string_view file, size_t document) {
  core::Pod pod;
  const DecodeReport report = DecodeYaml(tests::ReadManifest(folder, file, document), pod);
  EXPECT_TRUE(report.ok()) << file << " " << document;
  SetPodDefaults(pod);
  if (pod.metadata().namespace_().empty()) pod.mutable_metadata()->set_namespace_("default");
  return pod;
}

Lines FaultsOf(const core::Pod& pod) {
  Lines lines;
  for (const Fault& fault : ValidateStaticPod(pod)) lines.push_back(ToString(fault));
  if (lines.empty()) lines.push_back("");
  return lines;
}

// By file and document.
std::map<std::pair<std::string, size_t>, Lines> ReadExpected(std::string_view golden) {
  std::map<std::pair<std::string, size_t>, Lines> expected;
  for (const auto& row : tests::ReadGolden(golden)) {
    EXPECT_EQ(row.size(), 3u);
    // An empty path.
    const std::string text = row[2].starts_with(": ") ? row[2].substr(2) : row[2];
    expected[{row[0], std::stoul(row[1])}].push_back(text);
  }
  return expected;
}

// Upstream has no order where it walks a map; its output is sorted then.
enum class Order : uint8_t { kUpstreams, kAny };

void Compare(std::string_view golden, std::string_view manifests, Order order) {
  auto expected = ReadExpected(golden);
  for (auto& [document, faults] : expected) {
    SCOPED_TRACE(document.first + ", document " + std::to_string(document.second));
    Lines found = FaultsOf(ReadPod(manifests, document.first, document.second));
    if (order == Order::kAny) {
      std::ranges::sort(found);
      std::ranges::sort(faults);
    }
    EXPECT_EQ(found, faults);
  }
}

TEST(StaticPod, FaultsAreThoseThatTheKubeletFinds) {
  Compare("tests/kube/api/validation/golden/faults.txt", "tests/kube/api/validation/manifests/",
          Order::kUpstreams);
}

TEST(StaticPod, FaultsOfTheManifestsOfDefaultsToo) {
  Compare("tests/kube/api/validation/golden/defaults.txt", "tests/kube/api/defaults/manifests/",
          Order::kAny);
}

TEST(StaticPod, AnnotationsHaveASizeTogether) {
  core::Pod pod = ReadPod("tests/kube/api/defaults/manifests/", "spec.yaml", 0);
  (*pod.mutable_metadata()->mutable_annotations())["a"] = std::string(256 * 1024 - 1, 'x');
  EXPECT_EQ(FaultsOf(pod), Lines{""});
  (*pod.mutable_metadata()->mutable_annotations())["b"] = "";
  EXPECT_EQ(FaultsOf(pod),
            Lines{"metadata.annotations: Too long: may not be more than 262144 bytes"});
}

// What comes over the wire need not have passed a decoder of texts.
TEST(StaticPod, AnythingCanBeAskedAbout) {
  EXPECT_FALSE(ValidateStaticPod(core::Pod()).empty());
  core::Pod pod;
  auto& container = *pod.mutable_spec()->add_containers();
  (*container.mutable_resources()->mutable_limits())["hugepages-"].set_string("");
  container.add_env()->mutable_valuefrom()->mutable_resourcefieldref();
  pod.mutable_spec()->add_ephemeralcontainers();
  EXPECT_FALSE(ValidateStaticPod(pod).empty());
}

}  // namespace
}  // namespace denselet::kube
