#include "app/agent/server_access.h"

#include <algorithm>
#include <utility>

#include "kube/client/certificates/bootstrap_server.h"
#include "reactor/local_time.h"

namespace denselet::app {
namespace {

constexpr Duration kCredentialsTimeMax = Minutes(2);
constexpr Duration kPauseMin = Seconds(1);
constexpr Duration kPauseMax = Seconds(30);
constexpr int kTriesOfRotation = 5;
constexpr int kForEver = -1;

using Beginning = kube::KubeCredentialsOptions::Beginning;

}  // namespace

ServerAccess::ServerAccess(ServerAccessSeams seams, ServerAccessOptions options,
                           ServerAccessUser& user)
    : seams_(std::move(seams)),
      options_(std::move(options)),
      user_(user),
      self_(std::make_shared<ServerAccess*>(this)),
      store_({seams_.loop, seams_.files, seams_.log, options_.certificate_folder, "kubelet-client",
              &reactor::UtcOffset}) {
  bootstrap_ = std::make_unique<kube::ClientBootstrap>(
      kube::BootstrapParts{seams_.loop, seams_.files, seams_.random, seams_.log, store_},
      options_.bootstrap,
      [this](const kube::ClusterAccess& access) -> Result<std::unique_ptr<kube::BootstrapServer>> {
        Result<std::unique_ptr<kube::ApiConnection>> connection =
            Connect(access, Beginning::kAtOnce);
        if (!connection) return connection.error();
        return std::unique_ptr<kube::BootstrapServer>(
            std::make_unique<kube::ConnectedBootstrapServer>(*std::move(connection)));
      },
      [this](const Result<kube::ClientAccess>& access) { OnAccess(access); });
}

ServerAccess::~ServerAccess() {
  *self_ = nullptr;
  seams_.loop.Disarm(timer_);
}

Result<std::unique_ptr<kube::ApiConnection>> ServerAccess::Connect(
    const kube::ClusterAccess& access, Beginning beginning) {
  kube::KubeCredentialsOptions credentials = options_.credentials;
  credentials.beginning = beginning;
  return kube::ApiConnection::Make(
      {seams_.loop, seams_.files, seams_.watcher, seams_.processes, seams_.log}, seams_.random,
      seams_.make_lookup(), access,
      {.user_agent = options_.user_agent,
       .client = options_.client,
       .credentials = std::move(credentials)});
}

void ServerAccess::OnAccess(const Result<kube::ClientAccess>& access) {
  const std::unique_ptr<kube::ClientBootstrap> ended = std::move(bootstrap_);
  if (!access) return GiveUp(access.error());
  stage_ = Stage::kCredentials;
  if (const Status used = Use(*access); !used) GiveUp(used.error());
}

Status ServerAccess::Use(const kube::ClientAccess& access) {
  // Asked for below, or when the first certificate is there, and what is wrong with them is told
  // then: before, there is nothing to be read.
  Result<std::unique_ptr<kube::ApiConnection>> server =
      Connect(access.access, Beginning::kWhenAsked);
  if (!server) return server.error().With("kubeconfig", options_.bootstrap.kubeconfig_path);
  server_ = *std::move(server);
  if (options_.bootstrap.rotation == kube::BootstrapOptions::Rotation::kOff) {
    tries_max_ = access.access.exec ? kForEver : 1;
    AwaitCredentials();
    return Ok();
  }
  tries_max_ = kTriesOfRotation;
  if (access.requests) {
    Result<std::unique_ptr<kube::ApiConnection>> requests =
        Connect(*access.requests, Beginning::kAtOnce);
    if (!requests) return requests.error().With("connect for certificates");
    requests_ = *std::move(requests);
  }
  kube::RotationOptions options;
  options.purpose = kube::CertificatePurpose::ClientOfNode(options_.bootstrap.node_name);
  rotation_ = std::make_unique<kube::CertificateRotation>(
      kube::RotationParts{seams_.loop, seams_.random, seams_.log, store_, server_->client(),
                          requests_ == nullptr ? nullptr : &requests_->client()},
      std::move(options), access.initial, static_cast<kube::RotationUser&>(*this));
  return Ok();
}

void ServerAccess::AwaitCredentials() {
  const Context context = Context{}.WithTimeout(seams_.loop.Now(), kCredentialsTimeMax);
  server_->credentials().WhenReady(context, [self = self_](Status ready) {
    if (*self != nullptr && (*self)->stage_ == Stage::kCredentials) (*self)->OnCredentials(ready);
  });
}

void ServerAccess::OnCredentials(const Status& ready) {
  if (ready) {
    stage_ = Stage::kOpen;
    return user_.OnServer(server_->client());
  }
  // What a plugin cannot say now it may say later, and a certificate that was just stored may not
  // be seen yet. A file that the kubeconfig names and that nobody can read is the kubeconfig's
  // fault.
  ++tries_;
  if (tries_ == tries_max_) {
    return GiveUp(ready.error().With("kubeconfig", options_.bootstrap.kubeconfig_path));
  }
  pause_ = std::min(2 * std::max(pause_, kPauseMin / 2), kPauseMax);
  seams_.log.Error(ready.error(), "Credentials for the API server are not there yet, will retry",
                   KV("interval", pause_));
  timer_ = seams_.loop.Arm(After(seams_.loop.Now(), pause_), [this] { AwaitCredentials(); });
}

MetricsSnapshot ServerAccess::Metrics() {
  if (rotation_ == nullptr) return {};
  return metrics_.Gather(rotation_->Current(), seams_.loop.WallNow());
}

void ServerAccess::OnCertificate(const kube::CertificateInfo& certificate) {
  // One that has expired is told of when it is used, by its file's name.
  if (certificate.not_after > seams_.loop.WallNow()) {
    seams_.log.Info("Client certificate is in use",
                    KV("expiration", FormatRfc3339(certificate.not_after, 0)));
  }
  if (stage_ == Stage::kCredentials && tries_ == 0) AwaitCredentials();
}

void ServerAccess::OnRenewError(const Error&) { metrics_.CountRenewError(); }

void ServerAccess::OnHopeless() {
  GiveUp(Error(ErrorCode::kPermission,
               "there has been no valid client certificate for five minutes, though the API server "
               "answers"));
}

void ServerAccess::GiveUp(const Error& reason) {
  if (std::exchange(stage_, Stage::kHopeless) == Stage::kHopeless) return;
  user_.OnHopeless(reason);
}

}  // namespace denselet::app
