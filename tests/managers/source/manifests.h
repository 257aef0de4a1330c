// Small manifests, and a user of sources that keeps what it is told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sync/ports/pod_source.h"

namespace denselet::managers {

inline std::string PodYaml(const std::string& name, const std::string& image) {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
         "\nspec:\n  containers:\n  - name: app\n    image: " + image + "\n";
}

inline std::string PodJson(const std::string& name, const std::string& image) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"app","image":")" + image + R"("}]}})";
}

class PodKeeper : public sync::PodSourceUser {
 public:
  void OnPods(sync::SourceKind, std::vector<kube::PodRef> all) override {
    ++sets;
    pods.clear();
    for (const kube::PodRef& pod : all) pods[std::string(pod->hot().uid)] = pod;
    EXPECT_EQ(pods.size(), all.size());
  }
  void OnPod(sync::SourceKind, kube::PodRef pod) override {
    EXPECT_GT(sets, 0) << "a change before the first set";
    ++changes;
    pods[std::string(pod->hot().uid)] = pod;
  }
  void OnPodGone(sync::SourceKind, std::string_view uid) override {
    EXPECT_GT(sets, 0) << "a change before the first set";
    ++gone;
    EXPECT_EQ(pods.erase(std::string(uid)), 1u);
  }
  void OnTrouble(sync::SourceKind, const std::string& where, const Error& reason) override {
    troubles.insert_or_assign(where, reason.message());
  }
  void OnTroubleOver(sync::SourceKind, const std::string& where) override {
    EXPECT_EQ(troubles.erase(where), 1u) << where;
  }

  // "web-node-1", sorted.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [uid, pod] : pods) names.emplace_back(pod->hot().name);
    std::sort(names.begin(), names.end());
    return names;
  }

  int sets = 0, changes = 0, gone = 0;
  std::map<std::string, kube::PodRef> pods;
  std::map<std::string, std::string> troubles;
};

}  // namespace denselet::managers
