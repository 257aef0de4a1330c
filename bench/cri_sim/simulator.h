// The simulated runtime without its sockets: the model, what happens in it by itself, and the calls
// on it. Lives on one shard; destroyed there, after the last call has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/cri_sim/dispatcher.h"
#include "bench/cri_sim/world.h"

namespace denselet::cri_sim {

enum class KeepState : uint8_t { kKeep, kLose };

class Simulator final : private ModelObserver {
 public:
  Simulator(reactor::Loop& loop, Identity identity, Settings settings, uint64_t seed,
            PortOpener& ports, Violations::Print print);
  ~Simulator();

  void Begin(std::string_view path, std::string request, const CallPtr& call) {
    dispatcher_.Begin(path, std::move(request), call);
  }

  // What a crash of the runtime does to its state; its calls are the server's to end.
  void Crash(KeepState keep);
  // Ready pods of running containers, as if a kubelet had made them.
  Status Populate(uint64_t pods, uint64_t containers);

  bool Knows(std::string_view method) const { return table_.find(method) != table_.end(); }
  World& world() { return world_; }
  Dispatcher& dispatcher() { return dispatcher_; }

 private:
  void OnEvent(EventKind kind, const Sandbox& sandbox, const std::string& id) override;
  void OnContainerStopped(Container& container) override;
  void OnSandboxStopped(Sandbox&) override {}

  reactor::Loop& loop_;
  const Identity identity_;
  Settings settings_;
  SeededRandom random_;
  Violations violations_;
  Images images_;
  LogWriter logs_;
  Model model_;
  Processes processes_;
  EventHub events_;
  Later later_;
  World world_;
  MethodTable table_;
  Dispatcher dispatcher_;
  uint64_t populated_ = 0;
};

}  // namespace denselet::cri_sim
