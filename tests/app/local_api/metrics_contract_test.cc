// Every metric that the agent declares is upstream's, with upstream's type and labels, or has a
// name of our own. What it serves is held to the same by tests/e2e/agent/ctl_test.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/local_api/process_metrics.h"
#include "app/metrics_text.h"
#include "base/metrics_snapshot.h"
#include "cri/cri_metrics.h"
#include "kube/client/certificates/client_certificate_metrics.h"
#include "managers/node/node_metrics.h"
#include "managers/status/status_metrics.h"
#include "rpc/rpc_metrics.h"
#include "sync/pleg/pleg_metrics.h"
#include "tests/source_dir.h"

namespace denselet::app {
namespace {

struct Contract {
  std::string type;
  std::vector<std::string> labels;  // sorted
};

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const size_t begin = cell.find_first_not_of(" `"), end = cell.find_last_not_of(" `");
    cells.push_back(begin == cell.npos ? "" : cell.substr(begin, end - begin + 1));
  }
  return cells;
}

std::vector<std::string> Labels(const std::string& cell) {
  std::vector<std::string> labels;
  std::istringstream stream(cell);
  for (std::string label; std::getline(stream, label, ',');) {
    label.erase(0, label.find_first_not_of(' '));
    if (!label.empty() && label != "–") labels.push_back(label);
  }
  std::ranges::sort(labels);
  return labels;
}

// The tables of /metrics: from its heading to the next of the same level.
std::map<std::string, Contract> ReadContract() {
  std::map<std::string, Contract> contract;
  std::ifstream file(tests::SourcePath("docs/compat/metrics.md"));
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line.starts_with("## 1. `/metrics`");
    if (!inside || !line.starts_with("| `")) continue;
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() < 3) continue;
    contract[cells[0]] = {cells[1], Labels(cells[2])};
  }
  return contract;
}

MetricsSnapshot AllThatIsDeclared() {
  MetricsSnapshot all;
  const auto add = [&all](MetricsSnapshot part) {
    const Status merged = all.Merge(std::move(part));
    EXPECT_TRUE(merged) << merged.error().message();
  };
  add(MetricSet<sync::PlegMetric>().Gather());
  add(MetricSet<cri::CriMetric>().Gather());
  add(MetricSet<rpc::RpcMetric>().Gather());
  add(MetricSet<node::NodeMetric>().Gather());
  add(MetricSet<managers::StatusMetric>().Gather());
  add(MetricSet<kube::ClientCertificateMetric>().Gather());
  AddProcessMetrics({}, all);
  return all;
}

TEST(MetricsContract, TheTableIsRead) {
  const auto contract = ReadContract();
  EXPECT_GT(contract.size(), 150u);
  ASSERT_TRUE(contract.contains("kubelet_working_pods"));
  EXPECT_EQ(contract.at("kubelet_working_pods").type, "gauge");
  EXPECT_EQ(contract.at("kubelet_working_pods").labels,
            (std::vector<std::string>{"config", "lifecycle", "static"}));
  EXPECT_TRUE(contract.at("kubelet_running_pods").labels.empty());
}

TEST(MetricsContract, NamesTypesAndLabelsAreUpstreamsOrOurOwn) {
  const auto contract = ReadContract();
  size_t upstream = 0;
  const MetricsSnapshot declared = AllThatIsDeclared();
  for (const auto& [name, family] : declared.families()) {
    if (name.starts_with("denselet_")) continue;
    const auto found = contract.find(name);
    ASSERT_NE(found, contract.end()) << name << " is neither upstream's nor named denselet_...";
    ++upstream;
    EXPECT_EQ(found->second.type, MetricTypeName(family.kind)) << name;
    std::vector<std::string> labels = family.label_names;
    std::ranges::sort(labels);
    EXPECT_EQ(found->second.labels, labels) << name;
  }
  EXPECT_GT(upstream, 15u);
}

}  // namespace
}  // namespace denselet::app
