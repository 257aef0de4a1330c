// Whatever text is read as a quantity: what is written of it reads as the same quantity, and is
// written the same way again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

void CheckQuantity(std::string_view text) {
  const Result<Quantity> quantity = Quantity::Parse(text);
  const Result<std::string> normal = Quantity::Normalize(text);
  CHECK(static_cast<bool>(quantity) == static_cast<bool>(normal));
  if (!quantity) return;
  const std::string written = quantity->ToString();
  const Result<Quantity> again = Quantity::Parse(written);
  CHECK(again);
  CHECK(*again == *quantity);
  CHECK(again->ToString() == written);
  const Result<Quantity> normalized = Quantity::Parse(*normal);
  CHECK(normalized);
  CHECK(*normalized == *quantity);
}

}  // namespace
}  // namespace denselet::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  denselet::kube::CheckQuantity({reinterpret_cast<const char*>(data), size});
  return 0;
}
