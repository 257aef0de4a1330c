#include "kube/client/certificates/certificate_request.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quoted.h"
#include "sync/ports/api_typed.h"

namespace denselet::kube {

using sync::ApiObject;
using Csr = sync::certificates::CertificateSigningRequest;

namespace {

constexpr size_t kTextBytesMax = 512;  // of what somebody wrote into a condition

std::string Quote(std::string_view text) { return Quoted(text, kTextBytesMax); }

Csr MakeCsr(const CertificatePurpose& purpose, const std::string& name,
            const std::vector<std::string>& usages, std::string request_pem) {
  Csr csr;
  if (name.empty()) {
    csr.mutable_metadata()->set_generatename("csr-");
  } else {
    csr.mutable_metadata()->set_name(name);
  }
  csr.mutable_spec()->set_request(std::move(request_pem));
  csr.mutable_spec()->set_signername(purpose.signer_name);
  for (const std::string& usage : usages) csr.mutable_spec()->add_usages(usage);
  if (purpose.lifetime) {
    const int64_t seconds = std::chrono::floor<Seconds>(*purpose.lifetime).count();
    csr.mutable_spec()->set_expirationseconds(
        static_cast<int32_t>(std::clamp<int64_t>(seconds, 0, std::numeric_limits<int32_t>::max())));
  }
  return csr;
}

// Why nothing will come of it any more; nothing while something may.
std::optional<Error> RefusalIn(const Csr& csr) {
  for (const auto& condition : csr.status().conditions()) {
    const char* what = condition.type() == "Denied"   ? "was denied"
                       : condition.type() == "Failed" ? "failed"
                                                      : nullptr;
    if (what == nullptr) continue;
    return Error(ErrorCode::kConflict, std::string("it ") + what + ", reason " +
                                           Quote(condition.reason()) + ", message " +
                                           Quote(condition.message()));
  }
  return std::nullopt;
}

bool IsApproved(const Csr& csr) {
  return std::ranges::any_of(csr.status().conditions(),
                             [](const auto& condition) { return condition.type() == "Approved"; });
}

}  // namespace

CertificatePurpose CertificatePurpose::ClientOfNode(std::string_view node_name) {
  return {.subject = CertificateSubject::OfNode(node_name),
          .signer_name = std::string(kKubeletClientSigner),
          .usages = {"digital signature", "client auth"}};
}

Result<std::vector<std::string>> UsagesWith(const CertificatePurpose& purpose,
                                            std::string_view key_pem) {
  const Result<bool> rsa = IsRsaKey(key_pem);
  if (!rsa) return rsa.error().With("private key");
  std::vector<std::string> usages = purpose.usages;
  if (*rsa) usages.push_back("key encipherment");
  return usages;
}

CertificateRequest::CertificateRequest(const CertificateRequestParts& parts,
                                       CertificatePurpose purpose, std::string key_pem,
                                       CertificateRequestOptions options,
                                       reactor::Done<std::string> done)
    : parts_(parts),
      purpose_(std::move(purpose)),
      key_pem_(std::move(key_pem)),
      options_(std::move(options)),
      done_(std::move(done)),
      self_(std::make_shared<CertificateRequest*>(this)),
      name_(options_.name) {
  if (const Status begun = Begin(); !begun) {
    parts_.loop.Post([self = self_, error = begun.error()] {
      if (*self != nullptr) (*self)->Finish(error);
    });
  }
}

CertificateRequest::~CertificateRequest() {
  *self_ = nullptr;
  parts_.loop.Disarm(timer_);
  parts_.loop.Disarm(reminder_);
}

Context CertificateRequest::CallContext() const {
  return Context{}.WithTimeout(parts_.loop.Now(), options_.call_timeout);
}

Status CertificateRequest::Begin() {
  const Result<std::vector<std::string>> usages = UsagesWith(purpose_, key_pem_);
  if (!usages) return usages.error();
  Result<std::string> request = MakeSigningRequest(purpose_.subject, key_pem_);
  if (!request) return request.error();
  sync::ApiRequest call;
  call.verb = sync::ApiVerb::kCreate;
  call.resource = kCertificateSigningRequests;
  call.body = EncodeWire(MakeCsr(purpose_, name_, *usages, *std::move(request)));
  parts_.api.Send(CallContext(), std::move(call), [self = self_](Result<ApiObject> answer) {
    if (*self != nullptr) (*self)->OnCreated(std::move(answer));
  });
  return Ok();
}

void CertificateRequest::OnCreated(Result<ApiObject> answer) {
  if (!answer) {
    const bool exists = answer.error().code() == ErrorCode::kAlreadyExists;
    if (exists && !options_.name.empty()) return Look();
    return Finish(answer.error().With("create certificate signing request"));
  }
  const Result<Csr> csr = sync::ParseObject<Csr>(answer->wire);
  if (!csr) return Finish(csr.error().With("create certificate signing request"));
  name_ = csr->metadata().name();
  parts_.log.V(2).Info("Created certificate signing request", KV("csr", name_));
  Wait(csr->metadata().uid());
}

// One of a former life, perhaps.
void CertificateRequest::Look() {
  stage_ = Stage::kLook;
  sync::ApiRequest call;
  call.verb = sync::ApiVerb::kGet;
  call.resource = kCertificateSigningRequests;
  call.object = {"", name_};
  parts_.api.Send(CallContext(), std::move(call), [self = self_](Result<ApiObject> answer) {
    if (*self != nullptr) (*self)->OnLooked(std::move(answer));
  });
}

void CertificateRequest::OnLooked(Result<ApiObject> answer) {
  Result<Csr> csr = answer ? sync::ParseObject<Csr>(answer->wire) : Result<Csr>(answer.error());
  if (!csr) return Finish(csr.error().With("get certificate signing request", name_));
  const auto refuse = [this](const Error& error) {
    Finish(Error(ErrorCode::kConflict, error.message())
               .With("certificate signing request that exists already", name_));
  };
  if (Status fits = CheckRequestFits(csr->spec().request(), key_pem_, purpose_.subject); !fits) {
    return refuse(fits.error());
  }
  if (csr->spec().signername() != purpose_.signer_name) {
    return refuse(Error(ErrorCode::kConflict,
                        "it is for another signer, " + Quote(csr->spec().signername())));
  }
  if (!csr->status().certificate().empty()) {
    const Result<CertificateInfo> info = ReadCertificate(csr->status().certificate());
    if (!info) return refuse(info.error());
    if (info->chain_not_after <= parts_.loop.WallNow()) {
      return refuse(Error(ErrorCode::kConflict, "its certificate has expired"));
    }
  }
  parts_.log.Info("Took up a certificate signing request that exists already", KV("csr", name_));
  Wait(csr->metadata().uid());
}

void CertificateRequest::Wait(std::string uid) {
  stage_ = Stage::kWait;
  uid_ = std::move(uid);
  waiting_since_ = parts_.loop.Now();
  parts_.log.Info("Waiting for the certificate signing request to be approved and signed",
                  KV("csr", name_), KV("signerName", purpose_.signer_name),
                  KV("atMost", options_.wait_max));
  ArmReminder(options_.reminder_min);
  timer_ = parts_.loop.Arm(After(waiting_since_, options_.wait_max), [this] {
    Finish(Error(ErrorCode::kUnavailable,
                 "nobody signed it within " + FormatDuration(options_.wait_max))
               .With("certificate signing request", name_));
  });
  sync::ListWatchSpec spec;
  spec.resource = kCertificateSigningRequests;
  spec.field_selector = "metadata.name=" + name_;
  watch_ = parts_.api.Follow(std::move(spec), *this);
}

void CertificateRequest::ArmReminder(Duration pause) {
  reminder_ = parts_.loop.Arm(After(parts_.loop.Now(), pause), [this, pause] {
    Remind();
    ArmReminder(std::min(2 * pause, options_.reminder_max));
  });
}

void CertificateRequest::Remind() {
  const Duration waited = parts_.loop.Now() - waiting_since_;
  if (approval_told_) {
    parts_.log.Info("The certificate signing request is approved, and still waits to be signed",
                    KV("csr", name_), KV("waited", waited));
  } else {
    parts_.log.Info("The certificate signing request still waits for approval", KV("csr", name_),
                    KV("waited", waited));
  }
}

void CertificateRequest::OnObject(std::string_view wire) {
  const Result<Csr> csr = sync::ParseObject<Csr>(wire);
  if (!csr || csr->metadata().name() != name_) return;  // not ours
  const auto refuse = [this](const Error& error) {
    Finish(error.With("certificate signing request", name_));
  };
  if (csr->metadata().uid() != uid_) {
    return refuse(Error(ErrorCode::kConflict, "another one has taken its name"));
  }
  if (const std::optional<Error> refusal = RefusalIn(*csr)) return refuse(*refusal);
  if (!IsApproved(*csr)) return;
  const std::string& certificate = csr->status().certificate();
  if (certificate.empty()) {
    if (!std::exchange(approval_told_, true)) {
      parts_.log.Info("Certificate signing request was approved", KV("csr", name_));
    }
    return;
  }
  if (Status fits = CheckKeyFits(certificate, key_pem_); !fits) {
    return refuse(Error(ErrorCode::kCorrupt, fits.error().message()));
  }
  Finish(certificate);
}

void CertificateRequest::OnGone(const ObjectRef&, std::string_view uid) {
  if (uid != uid_) return;
  Finish(Error(ErrorCode::kConflict, "it was deleted").With("certificate signing request", name_));
}

void CertificateRequest::OnTrouble(const Error& reason) {
  if (!watch_trouble_.IsNews(parts_.loop.Now(), reason.message())) return;
  parts_.log.Info("Could not watch certificate signing request", KV("csr", name_), Err(reason));
}

void CertificateRequest::OnGoingOn() {
  if (const auto lasted = watch_trouble_.Over(parts_.loop.Now())) {
    parts_.log.Info("Watch of the certificate signing request goes on", KV("csr", name_),
                    KV("after", *lasted));
  }
}

void CertificateRequest::Finish(Result<std::string> result) {
  if (stage_ == Stage::kDone) return;
  stage_ = Stage::kDone;
  parts_.loop.Disarm(timer_);
  parts_.loop.Disarm(reminder_);
  watch_.reset();
  reactor::Done<std::string> done = std::move(done_);
  done(std::move(result));  // `this` may be gone
}

}  // namespace denselet::kube
