// Asks the API server for a certificate and waits until somebody has signed it, or has said no.
//
//   kCreate -> (it exists already: kLook) -> kWait: by list-watch, until it is issued, denied,
//              failed, deleted, or the time is over
//
// One try; who wants another makes another. Owned by its user, on the API shard; destroyed, it
// calls nobody any more.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client/certificates/csr.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

inline constexpr std::string_view kKubeletClientSigner =
    "kubernetes.io/kube-apiserver-client-kubelet";

// What the certificate is for, as the signer is told.
struct CertificatePurpose {
  CertificateSubject subject = {};
  std::string signer_name = {};
  std::vector<std::string> usages = {};   // without "key encipherment", which depends on the key
  std::optional<Duration> lifetime = {};  // asked for; the signer may have other views

  // The client certificate of a node.
  static CertificatePurpose ClientOfNode(std::string_view node_name);
};

// The usages to ask for with this key. kInvalid: it cannot be read.
Result<std::vector<std::string>> UsagesWith(const CertificatePurpose& purpose,
                                            std::string_view key_pem);

struct CertificateRequestOptions {
  // Empty: the server finds one, "csr-...". With a name, one that exists already is taken up again
  // when it is for the same key.
  std::string name = {};
  Duration call_timeout = Minutes(1);
  Duration wait_max = Minutes(15);
  // People are told what is waited for at once, and again after so long, doubled to the maximum:
  // somebody may have to approve it by hand.
  Duration reminder_min = Minutes(1);
  Duration reminder_max = Minutes(10);
};

struct CertificateRequestParts {
  reactor::Loop& loop;
  sync::ApiServer& api;  // outlives the request
  Logger log;
};

class CertificateRequest final : private sync::ListWatchUser {
 public:
  // Answers once, in a later turn: the signed chain, which fits the key. The request may be
  // destroyed in it. Errors are those of ApiServer::Send for creating it; kConflict: it was denied,
  // has failed or was deleted; kUnavailable: nobody signed it in time; kCorrupt: what came back is
  // not for this key.
  CertificateRequest(const CertificateRequestParts& parts, CertificatePurpose purpose,
                     std::string key_pem, CertificateRequestOptions options,
                     reactor::Done<std::string> done);
  ~CertificateRequest();
  CertificateRequest(const CertificateRequest&) = delete;
  CertificateRequest& operator=(const CertificateRequest&) = delete;

  // Empty before the server has answered, unless it was given.
  const std::string& name() const { return name_; }

 private:
  enum class Stage : uint8_t { kCreate, kLook, kWait, kDone };

  // ListWatchUser
  void OnObject(std::string_view wire) override;
  void OnGone(const ObjectRef& object, std::string_view uid) override;
  void OnSynced() override {}
  void OnTrouble(const Error& reason) override;
  void OnGoingOn() override;

  Status Begin();
  void OnCreated(Result<sync::ApiObject> answer);
  void Look();
  void OnLooked(Result<sync::ApiObject> answer);
  void Wait(std::string uid);
  void ArmReminder(Duration pause);
  void Remind();
  void Finish(Result<std::string> result);
  Context CallContext() const;

  const CertificateRequestParts parts_;
  const CertificatePurpose purpose_;
  const std::string key_pem_;
  const CertificateRequestOptions options_;
  reactor::Done<std::string> done_;
  const std::shared_ptr<CertificateRequest*> self_;  // shared with answers under way

  Stage stage_ = Stage::kCreate;
  std::string name_;
  std::string uid_;
  bool approval_told_ = false;
  TimePoint waiting_since_;
  RepeatedTrouble watch_trouble_;
  reactor::TimerId timer_;
  reactor::TimerId reminder_;
  std::unique_ptr<sync::ListWatch> watch_;
};

}  // namespace denselet::kube
