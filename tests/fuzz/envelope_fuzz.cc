// Any bytes are either no envelope, a damaged one, or one whose parts lie inside the bytes; what
// was read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/api/codec/envelope.h"

namespace denselet::kube {
namespace {

void CheckInside(std::string_view part, std::string_view whole) {
  if (part.empty()) return;
  CHECK(part.data() >= whole.data());
  CHECK(part.data() + part.size() <= whole.data() + whole.size());
}

void CheckEnvelope(std::string_view bytes) {
  const auto envelope = DecodeEnvelope(bytes);
  if (!envelope) {
    CHECK(envelope.error().code() ==
          (IsEnvelope(bytes) ? ErrorCode::kCorrupt : ErrorCode::kInvalid));
    return;
  }
  CHECK(IsEnvelope(bytes));
  for (const std::string_view part : {envelope->api_version, envelope->kind, envelope->raw,
                                      envelope->content_encoding, envelope->content_type})
    CheckInside(part, bytes);
  const std::string again = EncodeEnvelope(envelope->Type(), envelope->raw);
  const auto twice = DecodeEnvelope(again);
  CHECK(twice && twice->Type() == envelope->Type() && twice->raw == envelope->raw);
}

}  // namespace
}  // namespace denselet::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  denselet::kube::CheckEnvelope({reinterpret_cast<const char*>(data), size});
  return 0;
}
