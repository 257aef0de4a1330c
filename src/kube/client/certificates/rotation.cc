#include "kube/client/certificates/rotation.h"

#include <algorithm>
#include <utility>

namespace denselet::kube {

WallTime RotationDeadline(const CertificateInfo& certificate, double draw) {
  const Duration lifetime = certificate.not_after - certificate.not_before;
  const auto drawn = static_cast<int64_t>(static_cast<double>(lifetime.count()) * 0.2 * draw);
  return certificate.not_before + lifetime / 10 * 7 + Duration(drawn);
}

CertificateRotation::CertificateRotation(const RotationParts& parts, RotationOptions options,
                                         std::optional<InitialCertificate> initial,
                                         RotationUser& user)
    : parts_(parts),
      options_(std::move(options)),
      user_(user),
      self_(std::make_shared<CertificateRotation*>(this)),
      initial_(std::move(initial)),
      last_valid_at_(parts.loop.Now()) {
  Load();
  ArmTick();
}

CertificateRotation::~CertificateRotation() {
  *self_ = nullptr;
  parts_.loop.Disarm(pause_timer_);
  parts_.loop.Disarm(tick_timer_);
}

const CertificateInfo* CertificateRotation::Current() const {
  if (!current_ || parts_.loop.WallNow() > current_->not_after) return nullptr;
  return &*current_;
}

std::optional<WallTime> CertificateRotation::deadline() const {
  if (stage_ != Stage::kWaiting) return std::nullopt;
  return deadline_;
}

Context CertificateRotation::FileContext() const {
  return Context{}.WithTimeout(parts_.loop.Now(), options_.file_timeout);
}

// ---- what is there at the start

void CertificateRotation::Load() {
  stage_ = Stage::kLoading;
  parts_.store.Load(FileContext(), [self = self_](Result<StoredCertificate> loaded) {
    if (*self != nullptr) (*self)->OnLoaded(std::move(loaded));
  });
}

void CertificateRotation::OnLoaded(Result<StoredCertificate> loaded) {
  if (!loaded && loaded.error().code() != ErrorCode::kNotFound) {
    parts_.log.Error(loaded.error(), "Could not load certificate");
    return Pause(Next::kLoad);
  }
  if (loaded && parts_.loop.WallNow() < loaded->info.not_after) {
    current_ = loaded->info;
    user_.OnCertificate(*current_);
    return Plan();
  }
  if (loaded) {
    parts_.log.Info("The stored certificate has expired",
                    KV("expiration", FormatRfc3339(loaded->info.not_after, 0)));
  }
  if (initial_) return Adopt();
  Request();
}

// Stored like one that was signed for us: who uses certificates looks in one place only.
void CertificateRotation::Adopt() {
  stage_ = Stage::kAdopting;
  InitialCertificate initial = *std::exchange(initial_, std::nullopt);
  parts_.store.Store(FileContext(), std::move(initial.certificate_pem), std::move(initial.key_pem),
                     [self = self_, use = initial.use](Result<StoredCertificate> stored) {
                       if (*self == nullptr) return;
                       if (!stored) {
                         (*self)->parts_.log.Error(stored.error(),
                                                   "Could not store the first certificate");
                         return (*self)->Request();
                       }
                       (*self)->replace_now_ = use == InitialCertificate::Use::kReplaceSoon;
                       (*self)->Use(stored->info);
                     });
}

void CertificateRotation::Use(const CertificateInfo& certificate) {
  current_ = certificate;
  hopeless_told_ = false;
  user_.OnCertificate(*current_);
  Plan();
}

// ---- waiting

void CertificateRotation::Plan() {
  const bool fits = current_->Satisfies(options_.purpose.subject);
  if (!fits) {
    parts_.log.Info("The certificate is not for this node",
                    KV("commonName", current_->subject.common_name));
  }
  const WallTime now = parts_.loop.WallNow();
  const bool at_once = std::exchange(replace_now_, false) || !fits;
  deadline_ = at_once ? now : RotationDeadline(*current_, parts_.random.Unit());
  parts_.log.V(2).Info("Certificate rotation deadline determined",
                       KV("expiration", FormatRfc3339(current_->not_after, 0)),
                       KV("deadline", FormatRfc3339(deadline_, 0)));
  const bool served_for_a_while = deadline_ > now;
  if (served_for_a_while) failures_ = 0;
  // A signer whose certificates are never good enough is asked no more often than one that fails.
  if (!served_for_a_while && failures_ > 0) return Pause(Next::kRequest);
  stage_ = Stage::kWaiting;
  Tick();
}

void CertificateRotation::Tick() {
  const TimePoint now = parts_.loop.Now();
  if (Current() != nullptr) last_valid_at_ = now;
  const bool hopeless = now - last_valid_at_ > options_.hopeless_after && server_answers_;
  if (stage_ == Stage::kWaiting && parts_.loop.WallNow() >= deadline_) Request();
  ArmTick();
  if (hopeless && !std::exchange(hopeless_told_, true)) {
    parts_.log.Error("No valid client certificate was found and the server is responsive",
                     KV("after", FormatDuration(options_.hopeless_after)));
    user_.OnHopeless();  // `this` may be gone
  }
}

void CertificateRotation::ArmTick() {
  parts_.loop.Disarm(tick_timer_);
  Duration wait = Current() != nullptr ? options_.clock_check_period : options_.hope_check_period;
  if (stage_ == Stage::kWaiting) {
    const Duration left = deadline_ - parts_.loop.WallNow();
    wait = std::clamp(left, Duration::zero(), wait);
  }
  tick_timer_ = parts_.loop.Arm(After(parts_.loop.Now(), wait), [this] { Tick(); });
}

// ---- the next one

void CertificateRotation::Request() {
  stage_ = Stage::kRequesting;
  parts_.log.V(2).Info("Rotating certificates");
  Result<std::string> key = NewPrivateKey();
  if (!key) return Fail(key.error(), Next::kRequest);
  const bool known = Current() != nullptr || parts_.bootstrap == nullptr;
  sync::ApiServer& api = known ? parts_.api : *parts_.bootstrap;
  CertificateRequestOptions options;
  options.wait_max = options_.wait_max;
  request_ = std::make_unique<CertificateRequest>(
      CertificateRequestParts{parts_.loop, api, parts_.log}, options_.purpose, *key, options,
      [this, key = *key](Result<std::string> certificate) {
        OnSigned(std::move(certificate), key);
      });
}

void CertificateRotation::OnSigned(Result<std::string> certificate, std::string key_pem) {
  request_.reset();
  if (!certificate) {
    const ErrorCode code = certificate.error().code();
    // As the kubelet has it: a refusal of who we are says that somebody is there.
    server_answers_ = code == ErrorCode::kPermission || code == ErrorCode::kNotFound;
    return Fail(certificate.error(), Next::kRequest);
  }
  server_answers_ = true;
  signed_ = Signed{*std::move(certificate), std::move(key_pem)};
  Store();
}

void CertificateRotation::Store() {
  stage_ = Stage::kStoring;
  parts_.store.Store(FileContext(), signed_->certificate_pem, signed_->key_pem,
                     [self = self_](Result<StoredCertificate> stored) {
                       if (*self != nullptr) (*self)->OnStored(std::move(stored));
                     });
}

void CertificateRotation::OnStored(Result<StoredCertificate> stored) {
  if (!stored) {
    const Result<CertificateInfo> info = ReadCertificate(signed_->certificate_pem);
    const bool worth_keeping = info && parts_.loop.WallNow() < info->not_after;
    if (!worth_keeping) signed_.reset();
    return Fail(stored.error(), worth_keeping ? Next::kStore : Next::kRequest);
  }
  signed_.reset();
  ++failures_;                             // until it has proved to be good for a while
  (void)trouble_.Over(parts_.loop.Now());  // as the next line says
  parts_.log.Info("Certificate was rotated",
                  KV("expiration", FormatRfc3339(stored->info.not_after, 0)));
  Use(stored->info);
}

// ---- when it does not work

void CertificateRotation::Fail(const Error& error, Next next) {
  if (trouble_.IsNews(parts_.loop.Now(), error.message())) {
    parts_.log.Error(error, "Could not renew certificate");
  }
  user_.OnRenewError(error);
  Pause(next);
}

Duration CertificateRotation::NextPause() {
  ++failures_;
  if (failures_ >= options_.backoff_steps) return options_.retry_period;
  return parts_.random.Jitter(options_.backoff_min * (int64_t{1} << (failures_ - 1)),
                              options_.backoff_jitter);
}

void CertificateRotation::Pause(Next next) {
  stage_ = Stage::kPaused;
  parts_.loop.Disarm(pause_timer_);
  pause_timer_ =
      parts_.loop.Arm(After(parts_.loop.Now(), NextPause()), [this, next] { Resume(next); });
}

void CertificateRotation::Resume(Next next) {
  switch (next) {
    case Next::kLoad:
      return Load();
    case Next::kRequest:
      return Request();
    case Next::kStore:
      return Store();
  }
}

}  // namespace denselet::kube
