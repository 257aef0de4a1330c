// From the end of a container to the patch of its pod's status, on a node that has nothing else to
// do. The end is when cri_sim is told to let it happen; the patch is when kube-apiserver received
// it, as its audit log says. Both are this machine's clock.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/cri_sim/json.h"
#include "bench/network/child.h"
#include "bench/sync/agent_node.h"

namespace denselet::bench {
namespace {

using cri_sim::Json;

constexpr char kNode[] = "bench-sync";
constexpr size_t kPods = 200;
constexpr Duration kBetween = Milliseconds(25);
constexpr Duration kPodsLimit = Seconds(60);

std::string Output(std::vector<std::string> command) { return Child(std::move(command)).ReadAll(); }

std::string NameOf(size_t number) { return "patch-" + std::to_string(number); }

// Two containers, of which one ends: the pod is still running, and not ready any more.
void MakePods(const AgentNode& node) {
  const std::string path = node.folder() + "/pods.yaml";
  {
    std::ofstream file(path);
    for (size_t i = 0; i < kPods; ++i) {
      file << "---\n{apiVersion: v1, kind: Pod, metadata: {name: " << NameOf(i)
           << ", namespace: " << kNode << "}, spec: {nodeName: " << kNode
           << ", restartPolicy: Never, automountServiceAccountToken: false, "
              "tolerations: [{operator: Exists}], containers: ["
              "{name: main, image: example.org/main:1, command: [sh, -c, sleep inf]}, "
              "{name: side, image: example.org/main:1, command: [sh, -c, sleep inf]}]}}\n";
    }
  }
  Output({"kubectl", "create", "namespace", kNode});
  Output({"kubectl", "create", "serviceaccount", "-n", kNode, "default"});
  Output({"kubectl", "create", "-f", path});
}

// When the API server received patches of the pods' statuses, by pod and in order.
std::map<std::string, std::vector<WallTime>> PatchesReceived() {
  std::map<std::string, std::vector<WallTime>> patches;
  const char* const folder = std::getenv("DENSELET_CONTROL_PLANE");
  std::ifstream log(std::string(folder) + "/node-audit.jsonl");
  for (std::string line; std::getline(log, line);) {
    const Result<Json> entry = Json::Parse(line);
    if (!entry || (*entry)["verb"].Text() != "patch") continue;
    const Json object = (*entry)["objectRef"];
    if (object["resource"].Text() != "pods" || object["namespace"].Text() != kNode) continue;
    const auto at = ParseRfc3339((*entry)["requestReceivedTimestamp"].Text());
    if (at) patches[object["name"].Text()].push_back(ToWallTime(*at));
  }
  return patches;
}

}  // namespace

void BenchPatches(const SyncPrograms& programs, Report& report) {
  if (std::getenv("DENSELET_CONTROL_PLANE") == nullptr) {
    std::puts("event -> PATCH was not measured: there is no control plane here.");
    return;
  }
  AgentNode node(programs, {.name = kNode,
                            .kubeconfig = Output({"control_plane.sh", "node-kubeconfig", kNode})});
  node.StartAgent();
  MakePods(node);
  node.WaitFor("pods of the API server", kPodsLimit,
               [&] { return node.State().running == 2 * kPods; });
  const auto all_told = [] { return PatchesReceived().size() == kPods; };
  node.WaitFor("statuses of all pods", kPodsLimit, [&] {
    node.Pass(Milliseconds(200));
    return all_told();
  });
  node.Settle(node.clock().Now(), Seconds(3));
  std::vector<WallTime> ends;
  for (size_t i = 0; i < kPods; ++i) {
    ends.push_back(node.clock().WallNow());
    node.Ask(R"({"do":"exit","container":"main","code":1,"pod":")" + std::string(kNode) + "/" +
             NameOf(i) + "\"}");
    node.Pass(kBetween);
  }
  node.Settle(node.clock().Now(), Seconds(2));
  std::vector<double> latencies;
  const auto patches = PatchesReceived();
  for (size_t i = 0; i < kPods; ++i) {
    const auto found = patches.find(NameOf(i));
    if (found == patches.end()) continue;
    for (const WallTime at : found->second) {
      if (at < ends[i]) continue;
      latencies.push_back(ToSeconds(at - ends[i]) * 1e3);
      break;
    }
  }
  if (latencies.size() != kPods) node.GiveUp("not every end was followed by a patch");
  report.AtMost("event_to_patch_p99_ms", "a container's end -> patch received, idle, p99",
                Percentile(latencies, 0.99), "ms", 10);
  report.Show("event_to_patch_median_ms", "  median", Percentile(latencies, 0.5), "ms");
  report.Show("event_to_patch_max_ms", "  the longest of 200", Percentile(latencies, 1), "ms");
}

}  // namespace denselet::bench
