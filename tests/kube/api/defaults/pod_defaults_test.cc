#include "kube/api/defaults/pod_defaults.h"

#include <string>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/defaults/image_name.h"
#include "kube/api/types.h"
#include "tests/golden.h"
#include "tests/kube/api/manifests.h"

namespace denselet::kube {
namespace {

constexpr std::string_view kManifests = "tests/kube/api/defaults/manifests/";
constexpr std::string_view kGolden = "tests/kube/api/defaults/golden/defaulted.txt";

core::Pod ReadPod(std::string_view file, size_t document) {
  core::Pod pod;
  const std::string text = tests::ReadManifest(kManifests, file, document);
  const DecodeReport report = DecodeYaml(text, pod);
  EXPECT_TRUE(report.ok()) << file << " " << document;
  return pod;
}

// Fields that are written though they are empty stand where others of their kind do: read again,
// all of them are set.
std::string Normalized(const core::Pod& pod) {
  core::Pod again;
  EXPECT_TRUE(DecodeJson(EncodeJson(pod), again).ok());
  return EncodeWire(again);
}

TEST(PodDefaults, AreThoseOfTheApiServer) {
  for (const auto& row : tests::ReadGolden(kGolden)) {
    ASSERT_EQ(row.size(), 3u);
    SCOPED_TRACE(row[0] + ", document " + row[1]);
    core::Pod pod = ReadPod(row[0], std::stoul(row[1]));
    SetPodDefaults(pod);
    core::Pod expected;
    ASSERT_TRUE(DecodeJson(row[2], expected).ok());
    EXPECT_EQ(Normalized(pod), Normalized(expected)) << EncodeJson(pod) << "\n" << row[2];
  }
}

TEST(PodDefaults, SetTwiceAreTheSame) {
  for (const auto& row : tests::ReadGolden(kGolden)) {
    SCOPED_TRACE(row[0] + ", document " + row[1]);
    core::Pod pod = ReadPod(row[0], std::stoul(row[1]));
    SetPodDefaults(pod);
    const std::string once = EncodeWire(pod);
    SetPodDefaults(pod);
    EXPECT_EQ(EncodeWire(pod), once);
  }
}

// What comes over the wire need not have passed a decoder of texts.
TEST(PodDefaults, LeaveWhatIsNoQuantityAlone) {
  core::Pod pod;
  auto& resources = *pod.mutable_spec()->add_containers()->mutable_resources();
  (*resources.mutable_limits())["cpu"].set_string("lots");
  (*pod.mutable_spec()->mutable_resources()->mutable_limits())["cpu"].set_string("");
  SetPodDefaults(pod);
  EXPECT_EQ(pod.spec().containers(0).resources().requests().at("cpu").string(), "lots");
  EXPECT_EQ(pod.spec().resources().requests().at("cpu").string(), "lots");
}

TEST(ImageName, HasATagOrADigest) {
  const auto plain = ParseImageName("busybox");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->tag, "latest");
  const auto full = ParseImageName("localhost:5000/a/b:v1");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->tag, "v1");
  EXPECT_EQ(full->digest, "");
  const auto pinned = ParseImageName("a@sha256:" + std::string(64, 'f'));
  ASSERT_TRUE(pinned);
  EXPECT_EQ(pinned->tag, "");
  EXPECT_EQ(pinned->digest, "sha256:" + std::string(64, 'f'));
  EXPECT_FALSE(ParseImageName("Busybox"));
}

}  // namespace
}  // namespace denselet::kube
