#include "kube/api/pod/pod_at_rest.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "kube/api/codec/wire_reader.h"
#include "kube/api/types.h"
#include "tests/kube/api/codec/wire_samples.h"

namespace denselet::kube {
namespace {

using google::protobuf::util::MessageDifferencer;

core::Pod FullPod() {
  core::Pod pod;
  auto& metadata = *pod.mutable_metadata();
  metadata.set_name("web-0");
  metadata.set_namespace_("shop");
  metadata.set_uid("6f5c4b1e-0d0c-4b5a-9a51-6f0a3b8f0001");
  metadata.set_resourceversion("81234");
  metadata.set_generation(7);
  metadata.mutable_creationtimestamp()->set_seconds(1'760'000'000);
  metadata.mutable_deletiontimestamp()->set_seconds(1'760'000'030);
  metadata.set_deletiongraceperiodseconds(30);
  (*metadata.mutable_labels())["app"] = "web";
  (*metadata.mutable_annotations())["kubernetes.io/config.source"] = "file";
  (*metadata.mutable_annotations())["kubernetes.io/config.hash"] = "abc";
  (*metadata.mutable_annotations())["kubernetes.io/config.mirror"] = "abd";
  (*metadata.mutable_annotations())["other"] = "file";
  auto& spec = *pod.mutable_spec();
  spec.set_nodename("node-1");
  spec.set_runtimeclassname("kata");
  spec.set_priority(-5);
  spec.set_terminationgraceperiodseconds(45);
  spec.set_activedeadlineseconds(600);
  spec.set_restartpolicy("OnFailure");
  spec.set_hostnetwork(true);
  spec.set_hostpid(true);
  spec.set_hostipc(true);
  spec.add_initcontainers()->set_name("init");
  for (const char* name : {"web", "log"}) spec.add_containers()->set_name(name);
  for (const char* name : {"a", "b", "c"}) {
    spec.add_ephemeralcontainers()->mutable_ephemeralcontainercommon()->set_name(name);
  }
  for (const char* name : {"a", "b", "c", "d"}) spec.add_volumes()->set_name(name);
  auto& status = *pod.mutable_status();
  status.set_phase("Running");
  status.set_qosclass("Burstable");
  status.set_observedgeneration(6);
  return pod;
}

void AddManagedFields(core::Pod& pod, const char* manager) {
  auto& entry = *pod.mutable_metadata()->add_managedfields();
  entry.set_manager(manager);
  entry.mutable_fieldsv1()->set_raw(std::string(5000, 'f'));
}

PodRef AtRest(const core::Pod& pod) {
  auto ref = PodAtRest::FromPod(pod);
  EXPECT_TRUE(ref) << ref.error().message();
  return ref ? *ref : PodRef();
}

TEST(PodAtRest, HotFieldsAreThoseOfThePod) {
  const PodRef pod = AtRest(FullPod());
  ASSERT_TRUE(pod);
  const PodHotFields& hot = pod->hot();
  EXPECT_EQ(hot.name, "web-0");
  EXPECT_EQ(hot.ns, "shop");
  EXPECT_EQ(hot.uid, "6f5c4b1e-0d0c-4b5a-9a51-6f0a3b8f0001");
  EXPECT_EQ(hot.resource_version, "81234");
  EXPECT_EQ(hot.generation, 7);
  EXPECT_EQ(hot.creation_time, WallTime(Seconds(1'760'000'000)));
  EXPECT_EQ(hot.deletion_time, WallTime(Seconds(1'760'000'030)));
  EXPECT_EQ(hot.deletion_grace_seconds, 30);
  EXPECT_EQ(hot.config_source, "file");
  EXPECT_EQ(hot.config_hash, "abc");
  EXPECT_EQ(hot.config_mirror, "abd");
  EXPECT_EQ(hot.node_name, "node-1");
  EXPECT_EQ(hot.runtime_class, "kata");
  EXPECT_EQ(hot.priority, -5);
  EXPECT_EQ(hot.termination_grace_seconds, 45);
  EXPECT_EQ(hot.active_deadline_seconds, 600);
  EXPECT_EQ(hot.restart_policy, PodRestartPolicy::kOnFailure);
  EXPECT_TRUE(hot.host_network);
  EXPECT_TRUE(hot.host_pid);
  EXPECT_TRUE(hot.host_ipc);
  EXPECT_EQ(hot.init_containers, 1u);
  EXPECT_EQ(hot.containers, 2u);
  EXPECT_EQ(hot.ephemeral_containers, 3u);
  EXPECT_EQ(hot.volumes, 4u);
  EXPECT_EQ(hot.phase, PodPhase::kRunning);
  EXPECT_EQ(hot.qos, PodQos::kBurstable);
  EXPECT_EQ(hot.observed_generation, 6);
  EXPECT_TRUE(hot.IsMirror());
  EXPECT_TRUE(hot.IsStatic());
}

TEST(PodAtRest, WhatThePodDoesNotSayIsNotMadeUp) {
  // Upstream writes empty texts and zeros of what is not a pointer.
  const auto ref = PodAtRest::FromWire(PodRaw());
  ASSERT_TRUE(ref) << ref.error().message();
  const PodHotFields& hot = (*ref)->hot();
  EXPECT_EQ(hot.name, "web");
  EXPECT_EQ(hot.ns, "shop");
  EXPECT_EQ(hot.uid, "");
  EXPECT_EQ(hot.creation_time, WallTime());
  EXPECT_FALSE(hot.deletion_time);
  EXPECT_FALSE(hot.deletion_grace_seconds);
  EXPECT_FALSE(hot.priority);
  EXPECT_FALSE(hot.termination_grace_seconds);
  EXPECT_FALSE(hot.active_deadline_seconds);
  EXPECT_EQ(hot.containers, 0u);
  EXPECT_EQ(hot.phase, PodPhase::kNone);
  EXPECT_EQ(hot.qos, PodQos::kNone);
  EXPECT_EQ(hot.restart_policy, PodRestartPolicy::kNone);
  EXPECT_FALSE(hot.host_network);
  EXPECT_FALSE(hot.IsMirror());
  EXPECT_FALSE(hot.IsStatic());
  EXPECT_EQ((*ref)->wire(), PodRaw());
}

TEST(PodAtRest, KnowsTheWordsOfTheApi) {
  const std::pair<const char*, PodPhase> phases[] = {
      {"Pending", PodPhase::kPending},     {"Running", PodPhase::kRunning},
      {"Succeeded", PodPhase::kSucceeded}, {"Failed", PodPhase::kFailed},
      {"Unknown", PodPhase::kUnknown},     {"", PodPhase::kNone},
      {"running", PodPhase::kNone}};
  const std::pair<const char*, PodQos> classes[] = {{"Guaranteed", PodQos::kGuaranteed},
                                                    {"Burstable", PodQos::kBurstable},
                                                    {"BestEffort", PodQos::kBestEffort},
                                                    {"Best", PodQos::kNone}};
  const std::pair<const char*, PodRestartPolicy> policies[] = {
      {"Always", PodRestartPolicy::kAlways},
      {"OnFailure", PodRestartPolicy::kOnFailure},
      {"Never", PodRestartPolicy::kNever},
      {"Sometimes", PodRestartPolicy::kNone}};
  core::Pod pod;
  for (const auto& [word, phase] : phases) {
    pod.mutable_status()->set_phase(word);
    EXPECT_EQ(AtRest(pod)->hot().phase, phase) << word;
  }
  for (const auto& [word, qos] : classes) {
    pod.mutable_status()->set_qosclass(word);
    EXPECT_EQ(AtRest(pod)->hot().qos, qos) << word;
  }
  for (const auto& [word, policy] : policies) {
    pod.mutable_spec()->set_restartpolicy(word);
    EXPECT_EQ(AtRest(pod)->hot().restart_policy, policy) << word;
  }
}

TEST(PodAtRest, ParsedIsThePodWithoutManagedFields) {
  const core::Pod bare = FullPod();
  core::Pod pod = bare;
  AddManagedFields(pod, "kube-controller-manager");
  AddManagedFields(pod, "kubelet");
  const PodRef rest = AtRest(pod);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->wire(), AtRest(bare)->wire());
  EXPECT_LT(rest->wire().size(), 1000u);
  const auto parsed = rest->Parse();
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_TRUE(MessageDifferencer::Equals(**parsed, bare));

  core::Pod reused = pod;
  reused.mutable_spec()->set_hostname("old");
  ASSERT_TRUE(rest->ParseInto(reused));
  EXPECT_TRUE(MessageDifferencer::Equals(reused, bare));
}

TEST(PodAtRest, PartsThatComeTwiceAreMergedAsTheParserDoes) {
  core::Pod first = FullPod(), second;
  AddManagedFields(first, "one");
  AddManagedFields(second, "two");
  second.mutable_metadata()->set_uid("other");
  second.mutable_metadata()->mutable_deletiontimestamp();
  second.mutable_spec()->add_containers()->set_name("third");
  second.mutable_status()->set_phase("Failed");
  const auto rest = PodAtRest::FromWire(first.SerializeAsString() + second.SerializeAsString());
  ASSERT_TRUE(rest) << rest.error().message();
  const PodHotFields& hot = (*rest)->hot();
  EXPECT_EQ(hot.name, "web-0");
  EXPECT_EQ(hot.uid, "other");
  EXPECT_EQ(hot.deletion_time, WallTime(Seconds(1'760'000'030)));
  EXPECT_EQ(hot.containers, 3u);
  EXPECT_EQ(hot.phase, PodPhase::kFailed);
  const auto parsed = (*rest)->Parse();
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)->metadata().uid(), "other");
  EXPECT_EQ((*parsed)->metadata().managedfields_size(), 0);
}

TEST(PodAtRest, UnknownFieldsStay) {
  std::string wire = FullPod().SerializeAsString();
  AppendBytesField(wire, 77, "of a later version");
  const auto rest = PodAtRest::FromWire(wire);
  ASSERT_TRUE(rest);
  EXPECT_EQ((*rest)->wire(), wire);
}

TEST(PodAtRest, TimesBeyondTheClockStopThere) {
  core::Pod pod;
  pod.mutable_metadata()->mutable_creationtimestamp()->set_seconds(253'402'300'799);  // year 9999
  pod.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(INT64_MIN);
  const PodRef rest = AtRest(pod);
  EXPECT_EQ(rest->hot().creation_time, WallTime::max());
  EXPECT_EQ(rest->hot().deletion_time, WallTime::min());
}

TEST(PodAtRest, RefusesWhatIsNoPod) {
  const struct {
    const char* why;
    std::string bytes;
  } rows[] = {
      {"JSON", R"({"kind":"Pod"})"},
      {"metadata is a number", FromHex("0801")},
      {"spec is a number", FromHex("1001")},
      {"status is a number", FromHex("1801")},
      {"metadata is cut", FromHex("0a050a01")},
      {"the name is a number", FromHex("0a020801")},
      {"the generation is a text", FromHex("0a033a0178")},
      {"a time is damaged", FromHex("0a0342010a")},
      {"an annotation is damaged", FromHex("0a0362010a")},
      {"an annotation's key is a number", FromHex("0a0462020801")},
      {"a container is a number", FromHex("12021001")},
      {"the phase is a number", FromHex("1a020801")},
      {"managedFields are cut", FromHex("0a048a010561")},
      {"a group", FromHex("0b0c")},
  };
  for (const auto& row : rows) {
    const auto rest = PodAtRest::FromWire(row.bytes);
    ASSERT_FALSE(rest) << row.why;
    EXPECT_EQ(rest.error().code(), ErrorCode::kCorrupt) << row.why;
  }
}

TEST(PodAtRest, DamageInWhatIsNotHotIsFoundByTheParser) {
  // A container whose name goes beyond it.
  const auto rest = PodAtRest::FromWire(FromHex("12041202") + FromHex("0a05"));
  ASSERT_TRUE(rest) << rest.error().message();
  const auto parsed = (*rest)->Parse();
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code(), ErrorCode::kCorrupt);
}

TEST(PodAtRest, EveryCutIsRefusedOrParsed) {
  core::Pod pod = FullPod();
  pod.mutable_metadata()->add_managedfields()->set_manager("kubelet");
  const std::string wire = pod.SerializeAsString();
  core::Pod parsed;
  for (size_t size = 0; size < wire.size(); ++size) {
    const auto rest = PodAtRest::FromWire(std::string_view(wire).substr(0, size));
    const bool whole = parsed.ParseFromArray(wire.data(), static_cast<int>(size));
    EXPECT_EQ(static_cast<bool>(rest), whole) << size;
  }
}

TEST(PodRef, SharesOnePodAndTheLastOneFreesIt) {
  PodRef a = AtRest(FullPod());
  PodRef b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(a->wire().data(), b->wire().data());
  PodRef c = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): a moved-from share is an empty one
  b = PodRef();
  EXPECT_FALSE(b);
  EXPECT_EQ(c->hot().name, "web-0");
  PodRef& self = c;
  c = self;
  EXPECT_EQ(c->hot().name, "web-0");
  EXPECT_NE(c, AtRest(FullPod()));
}

TEST(PodRef, MayBeCopiedAndDroppedOnManyThreads) {
  PodRef pod = AtRest(FullPod());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([pod] {
      size_t bytes = 0;
      for (int round = 0; round < 1000; ++round) {
        const PodRef copy = pod;
        bytes += copy->hot().name.size();
      }
      EXPECT_EQ(bytes, 5000u);
    });
  }
  pod = PodRef();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace denselet::kube
