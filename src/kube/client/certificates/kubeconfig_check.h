// Is a kubeconfig good for talking to the API server, or does the agent have to ask for a
// certificate with its bootstrap kubeconfig first? It has to when the kubeconfig does not exist,
// cannot be read as one, or has no client certificate whose whole chain is still valid.
//
// On the shard of the file system; an operation under way belongs to its callbacks.
#pragma once

#include <optional>
#include <string>

#include "base/context.h"
#include "base/log.h"
#include "kube/client/kubeconfig.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"

namespace denselet::kube {

// A client certificate and its key as text, from a kubeconfig or from the files that it names.
struct ClientCertificateText {
  std::string certificate_pem = {};
  std::string key_pem = {};
};

// Reads both. kNotFound: the kubeconfig has none.
void ReadClientCertificate(reactor::FileSystem& files, const Context& context,
                           const ClusterAccess& access, reactor::Loop& loop,
                           reactor::Done<ClientCertificateText> done);

// Whole chain valid at `now`, and the key is its. Otherwise the reason.
Status CheckClientCertificate(const ClientCertificateText& text, WallTime now);

struct KubeconfigCheck {
  std::optional<ClusterAccess> access = {};  // none: it is missing or no kubeconfig
  bool valid = false;
};

// Fails only where nobody can say (the file cannot be read); what else is wrong is logged.
void CheckKubeconfig(reactor::FileSystem& files, reactor::Loop& loop, Logger log,
                     const Context& context, std::string path, reactor::Done<KubeconfigCheck> done);

// Reads one that must be there.
void LoadKubeconfig(reactor::FileSystem& files, const Context& context, std::string path,
                    reactor::Done<ClusterAccess> done);

}  // namespace denselet::kube
