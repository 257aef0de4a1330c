#include "managers/source/manifest.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/quoted.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/yaml.h"
#include "kube/api/defaults/pod_defaults.h"
#include "kube/api/types.h"
#include "kube/api/validation/static_pod.h"
#include "managers/source/fault_lines.h"

namespace denselet::managers {
namespace {

constexpr size_t kExtrasTold = 10;

Error Invalid(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

// The text as JSON, which the hash of a pod is made from, and as it was, for lines in faults.
struct Text {
  std::string_view original;
  std::string converted;  // of YAML
  bool is_json = false;
  uint32_t second_line = 0;  // where a second YAML document begins; 0: there is none

  std::string_view json() const { return is_json ? original : std::string_view(converted); }
};

Result<Text> ToJson(std::string_view original) {
  Text text{.original = original, .converted = {}, .is_json = LooksLikeJson(original)};
  if (text.is_json) return text;
  kube::YamlResult yaml = kube::YamlToJson(original);
  if (const Status status = kube::ToStatus(yaml.faults); !status) return status.error();
  text.converted = std::move(yaml.text.json);
  text.second_line = yaml.second_line;
  if (text.converted == "null") return Invalid("it is empty");
  return text;
}

// Decoding from the JSON spares reading YAML twice; only faults and extras are worth it, for their
// lines.
kube::DecodeReport Decode(const Text& text, google::protobuf::Message& into) {
  kube::DecodeReport report = kube::DecodeJson(text.json(), into);
  if ((report.ok() && report.extras.empty()) || text.is_json) return report;
  kube::DecodeReport with_lines = kube::DecodeYaml(text.original, into);
  if (with_lines.type.kind.empty()) with_lines.type = report.type;
  return with_lines;
}

Error NotAPod(const kube::TypeMeta& type, ManifestForm form) {
  const std::string_view wanted =
      form == ManifestForm::kPod ? "a Pod of v1" : "a Pod or PodList of v1";
  constexpr size_t kWordBytesMax = 100;
  return Invalid("found kind " + Quoted(type.kind, kWordBytesMax) + " of apiVersion " +
                 Quoted(type.api_version, kWordBytesMax) + ", wanted " + std::string(wanted));
}

Result<kube::PodRef> Finish(kube::core::Pod& pod, const Text& text, std::optional<size_t> item,
                            std::string_view node_name, const kube::StaticPodOrigin& origin) {
  kube::SetPodDefaults(pod);
  if (pod.metadata().name().empty()) return Invalid("metadata.name: the pod needs a name");
  using kube::WrittenAs;
  const kube::ManifestText manifest{
      .json = text.json(),
      .written_as = text.is_json ? WrittenAs::kJson : WrittenAs::kYaml,
      .list_item = item};
  const Status applied = kube::ApplyStaticPodIdentity(pod, manifest, node_name, origin);
  if (!applied) return applied.error();
  std::vector<kube::Fault> faults = kube::ValidateStaticPod(pod);
  if (!faults.empty()) FindLines(text.original, item, faults);
  if (const Status valid = kube::ToStatus(faults); !valid) return valid.error();
  return kube::PodAtRest::FromPod(pod);
}

// Upstream reads no more either, but says nothing.
std::optional<Error> IgnoredIn(const Text& text, const kube::DecodeReport& report) {
  std::string ignored;
  const auto add = [&ignored](const std::string& what) {
    ignored += (ignored.empty() ? "" : "; ") + what;
  };
  for (size_t i = 0; i < std::min(report.extras.size(), kExtrasTold); ++i) {
    add(kube::ToString(report.extras[i]) + ", ignored");
  }
  const size_t untold =
      report.extras.size() - std::min(report.extras.size(), kExtrasTold) + report.further_extras;
  if (untold > 0) add("and " + std::to_string(untold) + " more like these");
  if (text.second_line != 0) {
    add("only the first YAML document is read; what begins on line " +
        std::to_string(text.second_line) + " is ignored");
  }
  if (ignored.empty()) return std::nullopt;
  return Invalid(std::move(ignored));
}

// What is not read is often why something is missing: "contaners" is where the containers are.
Error WithIgnored(const Error& error, const std::optional<Error>& ignored) {
  if (!ignored) return error;
  return Error(error.code(), error.message() + "; " + ignored->message());
}

Result<Manifest> DecodeList(const Text& text, std::string_view node_name,
                            const kube::StaticPodOrigin& origin) {
  kube::core::PodList list;
  const kube::DecodeReport report = Decode(text, list);
  Manifest manifest{.pods = {}, .ignored = IgnoredIn(text, report)};
  if (const Status status = report.ToStatus(); !status) {
    return WithIgnored(status.error(), manifest.ignored);
  }
  for (int i = 0; i < list.items_size(); ++i) {
    const auto item = static_cast<size_t>(i);
    auto pod = Finish(*list.mutable_items(i), text, item, node_name, origin);
    if (!pod) {
      return WithIgnored(pod.error().With("items[" + std::to_string(i) + "]"), manifest.ignored);
    }
    manifest.pods.push_back(*std::move(pod));
  }
  return manifest;
}

}  // namespace

bool LooksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n\v\f");
  return first != std::string_view::npos && text[first] == '{';
}

Result<Manifest> DecodeManifest(std::string_view original, ManifestForm form,
                                std::string_view node_name, const kube::StaticPodOrigin& origin) {
  const auto text = ToJson(original);
  if (!text) return text.error();
  kube::core::Pod pod;
  const kube::DecodeReport report = Decode(*text, pod);
  const bool is_v1 = report.type.api_version == "v1";
  if (is_v1 && report.type.kind == "PodList" && form == ManifestForm::kPodOrList) {
    return DecodeList(*text, node_name, origin);
  }
  std::optional<Error> ignored = IgnoredIn(*text, report);
  if (const Status status = report.ToStatus(); !status) return WithIgnored(status.error(), ignored);
  if (!is_v1 || report.type.kind != "Pod") {
    // What another kind has is no misspelt field of a pod.
    const bool other = !report.type.kind.empty() && report.type.kind != "Pod";
    return WithIgnored(NotAPod(report.type, form), other ? std::nullopt : ignored);
  }
  auto finished = Finish(pod, *text, std::nullopt, node_name, origin);
  if (!finished) return WithIgnored(finished.error(), ignored);
  return Manifest{.pods = {*std::move(finished)}, .ignored = std::move(ignored)};
}

}  // namespace denselet::managers
