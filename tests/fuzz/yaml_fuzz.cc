// Whatever text is read as YAML: it becomes JSON, which as YAML is read as the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/api/codec/yaml.h"
#include "tests/kube/api/codec/canonical_json.h"

namespace denselet::kube {
namespace {

using tests::CanonicalJson;
using tests::Numbers;

void CheckYaml(std::string_view text) {
  const YamlResult result = YamlToJson(text);
  if (!result.faults.empty()) {
    CHECK(result.text.json.empty());
    return;
  }
  const std::string value = CanonicalJson(result.text.json, Numbers::kAsDoubles);
  CHECK(!value.starts_with("not JSON"));
  CHECK(result.text.LineAt(result.text.json.size()) > 0);
  const Result<std::string> yaml = JsonToYaml(result.text.json);
  CHECK(yaml);
  const YamlResult again = YamlToJson(*yaml);
  CHECK(again.faults.empty());
  CHECK(CanonicalJson(again.text.json, Numbers::kAsDoubles) == value);
}

}  // namespace
}  // namespace denselet::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  denselet::kube::CheckYaml(text);
  (void)denselet::kube::JsonToYaml(text);
  return 0;
}
