// The groups of rules, and what they share. For the validate_*.cc files alone.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/origins.h"
#include "app/features/feature_gates.h"
#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::app {

class ConfigRules {
 public:
  // Without `origins` nobody is told what is a default.
  ConfigRules(const kube::config::KubeletConfiguration& config, const FeatureGates& gates,
              const Origins* origins)
      : config_(config), gates_(gates), origins_(origins) {}

  void Numbers();
  void Server();
  void Names();
  void Images();
  void Endpoints();
  void Logs();
  void Shutdown();
  void NodeAllocatable();
  void ReservedMemory();
  void Taints();
  void Sysctls();
  void Managers();
  void Eviction();
  void Tracing();
  void WebhookAccess();

  std::vector<kube::Fault> TakeFaults() { return std::move(faults_); }

 private:
  using Words = std::initializer_list<std::string_view>;

  void Add(std::string path, std::string message);
  // "found 7", "found 7 (the default)"
  std::string Found(const std::string& path, const std::string& value) const;
  // "found 7, wanted ..."
  void Wanted(std::string path, const std::string& found, std::string_view wanted);
  void InRange(std::string path, int64_t value, int64_t least, int64_t most);
  void NotNegative(std::string path, int64_t value);
  void OneOf(std::string path, const std::string& value, Words allowed);
  void NeedsGate(std::string path, const std::string& found, std::string_view gate);

  void CpuManagerOptions();
  void CpuReservation();
  void TopologyOptions();
  void ReservedResources(const std::string& path, std::string_view resource,
                         const std::string& quantity);
  void Threshold(const std::string& path, const std::string& signal, const std::string& value);
  void Reclaim(const std::string& path, const std::string& value);
  bool Signal(const std::string& path, const std::string& signal);

  const kube::config::KubeletConfiguration& config_;
  const FeatureGates& gates_;
  const Origins* origins_;
  std::vector<kube::Fault> faults_;
};

// "text" in quotes.
std::string InQuotes(std::string_view text);

}  // namespace denselet::app
