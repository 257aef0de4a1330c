// What we say to an exec credential plugin and what it answers
// (client.authentication.k8s.io/v1 and v1beta1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/client/kubeconfig.h"
#include "reactor/api/process.h"

namespace denselet::kube {

struct ExecCredential {
  std::string token;
  std::string certificate;  // PEM
  std::string key;
  std::optional<WallTime> expires;  // nothing: it is good until the server refuses it
};

// `environment` is the agent's own ("NAME=value"), which the plugin gets with its additions.
reactor::ProcessSpec ExecProcess(const ExecPlugin& plugin, const ClusterAccess& cluster,
                                 const std::vector<std::string>& environment);

// `output` is the plugin's standard output.
Result<ExecCredential> ReadExecCredential(std::string_view output, const ExecPlugin& plugin);

// Of a plugin that ran: its credential, or why there is none, with its own last words.
Result<ExecCredential> ReadExecResult(const reactor::ProcessResult& result,
                                      const ExecPlugin& plugin);

}  // namespace denselet::kube
