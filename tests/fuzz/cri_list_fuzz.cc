// Bytes that claim to be lists of sandboxes or containers: whatever they are, what is taken from
// them lies inside them, and taking them twice changes nothing.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cri/list_collector.h"

// The first byte says what they claim to be.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  if (size == 0) return 0;
  const std::string_view answer(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto take = [&](int times) {
    cri::ListCollector collector;
    for (int i = 0; i < times; ++i) {
      const Status taken =
          (data[0] & 1) != 0 ? collector.AddContainers(answer) : collector.AddSandboxes(answer);
      CHECK(taken || taken.error().code() == ErrorCode::kCorrupt);
    }
    return collector.Take();
  };
  const sync::RuntimeList once = take(1);
  CHECK(once.pods == take(2).pods);
  for (const sync::ListedPod& pod : once.pods) CHECK(!pod.pod.uid.empty());
  return 0;
}
