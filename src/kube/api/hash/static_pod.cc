#include "kube/api/hash/static_pod.h"

#include <vector>

#include "base/hash.h"
#include "kube/api/hash/internal_conversion.h"
#include "kube/api/hash/manifest.h"
#include "kube/api/hash/pod_dump.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

constexpr char kConfigHashAnnotation[] = "kubernetes.io/config.hash";

class HashSink final : public TextSink {
 public:
  void Add(std::string_view text) override { stream_.Add(text); }

  std::string Hex() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (const uint8_t byte : stream_.Sum()) {
      hex += kDigits[byte >> 4];
      hex += kDigits[byte & 15];
    }
    return hex;
  }

 private:
  Fnv1a128Stream stream_;
};

Result<ManifestPlace> FindPod(const Manifest& manifest, std::optional<size_t> list_item) {
  if (!list_item) return manifest.root();
  const std::vector<ManifestPlace> items = manifest.root().Field("items").Elements();
  if (*list_item < items.size()) return items[*list_item];
  return Error(ErrorCode::kInvalid, "the manifest has no item " + std::to_string(*list_item));
}

// Of tolerations with the same key, operator, value and effect there is one.
void Tolerate(core::PodSpec& spec, const core::Toleration& wanted) {
  bool found = false;
  for (core::Toleration& toleration : *spec.mutable_tolerations()) {
    if (toleration.key() != wanted.key() || toleration.effect() != wanted.effect() ||
        toleration.operator_() != wanted.operator_() || toleration.value() != wanted.value()) {
      continue;
    }
    toleration = wanted;
    found = true;
  }
  if (!found) *spec.add_tolerations() = wanted;
}

}  // namespace

Result<std::string> StaticPodUid(const core::Pod& pod, const ManifestText& manifest,
                                 std::string_view node_name, const StaticPodOrigin& origin) {
  const auto parsed = Manifest::Parse(manifest.json);
  if (!parsed) return parsed.error();
  const auto place = FindPod(*parsed, manifest.list_item);
  if (!place) return place.error();
  HashSink hash;
  if (const Status status = DumpPod(pod, *place, manifest.written_as, hash); !status)
    return status.error();
  if (origin.kind == StaticPodOrigin::Kind::kFile) {
    hash.Add("host:");
    hash.Add(node_name);
    hash.Add("file:");
  } else {
    hash.Add("url:");
  }
  hash.Add(origin.location);
  return hash.Hex();
}

std::string StaticPodName(std::string_view name, std::string_view node_name) {
  std::string out(name);
  out += '-';
  for (const char c : node_name) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

Status ApplyStaticPodIdentity(core::Pod& pod, const ManifestText& manifest,
                              std::string_view node_name, const StaticPodOrigin& origin) {
  std::string uid = pod.metadata().uid();
  if (uid.empty()) {
    // Before all that follows: none of it may be in there.
    auto hashed = StaticPodUid(pod, manifest, node_name, origin);
    if (!hashed) return hashed.error();
    uid = *std::move(hashed);
  }

  ApplyInternalConversion(pod);
  core::PodSpec& spec = *pod.mutable_spec();
  if (!spec.serviceaccountname().empty()) spec.set_serviceaccount(spec.serviceaccountname());
  if (pod.status().podips_size() > 0) {
    pod.mutable_status()->set_podip(pod.status().podips(0).ip());
  }

  auto& metadata = *pod.mutable_metadata();
  metadata.set_name(StaticPodName(metadata.name(), node_name));
  if (metadata.namespace_().empty()) metadata.set_namespace_("default");
  spec.set_nodename(std::string(node_name));
  (*metadata.mutable_annotations())[kConfigHashAnnotation] = uid;
  metadata.set_uid(std::move(uid));
  if (origin.kind == StaticPodOrigin::Kind::kFile) {
    core::Toleration no_execute;
    no_execute.set_operator_("Exists");
    no_execute.set_effect("NoExecute");
    Tolerate(spec, no_execute);
  }
  pod.mutable_status()->set_phase("Pending");
  return Ok();
}

}  // namespace denselet::kube
