#include "tests/kube/corpus/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::kube::corpus {
namespace {

constexpr DecodeOptions kStrict{.extras = Extras::kRefused};
// Sets plain fields to zero; the others do not.
constexpr std::string_view kZeroes = "zeroes";
const TypeMeta kPod{.api_version = "v1", .kind = "Pod"};

core::Pod Decoded(const Manifest& manifest) {
  core::Pod pod;
  const DecodeReport report = DecodeYaml(manifest.text, pod, kStrict);
  EXPECT_TRUE(report.ok()) << manifest.name << ": " << report.ToStatus().error().message();
  EXPECT_EQ(report.type, kPod) << manifest.name;
  EXPECT_EQ(pod.metadata().name(), manifest.name);
  return pod;
}

core::Pod FromJson(const std::string& json) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(json, pod, kStrict);
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  EXPECT_EQ(report.type, kPod);
  return pod;
}

TEST(Corpus, UsesEveryFieldOfAPodThatAUserCanSet) {
  std::set<std::string> wanted = FieldsOf(*core::PodSpec::descriptor());
  wanted.merge(FieldsOf(*meta::ObjectMeta::descriptor()));
  std::set<std::string> used;
  for (const Manifest& manifest : Manifests()) {
    const core::Pod pod = Decoded(manifest);
    used.merge(FieldsSetIn(pod.spec()));
    used.merge(FieldsSetIn(pod.metadata()));
  }
  EXPECT_GT(wanted.size(), 500u);
  const std::set<std::string> exceptions = Exceptions();
  std::set<std::string> excused = used;
  excused.insert(exceptions.begin(), exceptions.end());
  EXPECT_THAT(Missing(wanted, excused), testing::IsEmpty()) << "no manifest sets them";
  // What is excused must be a field, and must need it.
  EXPECT_THAT(Missing(exceptions, wanted), testing::IsEmpty()) << "no such fields";
  for (const std::string& field : exceptions) {
    EXPECT_FALSE(used.contains(field)) << field << " is set, and needs no exception";
  }
}

// The objects that Go writes though they are empty ("resources", "status") are in the wire after
// the first way through JSON; from then on nothing changes any more.
TEST(Corpus, JsonBringsBackTheSameWire) {
  for (const Manifest& manifest : Manifests()) {
    SCOPED_TRACE(manifest.name);
    const core::Pod pod = Decoded(manifest);
    const std::string json = EncodeJson(pod, kPod);
    const core::Pod settled = FromJson(json);
    EXPECT_EQ(EncodeJson(settled, kPod), json);
    if (manifest.name != kZeroes) {
      EXPECT_THAT(Missing(PathsSetIn(pod), PathsSetIn(settled)), testing::IsEmpty());
    }
    core::Pod parsed;
    ASSERT_TRUE(parsed.ParseFromString(EncodeWire(settled)));
    EXPECT_EQ(EncodeWire(FromJson(EncodeJson(parsed, kPod))), EncodeWire(settled));
  }
}

// JSON has no word for the zero of a plain field; protobuf has.
TEST(Corpus, OfZeroesJsonBringsBackThoseOfPointers) {
  core::Pod pod;
  for (const Manifest& manifest : Manifests()) {
    if (manifest.name == kZeroes) pod = Decoded(manifest);
  }
  EXPECT_THAT(Missing(PathsSetIn(pod), PathsSetIn(FromJson(EncodeJson(pod, kPod)))),
              testing::ElementsAre("spec.containers[0].env[0].value",
                                   "spec.containers[0].livenessProbe.initialDelaySeconds",
                                   "spec.containers[0].stdin", "spec.hostNetwork", "spec.hostPID",
                                   "spec.nodeName"));
}

TEST(Corpus, YamlBringsBackTheSameWireAsJson) {
  for (const Manifest& manifest : Manifests()) {
    SCOPED_TRACE(manifest.name);
    const core::Pod pod = Decoded(manifest);
    const Result<std::string> yaml = EncodeYaml(pod, kPod);
    ASSERT_TRUE(yaml) << yaml.error().message();
    core::Pod again;
    const DecodeReport report = DecodeYaml(*yaml, again, kStrict);
    ASSERT_TRUE(report.ok()) << report.ToStatus().error().message() << *yaml;
    EXPECT_EQ(report.type, kPod);
    EXPECT_EQ(EncodeWire(again), EncodeWire(FromJson(EncodeJson(pod, kPod))));
    EXPECT_EQ(*EncodeYaml(again, kPod), *yaml);
  }
}

TEST(Corpus, AnEnvelopeBringsBackTheSameWire) {
  for (const Manifest& manifest : Manifests()) {
    SCOPED_TRACE(manifest.name);
    const std::string wire = EncodeWire(Decoded(manifest));
    const std::string bytes = EncodeEnvelope(kPod, wire);
    const Result<Envelope> envelope = DecodeEnvelope(bytes);
    ASSERT_TRUE(envelope) << envelope.error().message();
    EXPECT_EQ(envelope->Type(), kPod);
    core::Pod again;
    ASSERT_TRUE(again.ParseFromArray(envelope->raw.data(), static_cast<int>(envelope->raw.size())));
    EXPECT_EQ(EncodeWire(again), wire);
  }
}

}  // namespace
}  // namespace denselet::kube::corpus
