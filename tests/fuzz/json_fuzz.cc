// Whatever text is decoded as a pod: what is written of it reads as the same pod, and every way of
// reading it ends.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

void CheckPod(std::string_view text) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(text, pod);
  // Whoever is stricter refuses more, and never less.
  core::Pod strict;
  const bool strict_ok = DecodeJson(text, strict, {.extras = Extras::kRefused}).ok();
  CHECK(strict_ok == (report.ok() && report.extras.empty()));
  if (!report.ok()) {
    CHECK(pod.ByteSizeLong() == 0);
    return;
  }
  // An empty text and a missing one are written the same way, so the first pod may have more. A
  // time of Go's zero is written as null, which reads as none: the second pod may say less.
  const std::string json = EncodeJson(pod, report.type);
  core::Pod again, once_more;
  CHECK(DecodeJson(json, again, {.extras = Extras::kRefused}).ok());
  const std::string settled = EncodeJson(again, report.type);
  CHECK(settled == json || json.find(":null") != json.npos);
  CHECK(DecodeJson(settled, once_more, {.extras = Extras::kRefused}).ok());
  CHECK(EncodeJson(once_more, report.type) == settled);
  CHECK(EncodeWire(once_more) == EncodeWire(again));
}

}  // namespace
}  // namespace denselet::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  denselet::kube::CheckPod({reinterpret_cast<const char*>(data), size});
  return 0;
}
