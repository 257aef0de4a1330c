// Any bytes as a manifest of static pods: either faults that say why, or whole pods of this node.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "managers/source/manifest.h"

using namespace denselet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto form : {managers::ManifestForm::kPod, managers::ManifestForm::kPodOrList}) {
    const auto manifest = managers::DecodeManifest(
        text, form, "n", {.kind = kube::StaticPodOrigin::Kind::kFile, .location = "/m/a"});
    if (!manifest) {
      CHECK(!manifest.error().message().empty());
      continue;
    }
    CHECK(form == managers::ManifestForm::kPodOrList || manifest->pods.size() == 1);
    for (const kube::PodRef& pod : manifest->pods) {
      CHECK(!pod->hot().uid.empty());
      CHECK(pod->hot().name.ends_with("-n"));
      CHECK(pod->hot().node_name == "n");
      CHECK(pod->hot().containers > 0);
    }
  }
  return 0;
}
