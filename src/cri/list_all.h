// Lists of everything: in parts where the runtime can send them so (a message of 16 MiB is the end
// of the plain calls), else in one. A runtime that cannot is asked again every few minutes.
//
// On one shard; the answers are read on gRPC's threads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "cri/connection.h"
#include "reactor/api/file_system.h"
#include "rpc/client.h"
#include "sync/ports/image_service.h"
#include "sync/ports/runtime.h"
#include "sync/ports/runtime_stats.h"

namespace denselet::cri {

struct Listed {
  sync::RuntimeList list = {};
  size_t unreadable = 0;
};

// Sandboxes, and when they are all there, containers. `connection` outlives the call.
void ListAll(rpc::Client& client, Connection& connection, const Context& context,
             reactor::Done<Listed> done);
void ListStats(rpc::Client& client, Connection& connection, const Context& context,
               const std::optional<SandboxId>& only,
               reactor::Done<std::vector<sync::ContainerStats>> done);
void ListPodStats(rpc::Client& client, Connection& connection, const Context& context,
                  const std::optional<SandboxId>& only,
                  reactor::Done<std::vector<sync::PodStats>> done);
void ListPodMetrics(rpc::Client& client, Connection& connection, const Context& context,
                    reactor::Done<std::vector<sync::PodMetrics>> done);
void ListImages(rpc::Client& client, Connection& connection, const Context& context,
                reactor::Done<std::vector<sync::ObservedImage>> done);

}  // namespace denselet::cri
