#include "sync/admission/node_match.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// As Go's strconv.ParseInt(text, 10, 64) reads it.
std::optional<int64_t> ParseInt(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

enum class Match : uint8_t { kNo, kYes, kNotUnderstood };

bool HasValue(const core::NodeSelectorRequirement& requirement, std::string_view value) {
  return std::find(requirement.values().begin(), requirement.values().end(), value) !=
         requirement.values().end();
}

bool IsUnderstood(const core::NodeSelectorRequirement& requirement) {
  const std::string& op = requirement.operator_();
  const int values = requirement.values_size();
  if (!kube::CheckQualifiedName(requirement.key()).empty()) return false;
  for (const std::string& value : requirement.values()) {
    if (!kube::CheckLabelValue(value).empty()) return false;
  }
  if (op == "In" || op == "NotIn") return values > 0;
  if (op == "Exists" || op == "DoesNotExist") return values == 0;
  if (op == "Gt" || op == "Lt") return values == 1 && ParseInt(requirement.values(0));
  return false;
}

bool MatchesLabels(const core::NodeSelectorRequirement& requirement, const NodeView& node) {
  const std::string& op = requirement.operator_();
  const auto label = node.labels.find(requirement.key());
  const bool exists = label != node.labels.end();
  if (op == "In") return exists && HasValue(requirement, label->second);
  if (op == "NotIn") return !exists || !HasValue(requirement, label->second);
  if (op == "Exists") return exists;
  if (op == "DoesNotExist") return !exists;
  const auto have = exists ? ParseInt(label->second) : std::nullopt;
  if (!have) return false;
  const int64_t want = *ParseInt(requirement.values(0));
  return op == "Gt" ? *have > want : *have < want;
}

// Of fields there is the name only.
Match MatchField(const core::NodeSelectorRequirement& requirement, const NodeView& node) {
  const std::string& op = requirement.operator_();
  if ((op != "In" && op != "NotIn") || requirement.values_size() != 1) {
    return Match::kNotUnderstood;
  }
  const std::string_view have = requirement.key() == "metadata.name" ? node.name : "";
  return (have == requirement.values(0)) == (op == "In") ? Match::kYes : Match::kNo;
}

bool MatchesTerm(const core::NodeSelectorTerm& term, const NodeView& node) {
  if (term.matchexpressions().empty() && term.matchfields().empty()) return false;
  const auto& expressions = term.matchexpressions();
  if (!std::all_of(expressions.begin(), expressions.end(), IsUnderstood)) return false;
  bool fields = true;
  for (const auto& requirement : term.matchfields()) {
    const Match match = MatchField(requirement, node);
    if (match == Match::kNotUnderstood) return false;
    fields &= match == Match::kYes;
  }
  const bool labels = std::all_of(expressions.begin(), expressions.end(),
                                  [&](const auto& e) { return MatchesLabels(e, node); });
  return labels && fields;
}

bool Tolerates(const core::Toleration& toleration, const NodeTaint& taint) {
  if (!toleration.effect().empty() && toleration.effect() != taint.effect) return false;
  if (!toleration.key().empty() && toleration.key() != taint.key) return false;
  const std::string& op = toleration.operator_();
  if (op.empty() || op == "Equal") return toleration.value() == taint.value;
  return op == "Exists";
}

}  // namespace

bool MatchesNodeAffinity(const core::Pod& pod, const NodeView& node) {
  for (const auto* wanted : kube::Sorted(pod.spec().nodeselector())) {
    const auto label = node.labels.find(wanted->first);
    if (label == node.labels.end() || label->second != wanted->second) return false;
  }
  const auto& affinity = pod.spec().affinity().nodeaffinity();
  if (!affinity.has_requiredduringschedulingignoredduringexecution()) return true;
  const auto& terms = affinity.requiredduringschedulingignoredduringexecution().nodeselectorterms();
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return MatchesTerm(term, node); });
}

bool ToleratesNode(const core::Pod& pod, const NodeView& node) {
  const auto& tolerations = pod.spec().tolerations();
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const NodeTaint& taint) {
    if (taint.effect != "NoExecute") return true;
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const auto& toleration) { return Tolerates(toleration, taint); });
  });
}

}  // namespace denselet::sync
