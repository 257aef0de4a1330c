// The way to the API server, from --kubeconfig and --bootstrap-kubeconfig to a client that can be
// used, and the care for it from then on: credentials that are renewed, a certificate that is
// rotated.
//
//   kBootstrap (ClientBootstrap decides) --> kCredentials (read; with rotation: the first valid
//   certificate is there) --> kOpen
//
// Nobody asks the server before kOpen: without who we are it would only be told no.
//
// Lives on the API shard; destroying it ends it, after everybody who was given the server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "kube/client/api_connection.h"
#include "kube/client/certificates/bootstrap.h"
#include "kube/client/certificates/certificate_store.h"
#include "kube/client/certificates/client_certificate_metrics.h"
#include "kube/client/certificates/rotation.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"
#include "reactor/api/process.h"
#include "sync/ports/api_server.h"

namespace denselet::app {

struct ServerAccessOptions {
  kube::BootstrapOptions bootstrap = {};
  std::string certificate_folder = {};  // absolute
  std::string user_agent = {};
  kube::ApiClientOptions client = {};
  kube::KubeCredentialsOptions credentials = {};
};

struct ServerAccessSeams {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  reactor::FileSystem& files;
  reactor::PathWatcher& watcher;
  reactor::ProcessRunner& processes;
  // Called for each connection's own.
  UniqueFunction<kube::Lookup()> make_lookup;
};

class ServerAccessUser {
 public:
  // It can be asked from now on. Once.
  virtual void OnServer(sync::ApiServer& api) = 0;
  // Only a start with other credentials or another kubeconfig can help. Once, in place of OnServer
  // or after it.
  virtual void OnHopeless(const Error& reason) = 0;

 protected:
  ~ServerAccessUser() = default;
};

class ServerAccess final : private kube::RotationUser {
 public:
  enum class Stage : uint8_t { kBootstrap, kCredentials, kOpen, kHopeless };

  ServerAccess(ServerAccessSeams seams, ServerAccessOptions options, ServerAccessUser& user);
  ~ServerAccess();
  ServerAccess(const ServerAccess&) = delete;
  ServerAccess& operator=(const ServerAccess&) = delete;

  Stage stage() const { return stage_; }
  // Of the client certificate that rotation looks after; none without it.
  MetricsSnapshot Metrics();

 private:
  // kube::RotationUser
  void OnCertificate(const kube::CertificateInfo& certificate) override;
  void OnRenewError(const Error& error) override;
  void OnHopeless() override;

  Result<std::unique_ptr<kube::ApiConnection>> Connect(
      const kube::ClusterAccess& access, kube::KubeCredentialsOptions::Beginning beginning);
  void OnAccess(const Result<kube::ClientAccess>& access);
  Status Use(const kube::ClientAccess& access);
  void AwaitCredentials();
  void OnCredentials(const Status& ready);
  void GiveUp(const Error& reason);

  ServerAccessSeams seams_;
  const ServerAccessOptions options_;
  ServerAccessUser& user_;
  const std::shared_ptr<ServerAccess*> self_;  // shared with answers under way
  const kube::CertificateStore store_;

  Stage stage_ = Stage::kBootstrap;
  kube::ClientCertificateMetrics metrics_;
  int tries_ = 0;  // to get credentials, in vain
  int tries_max_ = 1;
  Duration pause_{};
  reactor::TimerId timer_;
  std::unique_ptr<kube::ClientBootstrap> bootstrap_;
  std::unique_ptr<kube::ApiConnection> requests_;        // for certificates, while there is none
  std::unique_ptr<kube::ApiConnection> server_;          // for everybody
  std::unique_ptr<kube::CertificateRotation> rotation_;  // uses both
};

}  // namespace denselet::app
