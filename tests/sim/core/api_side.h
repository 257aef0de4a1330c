// The API server of one run: the model with its faults, what the authors of pods do there, and what
// strangers do. Outlives the agents, which see it through their port.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "kube/api/fwd.h"
#include "tests/fakes/api_model.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/sim/core/sim_pods.h"
#include "tests/sim/world.h"

namespace denselet::sim {

// Of one object of the server.
struct ServerChange {
  enum class Who : uint8_t { kAgent, kOther };
  const kube::core::Pod* before = nullptr;  // null: it is new
  const kube::core::Pod* after = nullptr;   // null: it is gone
  Who who = Who::kOther;
};

class ApiSide {
 public:
  // Shared with the model, which has them parsed.
  using Pods = std::map<ObjectRef, std::shared_ptr<const kube::core::Pod>>;

  // `changed` is told inside of what changes something.
  ApiSide(World& world, std::function<void(const ServerChange&)> changed);
  ~ApiSide();
  ApiSide(const ApiSide&) = delete;
  ApiSide& operator=(const ApiSide&) = delete;

  fakes::FakeApiServer& server() { return server_; }
  fakes::ApiModel& model() { return model_; }
  // All that it has, and one of them; null: it has none of that name.
  const Pods& pods() const { return pods_; }
  const kube::core::Pod* Find(const std::string& name) const;

  // The author's wish: made, changed, to be deleted, or gone at once. Nothing comes of it while
  // another pod has the name.
  void Apply(const SimPod& pod);
  // Somebody writes a condition or a label, or deletes a mirror. What is told of it, or nothing.
  std::string Meddle(Random& random);
  // Older versions are known no more.
  void Compact() { model_.Compact(model_.version()); }

 private:
  // What is changed meanwhile is not of the agent.
  class NotTheAgent {
   public:
    explicit NotTheAgent(ApiSide& side) : side_(side) { side_.who_ = ServerChange::Who::kOther; }
    ~NotTheAgent() { side_.who_ = ServerChange::Who::kAgent; }
    NotTheAgent(const NotTheAgent&) = delete;
    NotTheAgent& operator=(const NotTheAgent&) = delete;

   private:
    ApiSide& side_;
  };

  void OnChange();
  void Delete(const ObjectRef& name, const std::string& uid, int64_t grace);
  std::string MeddleWith(const ObjectRef& name, const kube::core::Pod& pod, Random& random);

  World& world_;
  std::function<void(const ServerChange&)> changed_;
  fakes::ApiModel model_;
  fakes::FakeApiServer server_;
  Pods pods_;
  ServerChange::Who who_ = ServerChange::Who::kAgent;
  uint64_t told_ = 0;
  uint64_t subscription_ = 0;
};

}  // namespace denselet::sim
