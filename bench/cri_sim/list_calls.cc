// Lists of sandboxes and containers, and the stream of events.
#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/handlers.h"
#include "bench/cri_sim/list_method.h"
#include "bench/cri_sim/selection.h"

namespace denselet::cri_sim {

void AddListCalls(World& world, MethodTable& table) {
  const auto select = [&](const auto& request) { return Select(world, request.filter()); };
  const auto sandbox = [](const Sandbox* one) { return EncodeSandbox(*one); };
  const auto container = [](const Container* one) { return EncodeContainer(*one); };
  const bool& streams = world.settings.streaming_lists;
  AddList<cri::ListPodSandboxRequest>(table, "ListPodSandbox", select, sandbox);
  AddList<cri::ListContainersRequest>(table, "ListContainers", select, container);
  AddStreamedList<cri::StreamPodSandboxesRequest>(table, streams, "StreamPodSandboxes", select,
                                                  sandbox);
  AddStreamedList<cri::StreamContainersRequest>(table, streams, "StreamContainers", select,
                                                container);

  table["GetContainerEvents"].readable = IsReadable<cri::GetEventsRequest>;
  table["GetContainerEvents"].stream = [&](std::string_view, const CallPtr& call) {
    if (!world.settings.events.enabled) {
      return call->Finish({12, "method GetContainerEvents not implemented"});
    }
    if (Status subscribed = world.events.Subscribe(call); !subscribed) {
      call->Finish(ToRpcStatus(subscribed.error()));
    }
  };
}

}  // namespace denselet::cri_sim
