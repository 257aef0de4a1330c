#include "app/ctl/pod_names.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/quoted.h"

namespace denselet::app {
namespace {

constexpr size_t kNameShownMax = 256;
constexpr size_t kNearMax = 5;

struct Wanted {
  std::optional<std::string> ns = {};
  std::string name = {};
};

Wanted Split(std::string_view name, const std::optional<std::string>& ns) {
  const size_t slash = name.find('/');
  if (slash == name.npos) return {ns, std::string(name)};
  return {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

// Small enough to be a slip, or one is the beginning of the other.
bool IsNear(std::string_view wanted, std::string_view name) {
  if (name.find(wanted) != name.npos) return true;
  return EditDistance(wanted, name) <= std::max<size_t>(1, wanted.size() / 3);
}

std::string NearNames(const std::vector<PodRow>& pods, const Wanted& wanted) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const PodRow& pod : pods) {
    if (IsNear(wanted.name, pod.name)) {
      near.emplace_back(EditDistance(wanted.name, pod.name), pod.FullName());
    }
  }
  std::ranges::sort(near);
  std::string text;
  for (size_t i = 0; i < near.size() && i < kNearMax; ++i) {
    text += (i == 0 ? "; did you mean " : ", ") + near[i].second;
  }
  return text.empty() ? text : text + "?";
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t before = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({changed, before + 1, row[j] + 1});
    }
  }
  return row.back();
}

Result<PodRow> FindPod(const std::vector<PodRow>& pods, std::string_view name,
                       const std::optional<std::string>& ns) {
  const Wanted wanted = Split(name, ns);
  const PodRow* found = nullptr;
  std::set<std::string> namespaces;
  for (const PodRow& pod : pods) {
    if (pod.name != wanted.name || (wanted.ns && pod.ns != *wanted.ns)) continue;
    namespaces.insert(pod.ns);
    found = &pod;
  }
  if (namespaces.size() == 1) return *found;
  if (found == nullptr) {
    const std::string where = wanted.ns ? " in namespace " + Quoted(*wanted.ns, kNameShownMax) : "";
    return Error(ErrorCode::kNotFound, "there is no pod " + Quoted(wanted.name, kNameShownMax) +
                                           where + NearNames(pods, wanted));
  }
  std::string all;
  for (const std::string& one : namespaces) all += (all.empty() ? "" : ", ") + one;
  return Error(ErrorCode::kConflict, "several namespaces have a pod " +
                                         Quoted(wanted.name, kNameShownMax) + ": " + all +
                                         "; say which with -n NAMESPACE");
}

}  // namespace denselet::app
