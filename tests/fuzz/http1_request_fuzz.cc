// Any bytes are requests or a fault; limits hold, and how the bytes were cut does not matter.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/http1_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::net;
  CheckCuts(Http1Parser::Kind::kRequest, Http1Parser::AnswerTo::kOther,
            std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
