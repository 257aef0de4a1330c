// Small helpers over generated messages; for the handlers' .cc files only.
#pragma once

#include <string>

#include "base/result.h"
#include "bench/cri_sim/pairs.h"
#include "k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.h"

namespace denselet::cri_sim {

namespace cri = ::runtime::v1;

template <class Message>
Result<std::string> Wire(const Message& message) {
  std::string out;
  if (!message.SerializeToString(&out)) return Error(ErrorCode::kBug, "could not be serialized");
  return out;
}

// Sorted by key: the generated map has no order.
Pairs ToPairs(const google::protobuf::Map<std::string, std::string>& map);

}  // namespace denselet::cri_sim
