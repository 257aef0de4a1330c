#include "tests/kube/client/certificates/fake_signer.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reactor/net/tls/tls_pem.h"

namespace denselet::kube {
namespace {

void SetTime(ASN1_TIME* field, WallTime time) {
  CHECK(ASN1_TIME_set(field, std::chrono::floor<Seconds>(time.time_since_epoch()).count()) !=
        nullptr);
}

std::string SignedBy(const net::Identity& authority, X509_NAME* subject, EVP_PKEY* key,
                     WallTime not_before, WallTime not_after) {
  static long serial = 1000;
  const net::X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  SetTime(X509_getm_notBefore(certificate.get()), not_before);
  SetTime(X509_getm_notAfter(certificate.get()), not_after);
  X509_set_subject_name(certificate.get(), subject);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.certificate.get()));
  X509_set_pubkey(certificate.get(), key);
  CHECK(X509_sign(certificate.get(), authority.key.get(), EVP_sha256()) > 0);
  const net::BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

class FakeSigner::Watch final : public sync::ListWatch {
 public:
  Watch(FakeSigner& home, std::string name, sync::ListWatchUser& user)
      : home_(home), name_(std::move(name)), user_(user) {
    home_.watches_.push_back(this);
    ShowLater();
    Later([this] { user_.OnSynced(); });
  }
  ~Watch() override {
    *self_ = nullptr;
    std::erase(home_.watches_, this);
  }
  const std::string& resource_version() const override { return version_; }
  const std::string& name() const { return name_; }

  void Show() {
    const auto found = home_.csrs_.find(name_);
    if (found != home_.csrs_.end()) user_.OnObject(found->second.SerializeAsString());
  }
  void ShowLater() {
    Later([this] { Show(); });
  }
  void GoneLater(const std::string& uid) {
    Later([this, uid] { user_.OnGone({"", name_}, uid); });
  }

 private:
  void Later(reactor::Task task) {
    home_.loop_.Post([self = self_, task = std::move(task)]() mutable {
      if (*self != nullptr) task();
    });
  }

  FakeSigner& home_;
  const std::string name_;
  sync::ListWatchUser& user_;
  const std::string version_ = "1";
  const std::shared_ptr<Watch*> self_ = std::make_shared<Watch*>(this);
};

FakeSigner::~FakeSigner() { *alive_ = false; }

std::string FakeSigner::Sign(const std::string& key_pem, const std::string& common_name) {
  const Result<net::KeyPtr> key = net::ReadKey(key_pem);
  CHECK(key);
  X509_NAME* const name = X509_NAME_new();
  for (const auto& [field, value] : {std::pair<const char*, std::string>("O", "system:nodes"),
                                     std::pair<const char*, std::string>("CN", common_name)}) {
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  }
  const WallTime now = loop_.WallNow();
  std::string pem = SignedBy(authority_, name, key->get(), now, now + lifetime);
  X509_NAME_free(name);
  return pem;
}

void FakeSigner::Send(const Context& context, sync::ApiRequest request,
                      reactor::Done<sync::ApiObject> done) {
  CHECK(context.deadline != kNever);
  loop_.Arm(After(loop_.Now(), Milliseconds(5)),
            [this, alive = alive_, request = std::move(request), done = std::move(done)]() mutable {
              if (*alive) done(Answer(request));
            });
}

Result<sync::ApiObject> FakeSigner::Answer(const sync::ApiRequest& request) {
  CHECK(request.resource.plural == "certificatesigningrequests");
  if (mood == Mood::kAway || mood == Mood::kForbids) {
    ++refused_;
    if (mood == Mood::kAway) return Error(ErrorCode::kUnavailable, "nobody is there");
    return Error(ErrorCode::kPermission, "the API server said 403: forbidden");
  }
  if (request.verb == sync::ApiVerb::kCreate) return Create(request.body);
  CHECK(request.verb == sync::ApiVerb::kGet);
  ++gets_;
  const auto found = csrs_.find(request.object.name);
  if (found == csrs_.end()) return Error(ErrorCode::kNotFound, "not found");
  return sync::ApiObject{.wire = found->second.SerializeAsString()};
}

Result<sync::ApiObject> FakeSigner::Create(const std::string& wire) {
  Csr csr;
  CHECK(csr.ParseFromString(wire));
  auto& meta = *csr.mutable_metadata();
  if (meta.name().empty()) meta.set_name(meta.generatename() + std::to_string(created_.size()));
  if (csrs_.contains(meta.name())) return Error(ErrorCode::kAlreadyExists, "it exists");
  meta.set_uid("uid-" + std::to_string(created_.size()));
  created_.push_back(csr);
  csrs_[meta.name()] = csr;
  if (mood != Mood::kSilent) {
    loop_.Arm(After(loop_.Now(), delay), [this, alive = alive_, name = meta.name()] {
      if (*alive) Decide(name);
    });
  }
  return sync::ApiObject{.wire = csr.SerializeAsString()};
}

void FakeSigner::Decide(const std::string& name) {
  if (!csrs_.contains(name)) return;
  if (mood == Mood::kDenies) return AddCondition(name, "Denied");
  Approve(name);
}

void FakeSigner::Approve(const std::string& name) {
  AddCondition(name, "Approved");
  loop_.Arm(After(loop_.Now(), delay), [this, alive = alive_, name] {
    if (*alive) Issue(name);
  });
}

void FakeSigner::Issue(const std::string& name) {
  if (!csrs_.contains(name)) return;
  if (mood == Mood::kFails) return AddCondition(name, "Failed");
  Csr& csr = csrs_[name];
  const std::string& text = csr.spec().request();
  const net::BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  X509_REQ* const request = PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr);
  CHECK(request != nullptr);
  Result<net::KeyPtr> foreign = net::ReadKey(foreign_key_pem);
  EVP_PKEY* const key = foreign ? foreign->get() : X509_REQ_get0_pubkey(request);
  CHECK(X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) == 1);
  Duration valid = lifetime;
  if (csr.spec().has_expirationseconds()) valid = Seconds(csr.spec().expirationseconds());
  const WallTime now = loop_.WallNow();
  csr.mutable_status()->set_certificate(
      SignedBy(authority_, X509_REQ_get_subject_name(request), key, now, now + valid));
  X509_REQ_free(request);
  Tell(name);
}

void FakeSigner::AddCondition(const std::string& name, const std::string& type) {
  auto& condition = *csrs_[name].mutable_status()->add_conditions();
  condition.set_type(type);
  condition.set_reason("Because");
  condition.set_message("of \"reasons\"");
  Tell(name);
}

void FakeSigner::Delete(const std::string& name) {
  const std::string uid = csrs_[name].metadata().uid();
  csrs_.erase(name);
  for (Watch* watch : watches_) {
    if (watch->name() == name) watch->GoneLater(uid);
  }
}

void FakeSigner::Tell(const std::string& name) {
  for (Watch* watch : watches_) {
    if (watch->name() == name) watch->ShowLater();
  }
}

std::unique_ptr<sync::ListWatch> FakeSigner::Follow(sync::ListWatchSpec spec,
                                                    sync::ListWatchUser& user) {
  constexpr std::string_view kSelector = "metadata.name=";
  CHECK(spec.field_selector.starts_with(kSelector));
  return std::make_unique<Watch>(*this, spec.field_selector.substr(kSelector.size()), user);
}

}  // namespace denselet::kube
