// A list of CRI comes in two forms: one answer, or a stream of answers with some items each. Both
// have the items in field 1.
#pragma once

#include <string>
#include <utility>

#include "bench/cri_sim/method_table.h"
#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {

inline constexpr size_t kStreamedItems = 500;  // in one message of a stream

// `list(const Request&)` gives the items, `encode(item)` their bytes.
template <class Request, class List, class Encode>
void AddList(MethodTable& table, std::string name, List list, Encode encode) {
  AddUnary<Request>(table, std::move(name), [list, encode](const Request& request, Answer answer) {
    std::string response;
    for (const auto& item : list(request)) AppendBytes(response, 1, encode(item));
    answer(std::move(response));
  });
}

// `supported`: false as long as such calls are not implemented.
template <class Request, class List, class Encode>
void AddStreamedList(MethodTable& table, const bool& supported, const std::string& name, List list,
                     Encode encode) {
  table[name].readable = IsReadable<Request>;
  table[name].stream = [&supported, name, list, encode](std::string_view wire,
                                                        const CallPtr& call) {
    if (!supported) return call->Finish({12, "unknown method " + name});
    Request request;
    CHECK(Parse(wire, request));
    std::string response;
    size_t items = 0;
    for (const auto& item : list(request)) {
      AppendBytes(response, 1, encode(item));
      if (++items % kStreamedItems == 0) call->Send(std::exchange(response, {}));
    }
    if (!response.empty()) call->Send(std::move(response));
    call->Finish({});
  };
}

}  // namespace denselet::cri_sim
