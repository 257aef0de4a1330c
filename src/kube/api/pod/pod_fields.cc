#include "kube/api/pod/pod_fields.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"

namespace denselet::kube {
namespace {

using Texts = google::protobuf::Map<std::string, std::string>;
using Amounts = google::protobuf::Map<std::string, resource::Quantity>;

// As the API server fills them in from the node for a container without limits of its own.
constexpr std::array<std::string_view, 3> kDefaulted = {"cpu", "memory", "ephemeral-storage"};
constexpr std::string_view kHugePages = "hugepages-";

std::string Lines(const Texts& texts) {
  std::string lines;
  for (const auto* entry : Sorted(texts)) {
    if (!lines.empty()) lines += '\n';
    lines += entry->first + "=" + GoQuoted(entry->second);
  }
  return lines;
}

std::string ValueOf(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  return found == texts.end() ? "" : found->second;
}

struct Subscripted {
  std::string_view path;
  std::string_view key;
};

std::optional<Subscripted> SplitSubscript(std::string_view path) {
  if (!path.ends_with("']")) return std::nullopt;
  const std::string_view rest = path.substr(0, path.size() - 2);
  const size_t open = rest.find("['");
  if (open == 0 || open == std::string_view::npos) return std::nullopt;
  return Subscripted{rest.substr(0, open), rest.substr(open + 2)};
}

Result<std::string> SubscriptedField(const core::Pod& pod, std::string_view whole,
                                     const Subscripted& field) {
  const bool annotations = field.path == "metadata.annotations";
  if (!annotations && field.path != "metadata.labels") {
    return Error(ErrorCode::kInvalid,
                 "fieldPath " + GoQuoted(whole) + " does not support subscript");
  }
  const NameFaults faults =
      CheckQualifiedName(annotations ? ToLower(field.key) : std::string(field.key));
  if (!faults.empty()) {
    return Error(ErrorCode::kInvalid,
                 "invalid key subscript in " + std::string(whole) + ": " + Join(faults, ";"));
  }
  const std::string key(field.key);
  return ValueOf(annotations ? pod.metadata().annotations() : pod.metadata().labels(), key);
}

const core::ResourceRequirements* ResourcesOf(const core::Pod& pod, std::string_view container) {
  for (const auto& candidate : pod.spec().containers()) {
    if (candidate.name() == container) return &candidate.resources();
  }
  for (const auto& candidate : pod.spec().initcontainers()) {
    if (candidate.name() == container) return &candidate.resources();
  }
  for (const auto& candidate : pod.spec().ephemeralcontainers()) {
    if (candidate.ephemeralcontainercommon().name() == container) {
      return &candidate.ephemeralcontainercommon().resources();
    }
  }
  return nullptr;
}

Quantity AmountOf(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(std::string(name));
  if (found == amounts.end()) return {};
  const Result<Quantity> amount = Quantity::Parse(found->second.string());
  return amount ? *amount : Quantity();
}

// What a container without one has: the pod's own limit, of what has one, or the node's.
Quantity LimitOf(const core::Pod& pod, const core::ResourceRequirements& resources,
                 std::string_view name, const NodeAllocatable& node) {
  const Quantity own = AmountOf(resources.limits(), name);
  bool defaulted = false;
  for (const std::string_view known : kDefaulted) defaulted = defaulted || known == name;
  if (!own.IsZero() || !defaulted) return own;
  const auto found = node.find(name);
  if (found == node.end()) return own;
  const Quantity of_pod = name == "cpu" || name == "memory"
                              ? AmountOf(pod.spec().resources().limits(), name)
                              : Quantity();
  return of_pod.IsZero() ? found->second : of_pod;
}

bool IsKnown(std::string_view name) {
  for (const std::string_view known : kDefaulted) {
    if (known == name) return true;
  }
  return name.starts_with(kHugePages);
}

}  // namespace

Result<std::string> PodField(const core::Pod& pod, std::string_view field_path) {
  if (const auto field = SplitSubscript(field_path)) {
    return SubscriptedField(pod, field_path, *field);
  }
  const meta::ObjectMeta& metadata = pod.metadata();
  if (field_path == "metadata.annotations") return Lines(metadata.annotations());
  if (field_path == "metadata.labels") return Lines(metadata.labels());
  if (field_path == "metadata.name") return metadata.name();
  if (field_path == "metadata.namespace") return metadata.namespace_();
  if (field_path == "metadata.uid") return metadata.uid();
  return Error(ErrorCode::kInvalid, "unsupported fieldPath: " + std::string(field_path));
}

Result<std::string> ResourceField(const core::Pod& pod, const core::ResourceFieldSelector& selector,
                                  std::string_view container, const NodeAllocatable& node) {
  const std::string name =
      selector.containername().empty() ? std::string(container) : selector.containername();
  const core::ResourceRequirements* resources = ResourcesOf(pod, name);
  if (resources == nullptr) {
    return Error(ErrorCode::kInvalid, "container " + name + " not found");
  }
  const std::string_view asked = selector.resource();
  const size_t dot = asked.find('.');
  const std::string_view kind = asked.substr(0, dot);
  const std::string_view what =
      dot == std::string_view::npos ? std::string_view() : asked.substr(dot + 1);
  if ((kind != "limits" && kind != "requests") || !IsKnown(what)) {
    return Error(ErrorCode::kInvalid, "unsupported container resource : " + std::string(asked));
  }
  const Quantity amount = kind == "limits" ? LimitOf(pod, *resources, what, node)
                                           : AmountOf(resources->requests(), what);
  const Result<Quantity> given = Quantity::Parse(selector.divisor().string());
  const Quantity divisor = given && !given->IsZero() ? *given : Quantity::FromUnits(1);
  const bool milli = what == "cpu";
  const auto number = [milli](const Quantity& q) {
    return static_cast<double>(milli ? q.Milli() : q.Units());
  };
  return std::to_string(static_cast<int64_t>(std::ceil(number(amount) / number(divisor))));
}

}  // namespace denselet::kube
