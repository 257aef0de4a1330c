// What people ask of the runtime through the agent's own HTTP API: a stream into a container or a
// pod, at an address of the runtime's to which the request is taken, and a checkpoint.
//
// One instance a shard; answers and codes as in sync/ports/runtime.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "reactor/api/file_system.h"

namespace denselet::sync {

struct StreamOptions {
  bool standard_in = false;
  bool standard_out = false;
  bool standard_error = false;  // never with a terminal
  bool terminal = false;
};

class RuntimeRequests {
 public:
  virtual ~RuntimeRequests() = default;

  // Each answers with a URL, which is never empty.
  virtual void OpenExec(const Context&, const ContainerId&, std::vector<std::string> command,
                        const StreamOptions&, reactor::Done<std::string>) = 0;
  virtual void OpenAttach(const Context&, const ContainerId&, const StreamOptions&,
                          reactor::Done<std::string>) = 0;
  virtual void OpenPortForward(const Context&, const SandboxId&, std::vector<int32_t> ports,
                               reactor::Done<std::string>) = 0;

  // Writes the container's state to `location`, an absolute path. Zero: the usual deadline.
  virtual void Checkpoint(const Context&, const ContainerId&, std::string location,
                          Duration timeout, reactor::Done<Unit>) = 0;
};

}  // namespace denselet::sync
