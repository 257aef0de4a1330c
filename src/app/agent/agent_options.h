// Flags and configuration, turned into what each part of the agent is given. A pure step: what is
// wrong is told before anything is started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/agent/node_side.h"
#include "app/agent/pod_side.h"
#include "app/agent/server_access.h"
#include "app/agent/shard_basics.h"
#include "app/config/effective.h"
#include "app/flags/parsed_flags.h"
#include "app/reactor_choice.h"
#include "base/result.h"
#include "cri/connection.h"

namespace denselet::app {

struct AgentOptions {
  LogSettings log = {};
  uint32_t shards = 0;  // 0: by the number of CPUs
  ReactorChoice reactor = {};
  std::vector<int> cpus = {};  // reservedSystemCPUs; none: all that the process may use

  std::string lock_file = {};            // empty: none
  bool exit_on_lock_contention = false;  // end when somebody else opens it

  std::string root_folder = {};
  std::string socket = {};  // where local questions are answered; empty: nowhere
  // For what nobody else has: crashes, journal.
  std::string OwnFolder() const { return root_folder + "/denselet"; }

  std::optional<ServerAccessOptions> server = {};  // none: the node stands alone
  NodeSideOptions node = {};
  cri::ConnectionOptions runtime = {};
  PodSideOptions pods = {};
};

// What the machine says of itself.
struct AgentSurroundings {
  std::string hostname = {};
  std::string working_folder = {};
  std::vector<std::string> environment = {};
};
AgentSurroundings LookAround();

// `warnings` are a line each. kInvalid names the flag or the field.
Result<AgentOptions> MakeAgentOptions(const ParsedFlags& flags, const EffectiveConfig& effective,
                                      const ReactorChoice& reactor, const AgentSurroundings& around,
                                      std::vector<std::string>& warnings);

}  // namespace denselet::app
