// Any bytes are a configuration or have faults, each with words; what was read and found good is
// printed, and read again it is the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "app/config/load.h"
#include "app/config/print.h"
#include "app/config/settings.h"
#include "app/config/validate.h"
#include "base/check.h"

namespace denselet::app {
namespace {

void CheckText(std::string_view text) {
  const LoadedConfig loaded = LoadConfigText(text, "a");
  for (const ConfigFault& fault : loaded.faults) CHECK(!fault.message.empty());
  for (const ConfigFault& fault : LoadSettingsText(text, "a").faults) {
    CHECK(!fault.message.empty());
  }
  if (!loaded.faults.empty()) return;
  const auto faults = ValidateConfig(*loaded.config, loaded.gates, ApiAccess::kUnknown);
  for (const auto& fault : faults) CHECK(!fault.path.empty() && !fault.message.empty());
  // A key of YAML has at most 1024 characters.
  if (text.size() > 1000) return;
  const LoadedConfig again = LoadConfigText(PrintConfig(loaded, {}), "a");
  CHECK(again.faults.empty());
  CHECK(PrintConfigz(again) == PrintConfigz(loaded));
}

}  // namespace
}  // namespace denselet::app

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  denselet::app::CheckText({reinterpret_cast<const char*>(data), size});
  return 0;
}
