// Status patches of pods and nodes against a real kube-apiserver: what it makes of them is the
// status that was wanted, and what our own applying makes of them. Run by control_plane.sh.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/patch/status_patch.h"
#include "kube/api/patch/strategic_patch.h"
#include "kube/api/types.h"
#include "tests/e2e/apiserver_fixture.h"

namespace denselet::kube {
namespace {

using PodEdit = std::function<void(core::PodStatus&)>;
using NodeEdit = std::function<void(core::Node&)>;

// Protobuf says zeroes of plain fields and JSON does not: values are compared, not bytes.
std::string Values(const google::protobuf::Message& message) {
  const auto json = Json::Parse(EncodeJson(message));
  EXPECT_TRUE(json);
  return json ? json->ToString() : "";
}

template <class T>
void Merge(T& into, std::string_view json) {
  T change;
  const DecodeReport report = DecodeJson(json, change, {.extras = Extras::kRefused});
  ASSERT_TRUE(report.ok()) << report.ToStatus().error().message();
  into.MergeFrom(change);
}

template <class Condition>
Condition* FindOrAdd(google::protobuf::RepeatedPtrField<Condition>& list, std::string_view type) {
  for (Condition& condition : list) {
    if (condition.type() == type) return &condition;
  }
  Condition* added = list.Add();
  added->set_type(std::string(type));
  return added;
}

template <class Condition>
void Remove(google::protobuf::RepeatedPtrField<Condition>& list, std::string_view type) {
  for (int i = list.size(); i-- > 0;) {
    if (list[i].type() == type) list.DeleteSubrange(i, 1);
  }
}

class PatchApiServerTest : public net::ApiServerTest {
 protected:
  // The answer, an object in protobuf; nothing of it after a failure.
  template <class T>
  T Object(const std::string& method, const std::string& target, int status,
           const std::string& body = "", const std::string& type = "application/json") {
    T object;
    net::Call call;
    const int got = Ask(call, method, target, body,
                        {.accepted = std::string(kProtobufContentType), .sent = type});
    EXPECT_EQ(got, status) << method << " " << target << "\n" << body << "\n" << call.body;
    if (got != status) return object;
    const auto envelope = DecodeEnvelope(call.body);
    EXPECT_TRUE(envelope && object.ParseFromArray(envelope->raw.data(),
                                                  static_cast<int>(envelope->raw.size())));
    return object;
  }

  template <class T>
  T Patched(const std::string& target, const std::string& patch) {
    return Object<T>("PATCH", target, 200, patch, std::string(kStrategicPatchContentType));
  }

  void Delete(const std::string& url) {
    net::Call call;
    EXPECT_EQ(Ask(call, "DELETE", url), 200) << call.body;
  }

