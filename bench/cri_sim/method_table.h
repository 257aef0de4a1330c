// The calls that are answered, by name. Handlers register here; the dispatcher looks up.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bench/cri_sim/call.h"

namespace denselet::cri_sim {

struct Method {
  // One of the two.
  UniqueFunction<void(std::string_view request, Answer answer)> unary;
  UniqueFunction<void(std::string_view request, const CallPtr& call)> stream;
};

// "/runtime.v1.RuntimeService/Version" is found as "Version": no name comes twice in CRI.
using MethodTable = std::map<std::string, Method, std::less<>>;

// Parses what the client sent; `handle(const Request&, Answer)`.
template <class Request, class Handle>
void AddUnary(MethodTable& table, std::string name, Handle handle) {
  table[std::move(name)].unary = [handle](std::string_view wire, Answer answer) mutable {
    Request request;
    if (!request.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
      return answer(Error(ErrorCode::kInvalid, "the request is not what protobuf expects"));
    }
    handle(request, std::move(answer));
  };
}

}  // namespace denselet::cri_sim
