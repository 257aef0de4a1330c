// The corpus of manifests (tests/kube/corpus) against a real kube-apiserver: it takes what we
// write, and what it writes we read, in every format. Run by corpus_test.sh, which makes the
// namespaces.
#include <gmock/gmock.h>

#include <fstream>

#include "kube/api/codec/yaml.h"
#include "tests/e2e/apiserver_fixture.h"
#include "tests/e2e/pod_answers.h"
#include "tests/kube/corpus/corpus.h"

namespace denselet::kube {
namespace {

// What a user said and the server filled in; without what it counts, dates and names by chance.
std::string SpecAndLabels(const core::Pod& pod) {
  core::Pod rest;
  *rest.mutable_spec() = pod.spec();
  *rest.mutable_metadata()->mutable_labels() = pod.metadata().labels();
  *rest.mutable_metadata()->mutable_annotations() = pod.metadata().annotations();
  return EncodeJson(rest);
}

void Write(const std::string& folder, const std::string& name, const core::Pod& pod) {
  const Result<std::string> yaml = EncodeYaml(pod, kPod);
  ASSERT_TRUE(yaml) << yaml.error().message();
  std::ofstream file(net::Setting("DENSELET_CORPUS_WORK") + "/" + folder + "/" + name + ".yaml");
  file << *yaml;
  EXPECT_TRUE(file.flush());
}

class CorpusApiServerTest : public net::ApiServerTest {
 protected:
  // A manifest as it stands, and where its pod will be.
  struct Subject {
    corpus::Manifest manifest;
    core::Pod pod;
    std::string url;  // of the pods of the namespace that keeps them
  };

  std::vector<Subject> Subjects() {
    std::vector<Subject> subjects;
    const std::string kept_in = net::Setting("DENSELET_CORPUS_NAMESPACE");
    for (corpus::Manifest& manifest : corpus::Manifests()) {
      Subject& subject = subjects.emplace_back();
      const DecodeReport report = DecodeYaml(manifest.text, subject.pod, kStrict);
      EXPECT_TRUE(report.ok()) << manifest.name << report.ToStatus().error().message();
      subject.pod.mutable_metadata()->set_namespace_(kept_in);
      subject.url = "/api/v1/namespaces/" + kept_in + "/pods";
      subject.manifest = std::move(manifest);
    }
    return subjects;
  }

  // The body of the answer; empty after a failure.
  std::string Answer(const std::string& method, const std::string& target, int status,
                     const std::string& body = "", const net::MediaTypes& types = {}) {
    net::Call call;
    const int got = Ask(call, method, target, body, types);
    if (got == status) return call.body;
    ADD_FAILURE() << method << " " << target << ": " << got << ", wanted " << status << "\n"
                  << call.body.substr(0, 2000);
    return {};
  }

  // Containers that join later have a door of their own.
  void Create(const Subject& subject) {
    core::Pod first = subject.pod;
    first.mutable_spec()->clear_ephemeralcontainers();
    Answer("POST", subject.url + "?fieldValidation=Strict", 201, EncodeJson(first, kPod));
    if (subject.pod.spec().ephemeralcontainers().empty()) return;
    Answer("PUT", subject.url + "/" + subject.manifest.name + "/ephemeralcontainers", 200,
           EncodeJson(subject.pod, kPod));
  }

  struct Read {
    std::string json;
    std::string bytes;
  };
  // Both of the same version; another controller may have changed the object in between.
  Read ReadBoth(const std::string& url) {
    constexpr int kTriesMax = 10;
    for (int i = 0; i < kTriesMax; ++i) {
      Read read;
      read.json = Answer("GET", url, 200);
      read.bytes = Answer("GET", url, 200, "", {.accepted = kProtobuf});
      if (testing::Test::HasFailure()) return read;
      if (FromJson(read.json).metadata().resourceversion() ==
          FromProtobuf(read.bytes).metadata().resourceversion()) {
        return read;
      }
    }
    ADD_FAILURE() << url << " changed " << kTriesMax << " times between two reads";
    return {};
  }
};
INSTANTIATE_TEST_SUITE_P(Loop, CorpusApiServerTest,
                         testing::Values(reactor::AvailableBackends().back()),
                         reactor::NameOfBackend);

TEST_P(CorpusApiServerTest, JsonAndProtobufOfWhatItKeepsAreTheSameObject) {
  for (const Subject& subject : Subjects()) {
    SCOPED_TRACE(subject.manifest.name);
    Create(subject);
    const Read read = ReadBoth(subject.url + "/" + subject.manifest.name);
    if (HasFailure()) return;
    const core::Pod from_json = FromJson(read.json);
    const core::Pod from_protobuf = FromProtobuf(read.bytes);
    EXPECT_EQ(EncodeJson(from_json, kPod), EncodeJson(from_protobuf, kPod));
    // Protobuf says zeroes of plain fields, JSON does not; without them they are equal to the byte.
    EXPECT_EQ(EncodeWire(from_json), EncodeWire(FromJson(EncodeJson(from_protobuf, kPod))));
    // We lose nothing of the server's text: with the keys sorted, ours is the same.
    EXPECT_EQ(*EncodeYaml(from_json, kPod), *JsonToYaml(read.json));
    // And the server lost nothing of ours.
    EXPECT_THAT(corpus::Missing(corpus::PathsSetIn(subject.pod), corpus::PathsSetIn(from_protobuf)),
                testing::IsEmpty());
    core::Pod returned = from_protobuf;
    // Who applies it must not depend on nobody having written meanwhile.
    returned.mutable_metadata()->clear_resourceversion();
    Write("returned", subject.manifest.name, returned);
  }
}

TEST_P(CorpusApiServerTest, OurYamlJsonAndProtobufAreReadAsTheManifestItself) {
  const std::string url = "/api/v1/namespaces/corpus/pods?dryRun=All&fieldValidation=Strict";
  for (const Subject& subject : Subjects()) {
    SCOPED_TRACE(subject.manifest.name);
    if (!subject.pod.spec().ephemeralcontainers().empty()) continue;  // not at birth
    core::Pod pod = subject.pod;
    pod.mutable_metadata()->set_namespace_("corpus");
    const net::MediaTypes yaml{.sent = "application/yaml"};
    const std::string wanted =
        SpecAndLabels(FromJson(Answer("POST", url, 201, subject.manifest.text, yaml)));
    const auto made_of = [&](const std::string& body, const net::MediaTypes& types) {
      return SpecAndLabels(FromJson(Answer("POST", url, 201, body, types)));
    };
    EXPECT_EQ(made_of(*EncodeYaml(pod, kPod), yaml), wanted);
    EXPECT_EQ(made_of(EncodeJson(pod, kPod), {}), wanted);
    EXPECT_EQ(made_of(EncodeEnvelope(kPod, EncodeWire(pod)), {.sent = kProtobuf}), wanted);
    if (HasFailure()) return;
    Write("written", subject.manifest.name, pod);
  }
}

}  // namespace
}  // namespace denselet::kube
