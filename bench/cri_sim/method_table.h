// The calls that are answered, by name. Handlers register here; the dispatcher looks up.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "bench/cri_sim/call.h"

namespace denselet::cri_sim {

struct Method {
  // Whether protobuf can read it. A request that it cannot reaches nobody.
  bool (*readable)(std::string_view request) = nullptr;
  // One of the two.
  UniqueFunction<void(std::string_view request, Answer answer)> unary;
  UniqueFunction<void(std::string_view request, const CallPtr& call)> stream;
};

// "/runtime.v1.RuntimeService/Version" is found as "Version": no name comes twice in CRI.
using MethodTable = std::map<std::string, Method, std::less<>>;

template <class Request>
bool Parse(std::string_view wire, Request& request) {
  return request.ParseFromArray(wire.data(), static_cast<int>(wire.size()));
}
template <class Request>
bool IsReadable(std::string_view wire) {
  Request request;
  return Parse(wire, request);
}

// Parses what the client sent; `handle(const Request&, Answer)`.
template <class Request, class Handle>
void AddUnary(MethodTable& table, std::string name, Handle handle) {
  Method& method = table[std::move(name)];
  method.readable = IsReadable<Request>;
  method.unary = [handle](std::string_view wire, Answer answer) mutable {
    Request request;
    CHECK(Parse(wire, request));
    handle(request, std::move(answer));
  };
}

}  // namespace denselet::cri_sim
