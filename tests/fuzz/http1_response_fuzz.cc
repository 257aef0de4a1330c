// Any bytes are answers or a fault; limits hold, and how the bytes were cut does not matter. The
// first byte says what is answered.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/http1_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::net;
  if (size == 0) return 0;
  CheckCuts(Http1Parser::Kind::kResponse, static_cast<Http1Parser::AnswerTo>(data[0] % 3),
            std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
