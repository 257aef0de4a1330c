#include "kube/client/certificates/bootstrap.h"

#include <utility>

#include "reactor/net/tls/tls_client.h"

namespace denselet::kube {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ClusterAccess Anonymous(const ClusterAccess& access) {
  ClusterAccess anonymous;
  anonymous.kubeconfig_path = access.kubeconfig_path;
  anonymous.server = access.server;
  anonymous.authorities = access.authorities;
  anonymous.server_name = access.server_name;
  anonymous.skip_verification = access.skip_verification;
  anonymous.proxy_url = access.proxy_url;
  return anonymous;
}

ClientBootstrap::ClientBootstrap(const BootstrapParts& parts, BootstrapOptions options,
                                 BootstrapConnect connect, reactor::Done<ClientAccess> done)
    : parts_(parts),
      options_(std::move(options)),
      connect_(std::move(connect)),
      done_(std::move(done)),
      self_(std::make_shared<ClientBootstrap*>(this)) {
  Check();
}

ClientBootstrap::~ClientBootstrap() {
  *self_ = nullptr;
  parts_.loop.Disarm(timer_);
}

template <class T>
reactor::Done<T> ClientBootstrap::Then(void (ClientBootstrap::*step)(Result<T>)) {
  return [self = self_, step](Result<T> result) {
    if (*self != nullptr) ((*self)->*step)(std::move(result));
  };
}

Context ClientBootstrap::FileContext() const {
  return Context{}.WithTimeout(parts_.loop.Now(), options_.file_timeout);
}

// ---- is it needed?

void ClientBootstrap::Check() {
  if (options_.bootstrap_kubeconfig_path.empty()) {
    LoadKubeconfig(parts_.files, FileContext(), options_.kubeconfig_path,
                   Then(&ClientBootstrap::OnOnlyKubeconfig));
    return;
  }
  CheckKubeconfig(parts_.files, parts_.loop, parts_.log, FileContext(), options_.kubeconfig_path,
                  Then(&ClientBootstrap::OnChecked));
}

void ClientBootstrap::OnOnlyKubeconfig(Result<ClusterAccess> access) {
  if (!access) return Finish(access.error());
  PointOutNoCredentials(*access);
  const bool in_files = !access->certificate.path.empty() || !access->key.path.empty();
  if (options_.rotation == BootstrapOptions::Rotation::kOff || !in_files) {
    return GoOnWith(*std::move(access));
  }
  only_ = *std::move(access);
  ReadClientCertificate(parts_.files, FileContext(), only_, parts_.loop,
                        Then(&ClientBootstrap::OnOnlyCertificate));
}

// As the kubelet: with nothing to ask for another one, a certificate that is not there never comes.
void ClientBootstrap::OnOnlyCertificate(Result<ClientCertificateText> text) {
  if (!text) {
    return Finish(text.error()
                      .With("client certificate of kubeconfig", options_.kubeconfig_path)
                      .With("there is no bootstrap kubeconfig to get another with"));
  }
  GoOnWith(std::move(only_));
}

// Not refused, as by the kubelet: there are servers that let anybody in. At others all that is seen
// of it are refusals, which do not say why.
void ClientBootstrap::PointOutNoCredentials(const ClusterAccess& access) {
  if (access.HasCredentials()) return;
  parts_.log.Warning(
      "Found no credentials in the kubeconfig, without them the API server sees system:anonymous",
      KV("kubeconfig", access.kubeconfig_path), KV("user", access.user_name));
}

void ClientBootstrap::OnChecked(Result<KubeconfigCheck> check) {
  if (!check) return Finish(check.error());
  if (check->valid) {
    parts_.log.V(2).Info("The kubeconfig is valid, no bootstrap is necessary",
                         KV("path", options_.kubeconfig_path));
    return GoOnWith(*std::move(check->access));
  }
  stage_ = Stage::kReadBootstrap;
  LoadKubeconfig(parts_.files, FileContext(), options_.bootstrap_kubeconfig_path,
                 Then(&ClientBootstrap::OnBootstrapRead));
}

void ClientBootstrap::OnBootstrapRead(Result<ClusterAccess> access) {
  if (!access) return Finish(access.error().With("bootstrap"));
  bootstrap_ = *std::move(access);
  PointOutNoCredentials(bootstrap_);
  parts_.log.Info("The client certificate is asked for with the bootstrap kubeconfig",
                  KV("path", options_.bootstrap_kubeconfig_path));
  if (options_.rotation == BootstrapOptions::Rotation::kOn) return Write();
  stage_ = Stage::kKey;
  parts_.store.Load(FileContext(), Then(&ClientBootstrap::OnOldCertificate));
}

// ---- without rotation: a key that outlives a restart

void ClientBootstrap::OnOldCertificate(Result<StoredCertificate> stored) {
  if (stored) {
    key_pem_ = stored->pem;  // with the key in it
    return AskHealth();
  }
  parts_.files.ReadFile(FileContext(), KeyPath(), net::TlsClient::kPemBytesMax,
                        Then(&ClientBootstrap::OnOldKey));
}

void ClientBootstrap::OnOldKey(Result<std::string> key) {
  if (key && IsRsaKey(*key)) {
    key_pem_ = *std::move(key);
    return AskHealth();
  }
  if (key) {
    parts_.log.Error(IsRsaKey(*key).error(), "Passed over a private key that cannot be read",
                     KV("path", KeyPath()));
  }
  Result<std::string> made = NewPrivateKey();
  if (!made) return Finish(made.error());
  key_pem_ = *std::move(made);
  parts_.files.MakeDirectories(FileContext(), parts_.store.directory(), 0755,
                               reactor::Durability::kSynced, [self = self_](Status folder) {
                                 if (*self == nullptr) return;
                                 ClientBootstrap& here = **self;
                                 if (!folder)
                                   return here.Finish(folder.error().With("keep private key"));
                                 here.parts_.files.ReplaceFile(
                                     here.FileContext(), here.KeyPath(), here.key_pem_, 0600,
                                     reactor::Durability::kSynced,
                                     here.Then(&ClientBootstrap::OnKeyWritten));
                               });
}

void ClientBootstrap::OnKeyWritten(Result<Unit> written) {
  if (!written) return Finish(written.error().With("keep private key"));
  AskHealth();
}

// ---- is somebody there?

void ClientBootstrap::AskHealth() {
  if (stage_ != Stage::kHealth) {
    Result<std::unique_ptr<BootstrapServer>> server = connect_(bootstrap_);
    if (!server) return Finish(server.error().With("bootstrap"));
    server_ = *std::move(server);
    stage_ = Stage::kHealth;
    health_until_ = After(parts_.loop.Now(), options_.health_wait_max);
  }
  server_->CheckHealth(Context{}.WithTimeout(parts_.loop.Now(), options_.health_timeout),
                       Then(&ClientBootstrap::OnHealth));
}

// In words for what it is: nobody there, nobody who knows us, or a server that is not well.
void ClientBootstrap::TellUnhealthy(const Error& reason) {
  if (!health_trouble_.IsNews(parts_.loop.Now(), reason.message())) return;
  const LogPair kubeconfig = KV("kubeconfig", options_.bootstrap_kubeconfig_path);
  if (reason.answered() && reason.code() == ErrorCode::kPermission) {
    parts_.log.Error(reason, "The API server refused the bootstrap credentials", kubeconfig);
  } else if (reason.answered()) {
    parts_.log.Info("The API server did not say it is healthy", Err(reason), kubeconfig);
  } else {
    parts_.log.Error(reason, "The API server could not be asked for a client certificate",
                     kubeconfig);
  }
}

void ClientBootstrap::OnHealth(Result<Unit> health) {
  if (health) {
    if (const auto lasted = health_trouble_.Over(parts_.loop.Now())) {
      parts_.log.Info("The API server is healthy", KV("after", *lasted));
    }
    return Request();
  }
  TellUnhealthy(health.error());
  const TimePoint next =
      After(parts_.loop.Now(), parts_.random.Jitter(options_.health_period, 0.2));
  if (next < health_until_) {
    timer_ = parts_.loop.Arm(next, [this] { AskHealth(); });
    return;
  }
  // As the kubelet: it may not like to be asked, and take the request.
  parts_.log.Info("Asked for the certificate of an API server that did not say it is healthy");
  Request();
}

// ---- the certificate

void ClientBootstrap::Request() {
  stage_ = Stage::kRequest;
  CertificatePurpose purpose = CertificatePurpose::ClientOfNode(options_.node_name);
  const Result<std::vector<std::string>> usages = UsagesWith(purpose, key_pem_);
  if (!usages) return Finish(usages.error());
  const Result<std::string> name = DigestedRequestName(key_pem_, purpose.subject, *usages);
  if (!name) return Finish(name.error());
  CertificateRequestOptions options;
  options.name = *name;
  options.wait_max = options_.signature_wait_max;
  request_ = std::make_unique<CertificateRequest>(
      CertificateRequestParts{parts_.loop, server_->api(), parts_.log}, std::move(purpose),
      key_pem_, std::move(options), Then(&ClientBootstrap::OnSigned));
}

void ClientBootstrap::OnSigned(Result<std::string> certificate) {
  if (!certificate) {
    return Finish(certificate.error().With("bootstrap kubeconfig", bootstrap_.kubeconfig_path));
  }
  stage_ = Stage::kStore;
  parts_.store.Store(FileContext(), *std::move(certificate), key_pem_,
                     Then(&ClientBootstrap::OnStored));
}

void ClientBootstrap::OnStored(Result<StoredCertificate> stored) {
  if (!stored) return Finish(stored.error().With("bootstrap"));
  stage_ = Stage::kRemoveKey;
  parts_.files.Unlink(FileContext(), KeyPath(), Then(&ClientBootstrap::OnKeyRemoved));
}

void ClientBootstrap::OnKeyRemoved(Result<Unit> removed) {
  if (!removed && removed.error().code() != ErrorCode::kNotFound) {
    parts_.log.Error(removed.error(), "Could not remove the private key's first file");
  }
  Write();
}

// ---- the kubeconfig

void ClientBootstrap::Write() {
  stage_ = Stage::kWrite;
  parts_.files.MakeDirectories(FileContext(), FolderOf(options_.kubeconfig_path), 0755,
                               reactor::Durability::kSynced, Then(&ClientBootstrap::OnFolder));
}

void ClientBootstrap::OnFolder(Result<Unit> made) {
  if (!made) return Finish(made.error().With("write kubeconfig"));
  parts_.files.ReplaceFile(FileContext(), options_.kubeconfig_path,
                           WriteKubeconfig(bootstrap_, parts_.store.current_path()), 0600,
                           reactor::Durability::kSynced, Then(&ClientBootstrap::OnWritten));
}

void ClientBootstrap::OnWritten(Result<Unit> written) {
  if (!written) return Finish(written.error().With("write kubeconfig"));
  ClientAccess result;
  result.access = Anonymous(bootstrap_);
  result.access.kubeconfig_path = options_.kubeconfig_path;
  result.access.certificate.path = result.access.key.path = parts_.store.current_path();
  if (options_.rotation == BootstrapOptions::Rotation::kOn) result.requests = bootstrap_;
  Finish(std::move(result));
}

void ClientBootstrap::GoOnWith(ClusterAccess kubeconfig) {
  if (options_.rotation == BootstrapOptions::Rotation::kOff) {
    return Finish(ClientAccess{.access = std::move(kubeconfig)});
  }
  // Whatever it says of who we are serves for requests; everybody else has the rotated certificate.
  result_.access = Anonymous(kubeconfig);
  result_.access.certificate.path = result_.access.key.path = parts_.store.current_path();
  const bool ours = kubeconfig.certificate.data.empty() &&
                    kubeconfig.certificate.path == parts_.store.current_path();
  if (ours) return Finish(std::move(result_));
  result_.requests = std::move(kubeconfig);
  if (result_.requests->certificate.empty()) return Finish(std::move(result_));
  ReadClientCertificate(parts_.files, FileContext(), *result_.requests, parts_.loop,
                        Then(&ClientBootstrap::OnInitial));
}

void ClientBootstrap::OnInitial(Result<ClientCertificateText> text) {
  if (!text) {
    parts_.log.Error(text.error(), "The kubeconfig's client certificate cannot be read",
                     KV("path", options_.kubeconfig_path));
    return Finish(std::move(result_));
  }
  const bool inside = !result_.requests->certificate.data.empty();
  result_.initial = InitialCertificate{
      .certificate_pem = std::move(text->certificate_pem),
      .key_pem = std::move(text->key_pem),
      .use = inside ? InitialCertificate::Use::kReplaceSoon : InitialCertificate::Use::kKeep};
  Finish(std::move(result_));
}

void ClientBootstrap::Finish(Result<ClientAccess> result) {
  stage_ = Stage::kDone;
  request_.reset();
  // Its connection may be in the middle of telling us of the end.
  if (server_ != nullptr) parts_.loop.DeferDelete(std::move(server_));
  reactor::Done<ClientAccess> done = std::move(done_);
  done(std::move(result));  // `this` may be gone
}

}  // namespace denselet::kube