  // In a namespace of its own. Nobody runs it.
  std::string CreatePod(const std::string& node) {
    const auto space = Object<core::Namespace>(
        "POST", "/api/v1/namespaces", 201,
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"patches-"}})");
    const std::string folder = "/api/v1/namespaces/" + space.metadata().name();
    // Where a controller manager runs it may be quicker.
    net::Call account;
    const int made =
        Ask(account, "POST", folder + "/serviceaccounts",
            R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})");
    EXPECT_TRUE(made == 201 || made == 409) << account.body;
    Object<core::Pod>(
        "POST", folder + "/pods", 201,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web"}},)"
        R"("spec":{"nodeName":")" +
            node +
            R"(","containers":[{"name":"main","image":"nginx"},{"name":"side","image":"envoy"}],)"
            R"("resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"t"},)"
            R"({"name":"nic","resourceClaimTemplateName":"t"}]}})");
    return folder + "/pods/web";
  }

  std::string CreateNode() {
    const auto node = Object<core::Node>(
        "POST", "/api/v1/nodes", 201,
        R"({"apiVersion":"v1","kind":"Node","metadata":{"generateName":"patched-"}})");
    return node.metadata().name();
  }

  // From what the server has to what the edit makes of it.
  void ChangePod(const std::string& url, const PodEdit& edit) {
    core::Pod pod = Object<core::Pod>("GET", url, 200);
    core::PodStatus wanted = pod.status();
    edit(wanted);
    const auto patch = MakePodStatusPatch(pod.metadata().uid(), pod.status(), wanted);
    ASSERT_TRUE(patch) << patch.error().message();
    ASSERT_EQ(patch->has_value(), Values(pod.status()) != Values(wanted));
    if (!*patch) return;
    SCOPED_TRACE(**patch);
    Patched<core::Pod>(url + "/status", **patch);
    const core::Pod got = Object<core::Pod>("GET", url, 200);
    EXPECT_EQ(Values(got.status()), Values(wanted));
    ASSERT_TRUE(ApplyStrategicPatch(pod, **patch));
    EXPECT_EQ(Values(got.status()), Values(pod.status()));
  }

  void ChangeNode(const std::string& url, const NodeEdit& edit) {
    core::Node node = Object<core::Node>("GET", url, 200);
    core::Node wanted = node;
    edit(wanted);
    const auto patch = MakeNodeStatusPatch(node, wanted);
    ASSERT_TRUE(patch) << patch.error().message();
    ASSERT_EQ(patch->has_value(), Values(node) != Values(wanted));
    if (!*patch) return;
    SCOPED_TRACE(**patch);
    Patched<core::Node>(url + "/status", **patch);
    const core::Node got = Object<core::Node>("GET", url, 200);
    EXPECT_EQ(Values(got.status()), Values(wanted.status()));
    EXPECT_EQ(Values(got.spec()), Values(node.spec()));
    ASSERT_TRUE(ApplyStrategicPatch(node, **patch));
    for (core::Node* either : {&node, &wanted}) {
      EXPECT_EQ(Values(got.status()), Values(either->status()));
      // Who wrote what and when is the server's.
      *either->mutable_metadata()->mutable_managedfields() = got.metadata().managedfields();
      either->mutable_metadata()->set_resourceversion(got.metadata().resourceversion());
      EXPECT_EQ(Values(got.metadata()), Values(either->metadata()));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Loop, PatchApiServerTest,
                         testing::Values(reactor::AvailableBackends().back()),
                         reactor::NameOfBackend);

// A pod's life, as its agent tells it.
const std::vector<std::string_view> kLife = {
    R"({"phase":"Pending","startTime":"2026-01-02T03:04:05Z","hostIP":"192.168.0.1",
        "hostIPs":[{"ip":"192.168.0.1"}],"conditions":[
        {"type":"PodReadyToStartContainers","status":"False","lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"Initialized","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"Ready","status":"False","reason":"ContainersNotReady","message":"containers with unready status: [main side]","lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}],
        "containerStatuses":[{"name":"main","image":"nginx","imageID":"","ready":false,"restartCount":0,"started":false,"state":{"waiting":{"reason":"ContainerCreating"}},"lastState":{}},
        {"name":"side","image":"envoy","imageID":"","ready":false,"restartCount":0,"started":false,"state":{"waiting":{"reason":"ContainerCreating"}},"lastState":{}}]})",
    R"({"phase":"Running","hostIP":"192.168.0.1","hostIPs":[{"ip":"192.168.0.1"},{"ip":"fd00::1"}],
        "podIP":"10.1.0.7","podIPs":[{"ip":"10.1.0.7"},{"ip":"fd01::7"}],"startTime":"2026-01-02T03:04:05Z","observedGeneration":1,"conditions":[
        {"type":"PodReadyToStartContainers","status":"True","lastTransitionTime":"2026-01-02T03:04:06Z"},
        {"type":"Initialized","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:04:07Z"},
        {"type":"ContainersReady","status":"True","lastTransitionTime":"2026-01-02T03:04:07Z"},
        {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}],
        "containerStatuses":[{"name":"main","image":"nginx","imageID":"sha256:1","containerID":"containerd://1","ready":true,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-01-02T03:04:07Z"}},"lastState":{},"resources":{"requests":{"cpu":"100m"}}},
        {"name":"side","image":"envoy","imageID":"sha256:2","containerID":"containerd://2","ready":true,"restartCount":1,"started":true,"state":{"running":{"startedAt":"2026-01-02T03:04:07Z"}},"lastState":{"terminated":{"exitCode":137,"signal":9,"reason":"OOMKilled","containerID":"containerd://0"}}}],
        "resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"web-gpu-1"},{"name":"nic","resourceClaimName":"web-nic-1"}]})",
    // Conditions in another order and one less, one address less, a claim by another name.
    R"({"phase":"Running","hostIP":"192.168.0.1","hostIPs":[{"ip":"192.168.0.1"}],
        "podIP":"fd01::7","podIPs":[{"ip":"fd01::7"}],"startTime":"2026-01-02T03:04:05Z","observedGeneration":1,"message":"<&>\u2028","conditions":[
        {"type":"Ready","status":"False","reason":"R","message":"m","lastTransitionTime":"2026-01-02T03:04:09Z"},
        {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"Initialized","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}],
        "containerStatuses":[{"name":"main","image":"nginx","imageID":"sha256:1","containerID":"containerd://1","ready":false,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-01-02T03:04:07Z"}},"lastState":{}}],
        "resourceClaimStatuses":[{"name":"nic","resourceClaimName":"web-nic-2"}]})",
    R"({"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory.","startTime":"2026-01-02T03:04:05Z","observedGeneration":1})",
};

TEST_P(PatchApiServerTest, APodsStatusBecomesWhatWasWanted) {
  const std::string url = CreatePod("nowhere");
  for (const std::string_view next : kLife) {
    ChangePod(url, [&](core::PodStatus& status) {
      const std::string qos = status.qosclass();
      status.Clear();
      status.set_qosclass(qos);
      Merge(status, next);
    });
    if (HasFailure()) return;
  }
}

TEST_P(PatchApiServerTest, RandomConditionsOfAPodArriveInTheirOrder) {
  const std::string url = CreatePod("nowhere");
  SeededRandom random(7);
  for (int step = 0; step < 30; ++step) {
    ChangePod(url, [&](core::PodStatus& status) {
      auto& list = *status.mutable_conditions();
      const std::string type = "example.com/" + std::to_string(random.Below(5));
      if (random.Below(3) == 0) return Remove(list, type);
      auto& condition = *FindOrAdd(list, type);
      condition.set_status(random.Below(2) == 0 ? "True" : "False");
      condition.set_reason(random.Below(2) == 0 ? "" : "R");
      const auto any = static_cast<int>(random.Below(static_cast<uint64_t>(list.size())));
      list.SwapElements(any, list.size() - 1);
    });
    if (HasFailure()) return;
  }
}

TEST_P(PatchApiServerTest, WhatOthersWroteMeanwhileStays) {
  const std::string url = CreatePod("nowhere");
  ChangePod(url, [](core::PodStatus& status) { Merge(status, kLife[0]); });
  const core::Pod known = Object<core::Pod>("GET", url, 200);
  Patched<core::Pod>(url + "/status",
                     R"({"status":{"conditions":[{"type":"example.com/Gate","status":"True"}]}})");
  core::Pod both = Object<core::Pod>("GET", url, 200);
  core::PodStatus wanted = known.status();
  FindOrAdd(*wanted.mutable_conditions(), "Ready")->set_status("True");
  Remove(*wanted.mutable_conditions(), "Initialized");
  FindOrAdd(*wanted.mutable_conditions(), "ContainersReady")->set_status("True");
  const auto patch = MakePodStatusPatch(known.metadata().uid(), known.status(), wanted);
  ASSERT_TRUE(patch && *patch);
  Patched<core::Pod>(url + "/status", **patch);
  const core::Pod got = Object<core::Pod>("GET", url, 200);
  EXPECT_EQ(got.status().conditions_size(), wanted.conditions_size() + 1);
  ASSERT_TRUE(ApplyStrategicPatch(both, **patch));
  EXPECT_EQ(Values(got.status()), Values(both.status()));
}

TEST_P(PatchApiServerTest, AnotherPodOfTheSameNameRefusesThePatch) {
  const std::string url = CreatePod("nowhere");
  core::PodStatus wanted;
  wanted.set_phase("Running");
  const auto patch = MakePodStatusPatch("another-uid", {}, wanted);
  ASSERT_TRUE(patch && *patch);
  // Not a conflict: for the server it is an attempt to change the uid.
  net::Call call;
  const net::MediaTypes types{.sent = std::string(kStrategicPatchContentType)};
  EXPECT_EQ(Ask(call, "PATCH", url + "/status", **patch, types), 422);
  EXPECT_NE(call.body.find("metadata.uid"), std::string::npos) << call.body;
}

TEST_P(PatchApiServerTest, ANodesStatusBecomesWhatWasWanted) {
  const std::string url = "/api/v1/nodes/" + CreateNode();
  const auto addresses = [](std::vector<std::pair<const char*, const char*>> list) {
    return [list = std::move(list)](core::Node& node) {
      node.mutable_status()->clear_addresses();
      for (const auto& [type, address] : list) {
        core::NodeAddress& added = *node.mutable_status()->add_addresses();
        added.set_type(type);
        added.set_address(address);
      }
    };
  };
  const auto status = [](std::string_view json) {
    return [json](core::Node& node) { Merge(*node.mutable_status(), json); };
  };
  const std::vector<NodeEdit> edits = {
      status(R"({"capacity":{"cpu":"4","memory":"16Gi","pods":"110"},"allocatable":{"cpu":"3900m"},
                 "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"kubeletVersion":"v1.36.3"},
                 "images":[{"names":["a:1","a@sha256:1"],"sizeBytes":100}],"volumesInUse":["x^1"],
                 "volumesAttached":[{"name":"x^1","devicePath":""}]})"),
      addresses({{"InternalIP", "10.0.0.1"}, {"Hostname", "n"}}),
      addresses({{"InternalIP", "10.0.0.1"}, {"InternalIP", "fd00::1"}, {"Hostname", "n"}}),
      addresses({{"Hostname", "n"}, {"InternalIP", "fd00::1"}, {"InternalIP", "10.0.0.2"}}),
      addresses({}),
      addresses({{"InternalIP", "10.0.0.3"}, {"InternalIP", "10.0.0.4"}}),
      [](core::Node& node) {
        (*node.mutable_metadata()->mutable_annotations())["csi.volume.kubernetes.io/nodeid"] = "{}";
        (*node.mutable_metadata()->mutable_labels())["topology.kubernetes.io/zone"] = "z1";
        (*node.mutable_status()->mutable_capacity())["example.com/gpu"].set_string("2");
        node.mutable_status()->mutable_capacity()->erase("memory");
      },
      [](core::Node& node) {
        node.mutable_metadata()->mutable_annotations()->erase("csi.volume.kubernetes.io/nodeid");
        node.mutable_status()->clear_images();
        node.mutable_status()->clear_volumesinuse();
        node.mutable_status()->clear_volumesattached();
      },
  };
  for (const NodeEdit& edit : edits) {
    ChangeNode(url, edit);
    if (HasFailure()) return;
  }
  Delete(url);
}

TEST_P(PatchApiServerTest, HeartbeatsAndConditionsOfANodeArrive) {
  const std::string url = "/api/v1/nodes/" + CreateNode();
  SeededRandom random(11);
  for (int step = 0; step < 20; ++step) {
    ChangeNode(url, [&](core::Node& node) {
      auto& list = *node.mutable_status()->mutable_conditions();
      for (const auto* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
        auto& condition = *FindOrAdd(list, type);
        condition.mutable_lastheartbeattime()->set_seconds(1767323045 + step);
        if (random.Below(4) == 0) condition.set_reason(random.Below(2) == 0 ? "" : "R");
        condition.set_status(random.Below(2) == 0 ? "True" : "False");
      }
      if (random.Below(4) == 0) Remove(list, "DiskPressure");
      list.SwapElements(0, static_cast<int>(random.Below(static_cast<uint64_t>(list.size()))));
    });
    if (HasFailure()) return;
  }
  Delete(url);
}

}  // namespace
}  // namespace denselet::kube
