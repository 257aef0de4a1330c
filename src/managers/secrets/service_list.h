// The services of the cluster that have an address, as far as environments tell of them.
//
// Watched once for the whole node, from the first question on: a node that starts no container does
// not follow them. Of each service its name, its address and its ports are kept.
//
// Lives on the API shard; destroying it answers those who wait.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "base/time.h"
#include "managers/secrets/waiting_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

struct ServiceListOptions {
  bool has_api_server = true;
  Duration first_wait_max = Seconds(5);
  uint32_t waiting_max = 16384;
};

class ServiceList final : private sync::ListWatchUser {
 public:
  ServiceList(reactor::Loop& loop, const ServiceListOptions& options);
  ~ServiceList();
  ServiceList(const ServiceList&) = delete;
  ServiceList& operator=(const ServiceList&) = delete;

  void Join(sync::ApiServer& api);
  void Leave();

  // See sync::PodObjects.
  void Fetch(const Context& context, const std::string& ns, sync::WhenUnlisted when_unlisted,
             reactor::Done<sync::ServiceSet> done);

  bool watches() const { return watch_ != nullptr; }

 private:
  // sync::ListWatchUser
  void OnObject(std::string_view wire) override;
  void OnGone(const ObjectRef& object, std::string_view uid) override;
  void OnSynced() override;
  void OnTrouble(const Error&) override {}  // what was known stays

  sync::ServiceSet Of(const std::string& ns) const;

  reactor::Loop& loop_;
  const ServiceListOptions options_;
  sync::ApiServer* api_ = nullptr;
  bool wanted_ = false;
  bool listed_ = false;
  std::map<std::string, std::map<std::string, sync::ObjectBytes>> services_;  // by namespace, name
  std::unique_ptr<sync::ListWatch> watch_;
  WaitingLine<Unit> waiting_;
};

}  // namespace denselet::managers
