#include "kube/client/kube_credentials.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "reactor/net/http/message.h"

namespace denselet::kube {
namespace {

constexpr size_t kTokenBytesMax = 1 << 20;

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

bool NeedsTls(const ClusterAccess& access) {
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  return !url || url->scheme == "https";
}

}  // namespace

KubeCredentials::KubeCredentials(const CredentialParts& parts, ClusterAccess access,
                                 KubeCredentialsOptions options, UniqueFunction<void()> renewed)
    : parts_(parts),
      access_(std::move(access)),
      options_(std::move(options)),
      uses_tls_(NeedsTls(access_)),
      renewed_(std::move(renewed)),
      self_(std::make_shared<KubeCredentials*>(this)) {
  WatchFiles();
  if (options_.beginning == KubeCredentialsOptions::Beginning::kAtOnce) Load();
}

KubeCredentials::~KubeCredentials() {
  *self_ = nullptr;
  parts_.loop.Disarm(timer_);
  for (const reactor::WatchId watch : watches_) parts_.watcher.Unwatch(watch);
}

const std::string* KubeCredentials::Authorization() {
  if (!ready_ || PluginIsDue()) return nullptr;
  return &authorization_;
}

void KubeCredentials::WhenReady(const Context&, reactor::Done<Unit> done) {
  if (!reading_ && parts_.loop.Now() < load_not_before_ && trouble_) {
    const Status status = ready_ && !PluginIsDue() ? Ok() : Status(*trouble_);
    parts_.loop.Post([done = std::move(done), status]() mutable { done(status); });
    return;
  }
  waiters_.push_back(std::move(done));
  if (!reading_) Load();
}

bool KubeCredentials::Refused() {
  const bool may_change =
      access_.exec || !access_.token.path.empty() || !access_.certificate.path.empty();
  if (!may_change) return false;
  // One answer serves all that were refused together; what was refused right after a reading is
  // most likely what was there before it.
  const TimePoint now = parts_.loop.Now();
  if (reading_ || now < load_not_before_) return true;
  if (access_.exec && !PluginMayRun(now)) return false;
  plugin_credential_.reset();
  Load();
  // What we have goes on being used where only a file could bring something better.
  if (access_.exec) ready_ = false;
  return true;
}

bool KubeCredentials::PluginMayRun(TimePoint now) {
  const bool calm = now >= After(std::exchange(refused_at_, now), options_.refusal_calm);
  if (calm) {
    refusal_pause_ = {};
  } else if (now < plugin_not_before_) {
    return false;
  }
  refusal_pause_ = std::clamp(2 * refusal_pause_, options_.retry_pause,
                              std::max(options_.retry_pause, options_.refusal_pause_max));
  plugin_not_before_ = After(now, refusal_pause_);
  return true;
}

std::string KubeCredentials::Fault() const {
  const std::optional<WallTime> end = tls_ ? tls_->client_certificate_not_after() : std::nullopt;
  if (!end || parts_.loop.WallNow() < *end) return {};
  const bool plugins = plugin_credential_ && !plugin_credential_->certificate.empty();
  const bool in_file = access_.certificate.data.empty();
  const std::string& place = plugins   ? access_.exec->command
                             : in_file ? access_.certificate.path
                                       : access_.kubeconfig_path;
  return "the client certificate of \"" + place + "\" expired at " + FormatRfc3339(*end, 0);
}

std::string KubeCredentials::Origin() const {
  if (access_.exec) return "the credential of plugin \"" + access_.exec->command + "\"";
  const auto of = [this](const char* what, const InlineOrFile& from) {
    const bool in_file = from.data.empty() && !from.path.empty();
    return std::string(what) + " of \"" + (in_file ? from.path : access_.kubeconfig_path) + "\"";
  };
  if (!access_.token.empty()) return of("the token", access_.token);
  if (!access_.username.empty() || !access_.password.empty()) return of("the user name", {});
  if (!access_.certificate.empty()) return of("the client certificate", access_.certificate);
  return "nothing: \"" + access_.kubeconfig_path + "\" names no credential";
}

// ---- reading

void KubeCredentials::WatchFiles() {
  for (const InlineOrFile* file :
       {&access_.authorities, &access_.certificate, &access_.key, &access_.token}) {
    if (file->path.empty() || !file->data.empty()) continue;
    watches_.push_back(parts_.watcher.Watch(file->path, [this] {
      if (reading_) {
        load_again_ = true;
      } else {
        Load();
      }
    }));
  }
}

void KubeCredentials::Load() {
  load_again_ = false;
  const uint64_t number = ++reading_number_;
  reading_.emplace();
  reading_->missing = 1;  // this call itself
  ReadInto(number, access_.authorities, &Material::authorities);
  ReadInto(number, access_.certificate, &Material::certificate);
  ReadInto(number, access_.key, &Material::key);
  ReadInto(number, access_.token, &Material::token);
  if (access_.exec && PluginIsDue()) {
    const bool wants_file = access_.exec->provide_cluster_info &&
                            !access_.authorities.path.empty() && access_.authorities.data.empty();
    reading_->plugin_waits = wants_file;
    if (!wants_file) RunPlugin(number);
  }
  parts_.loop.Post([self = self_, number] {
    if (*self != nullptr) (*self)->OnRead(number, Ok());
  });
}

void KubeCredentials::ReadInto(uint64_t number, const InlineOrFile& from,
                               std::string Material::*to) {
  if (from.path.empty() || !from.data.empty()) {
    reading_->material.*to = from.data;
    return;
  }
  ++reading_->missing;
  parts_.files.ReadFile(Context{}.WithTimeout(parts_.loop.Now(), options_.file_timeout), from.path,
                        net::TlsClient::kPemBytesMax,
                        [self = self_, number, to, path = from.path](Result<std::string> text) {
                          KubeCredentials* const here = *self;
                          if (here == nullptr || number != here->reading_number_) return;
                          // Also a file that is about to be written; it would mean that there
                          // is no credential of that kind.
                          if (text && Trimmed(*text).empty()) {
                            text = Error(ErrorCode::kInvalid, "\"" + path + "\" is empty");
                          }
                          if (text) here->reading_->material.*to = *std::move(text);
                          const bool told = text && to == &Material::authorities;
                          if (told && here->reading_->plugin_waits) here->RunPlugin(number);
                          here->OnRead(number, text ? Ok() : Status(text.error()));
                        });
}

bool KubeCredentials::PluginIsDue() const {
  if (!access_.exec) return false;
  if (!plugin_credential_) return true;
  return plugin_credential_->expires && parts_.loop.Now() >= plugin_fresh_until_ &&
         parts_.loop.WallNow() + options_.expiry_margin >= *plugin_credential_->expires;
}

void KubeCredentials::RunPlugin(uint64_t number) {
  ++reading_->missing;
  ClusterAccess cluster = access_;
  cluster.authorities.data = reading_->material.authorities;
  parts_.processes.Run(Context{}.WithTimeout(parts_.loop.Now(), options_.plugin_timeout),
                       ExecProcess(*access_.exec, cluster, options_.environment),
                       [self = self_, number](Result<reactor::ProcessResult> result) {
                         KubeCredentials* const here = *self;
                         if (here == nullptr || number != here->reading_number_) return;
                         Result<ExecCredential> credential =
                             result ? ReadExecResult(*result, *here->access_.exec)
                                    : Result<ExecCredential>(result.error().With(
                                          "credential plugin", here->access_.exec->command));
                         if (credential) here->TakePluginCredential(*credential);
                         here->OnRead(number, credential ? Ok() : Status(credential.error()));
                       });
}

void KubeCredentials::TakePluginCredential(ExecCredential credential) {
  plugin_credential_ = std::move(credential);
  plugin_fresh_until_ = After(parts_.loop.Now(), options_.retry_pause);
}

void KubeCredentials::OnRead(uint64_t number, Status status) {
  if (number != reading_number_ || !reading_) return;
  if (!status && !reading_->error) reading_->error = status.error();
  if (--reading_->missing == 0) FinishLoad();
}

void KubeCredentials::FinishLoad() {
  Reading reading = *std::move(reading_);
  reading_.reset();
  load_not_before_ = After(parts_.loop.Now(), options_.retry_pause);
  Status used = reading.error ? Status(*reading.error) : Use(std::move(reading.material));
  if (used) {
    ready_ = was_ready_ = true;
    trouble_.reset();
    if (const auto lasted = told_trouble_.Over(parts_.loop.Now())) {
      parts_.log.Info("Credentials for the API server could be read again",
                      KV("kubeconfig", access_.kubeconfig_path), KV("after", *lasted));
    }
  } else {
    trouble_ = used.error();
    const bool told_by_others =
        !was_ready_ && options_.beginning == KubeCredentialsOptions::Beginning::kWhenAsked;
    if (!told_by_others && told_trouble_.IsNews(parts_.loop.Now(), used.error().message())) {
      parts_.log.Error(used.error(), "Could not read credentials for the API server",
                       KV("kubeconfig", access_.kubeconfig_path));
    }
  }
  ScheduleReload();
  // Who waits is content with what is in use, but for a plugin that has nothing any more.
  AnswerWaiters(ready_ && !PluginIsDue() ? Ok() : used);
  if (load_again_) Load();
}

Status KubeCredentials::Use(Material material) {
  if (plugin_credential_) {
    material.token = plugin_credential_->token;
    if (!plugin_credential_->certificate.empty()) {
      material.certificate = plugin_credential_->certificate;
      material.key = plugin_credential_->key;
    }
  }
  material.token = Trimmed(std::move(material.token));
  if (material.token.size() > kTokenBytesMax || !net::IsHeaderValue(material.token)) {
    return Error(ErrorCode::kInvalid, "the token cannot be sent as a header");
  }
  const bool same_connection = material.authorities == in_use_.authorities &&
                               material.certificate == in_use_.certificate &&
                               material.key == in_use_.key;
  if (uses_tls_ && (!tls_ || !same_connection)) {
    net::TlsClientOptions tls;
    tls.authorities = material.authorities;
    tls.certificate = material.certificate;
    tls.key = material.key;
    tls.protocols = {"h2"};
    if (access_.skip_verification) tls.verification = net::TlsVerification::kNone;
    if (tls_) {
      if (Status replaced = tls_->Replace(tls); !replaced) return replaced;
      parts_.loop.Post([self = self_] {
        if (*self != nullptr) (*self)->renewed_();
      });
      parts_.log.Info("Credentials for the API server were renewed");
    } else {
      Result<net::TlsClient> made = net::TlsClient::Make(tls);
      if (!made) return made.error();
      tls_.emplace(*std::move(made));
    }
    if (const std::string fault = Fault(); !fault.empty()) {
      parts_.log.Error(Error(ErrorCode::kPermission, fault),
                       "The client certificate for the API server has expired",
                       KV("kubeconfig", access_.kubeconfig_path));
    }
  }
  in_use_ = std::move(material);
  if (!in_use_.token.empty()) {
    authorization_ = "Bearer " + in_use_.token;
  } else if (!access_.username.empty() || !access_.password.empty()) {
    authorization_ = "Basic " + Base64Encode(access_.username + ":" + access_.password);
  } else {
    authorization_.clear();
  }
  return Ok();
}

void KubeCredentials::ScheduleReload() {
  parts_.loop.Disarm(timer_);
  if (watches_.empty()) return;
  timer_ = parts_.loop.Arm(After(parts_.loop.Now(), options_.reload_period), [this] {
    if (!reading_) Load();
  });
}

void KubeCredentials::AnswerWaiters(const Status& status) {
  std::vector<reactor::Done<Unit>> waiters = std::exchange(waiters_, {});
  for (reactor::Done<Unit>& waiter : waiters) {
    parts_.loop.Post([waiter = std::move(waiter), status]() mutable { waiter(status); });
  }
}

}  // namespace denselet::kube
