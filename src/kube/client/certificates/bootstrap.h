// How the agent comes by its access to the API server at the start, out of --kubeconfig,
// --bootstrap-kubeconfig, --cert-dir and rotateCertificates:
//
//   bootstrap kubeconfig | kubeconfig        | rotation on              | rotation off
//   ---------------------+-------------------+--------------------------+-------------------------
//   not given            | must be there     | as it is; its            | as it is
//                        |                   | certificate must be      |
//                        |                   | there, and is rotated    |
//   given                | with a valid      | the same: the bootstrap kubeconfig is not looked at
//                        | client certificate|
//   given                | missing, broken,  | written anew, and the    | a certificate is waited
//                        | or expired        | certificate asked for    | for first, then written
//                        |                   | later, by the rotation   |
//
// The kubeconfig that is written points to the link in the certificate directory.
//
// Without rotation the key waits in kubelet-client.key.tmp for its certificate, and the request has
// a name made from it: after a restart the same request is found again.
//
//   kCheck -> kReadBootstrap -> [kKey -> kHealth -> kRequest -> kStore -> kRemoveKey] -> kWrite
//
// Owned by the composition root, on the API shard; destroyed, it calls nobody any more.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "kube/client/certificates/certificate_request.h"
#include "kube/client/certificates/certificate_store.h"
#include "kube/client/certificates/kubeconfig_check.h"
#include "kube/client/certificates/rotation.h"
#include "kube/client/kubeconfig.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct BootstrapOptions {
  enum class Rotation : bool { kOff, kOn };

  std::string kubeconfig_path = {};            // absolute, as all paths here
  std::string bootstrap_kubeconfig_path = {};  // empty: none was given
  std::string node_name = {};
  Rotation rotation = Rotation::kOff;

  Duration file_timeout = Seconds(30);
  // The server is asked for its health before the first request: a request that fails ends it all.
  Duration health_wait_max = Minutes(1);
  Duration health_period = Seconds(2);
  Duration health_timeout = Seconds(1);
  Duration signature_wait_max = Hours(1);
};

// What the agent goes on with.
struct ClientAccess {
  ClusterAccess access = {};  // of everybody
  // With rotation: for certificate requests while there is no valid certificate (none: the same),
  // and what to begin with (CertificateRotation).
  std::optional<ClusterAccess> requests = {};
  std::optional<InitialCertificate> initial = {};
};

// The API server, reached with what the bootstrap kubeconfig has.
class BootstrapServer : public reactor::Deletable {
 public:
  virtual sync::ApiServer& api() = 0;
  // GET /healthz. Answers once, in a later turn.
  virtual void CheckHealth(const Context& context, reactor::Done<Unit> done) = 0;
};
using BootstrapConnect =
    UniqueFunction<Result<std::unique_ptr<BootstrapServer>>(const ClusterAccess&)>;

struct BootstrapParts {
  reactor::Loop& loop;
  reactor::FileSystem& files;
  Random& random;
  Logger log;
  const CertificateStore& store;
};

class ClientBootstrap {
 public:
  // Answers once, in a later turn; may be destroyed in it. An error is final, as for the kubelet:
  // the agent ends, and is started again by who started it.
  ClientBootstrap(const BootstrapParts& parts, BootstrapOptions options, BootstrapConnect connect,
                  reactor::Done<ClientAccess> done);
  ~ClientBootstrap();
  ClientBootstrap(const ClientBootstrap&) = delete;
  ClientBootstrap& operator=(const ClientBootstrap&) = delete;

 private:
  enum class Stage : uint8_t {
    kCheck,
    kReadBootstrap,
    kKey,
    kHealth,
    kRequest,
    kStore,
    kRemoveKey,
    kWrite,
    kDone,
  };

  // Calls `step` with the answer, unless this is gone by then.
  template <class T>
  reactor::Done<T> Then(void (ClientBootstrap::*step)(Result<T>));

  void Check();
  void OnOnlyKubeconfig(Result<ClusterAccess> access);
  void OnOnlyCertificate(Result<ClientCertificateText> text);
  void PointOutNoCredentials(const ClusterAccess& access);
  void OnChecked(Result<KubeconfigCheck> check);
  void OnBootstrapRead(Result<ClusterAccess> access);
  void OnOldCertificate(Result<StoredCertificate> stored);
  void OnOldKey(Result<std::string> key);
  void OnKeyWritten(Result<Unit> written);
  void AskHealth();
  void OnHealth(Result<Unit> health);
  void TellUnhealthy(const Error& reason);
  void Request();
  void OnSigned(Result<std::string> certificate);
  void OnStored(Result<StoredCertificate> stored);
  void OnKeyRemoved(Result<Unit> removed);
  void Write();
  void OnFolder(Result<Unit> made);
  void OnWritten(Result<Unit> written);
  // With the access of a kubeconfig that is as it should be.
  void GoOnWith(ClusterAccess kubeconfig);
  void OnInitial(Result<ClientCertificateText> text);
  void Finish(Result<ClientAccess> result);

  std::string KeyPath() const { return parts_.store.directory() + "/kubelet-client.key.tmp"; }
  Context FileContext() const;

  const BootstrapParts parts_;
  const BootstrapOptions options_;
  BootstrapConnect connect_;
  reactor::Done<ClientAccess> done_;
  const std::shared_ptr<ClientBootstrap*> self_;  // shared with answers under way

  Stage stage_ = Stage::kCheck;
  ClusterAccess bootstrap_;
  ClusterAccess only_;  // of the kubeconfig, where no other was given
  ClientAccess result_;
  std::string key_pem_;
  TimePoint health_until_;
  RepeatedTrouble health_trouble_;
  reactor::TimerId timer_;
  std::unique_ptr<BootstrapServer> server_;
  std::unique_ptr<CertificateRequest> request_;  // dies before the server
};

// What everybody may know of a cluster, without who we are.
ClusterAccess Anonymous(const ClusterAccess& access);

}  // namespace denselet::kube
