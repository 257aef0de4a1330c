// Keeps an agent in possession of a certificate: asks for the first one, and for the next when 70
// to 90 % of the lifetime are over, so that nodes that started together do not ask together.
//
//   kLoading -> [kAdopting] -> kWaiting -> kRequesting -> kStoring --+
//      ^            |             ^            |              |      | the new one is in use
//      +-- kPaused -+             +------------|--------------|------+
//                   +-- kPaused <--------------+-- kPaused <--+
//
// Pauses: 2 s, doubled, after each of the first four failures, then 32 s, for ever. A certificate
// that was signed but could not be stored is kept and only the storing is tried again. Times are
// the wall clock's, which may jump: it is looked at every minute.
//
// Nothing of a request is kept over a restart: with rotation a new key is made and a new request;
// the old one is left to the controllers that clean up.
//
// Lives on the API shard, owned by who wants the certificate; destroyed, it calls nobody any more.
// The new certificate is used by who watches the store's link (KubeCredentials).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "base/time.h"
#include "kube/client/certificates/certificate_request.h"
#include "kube/client/certificates/certificate_store.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct RotationOptions {
  CertificatePurpose purpose = {};
  Duration backoff_min = Seconds(2);
  int backoff_steps = 5;
  double backoff_jitter = 0.1;
  Duration retry_period = Seconds(32);
  Duration wait_max = Minutes(15);  // for a signature
  Duration file_timeout = Seconds(30);
  Duration clock_check_period = Minutes(1);
  // Without a valid certificate for so long, though the server answers: it is time to start anew.
  Duration hopeless_after = Minutes(5);
  Duration hope_check_period = Seconds(10);
};

// A certificate from elsewhere to begin with, where the store has none that is valid.
struct InitialCertificate {
  // One that came inside a kubeconfig is for the beginning only, and replaced at once.
  enum class Use : bool { kReplaceSoon, kKeep };

  std::string certificate_pem = {};
  std::string key_pem = {};
  Use use = Use::kKeep;
};

struct RotationParts {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  const CertificateStore& store;
  sync::ApiServer& api;        // with the certificate of the store
  sync::ApiServer* bootstrap;  // while there is none that is valid; null: `api`, too
};

// The rotation may be destroyed in OnHopeless only.
class RotationUser {
 public:
  // It is stored and in use from now on: the one that was there, and each new one.
  virtual void OnCertificate(const CertificateInfo& certificate) = 0;
  // It goes on trying.
  virtual void OnRenewError(const Error& error) = 0;
  // There has been no valid certificate for RotationOptions::hopeless_after, though the server
  // answers: only a start with other credentials can help. Once.
  virtual void OnHopeless() = 0;

 protected:
  ~RotationUser() = default;
};

// When to ask for the next one; `draw` is from [0, 1).
WallTime RotationDeadline(const CertificateInfo& certificate, double draw);

class CertificateRotation {
 public:
  CertificateRotation(const RotationParts& parts, RotationOptions options,
                      std::optional<InitialCertificate> initial, RotationUser& user);
  ~CertificateRotation();
  CertificateRotation(const CertificateRotation&) = delete;
  CertificateRotation& operator=(const CertificateRotation&) = delete;

  // The one in use, while it is valid.
  const CertificateInfo* Current() const;
  // When the next one is asked for; none while one is being asked for.
  std::optional<WallTime> deadline() const;

 private:
  enum class Stage : uint8_t { kLoading, kAdopting, kWaiting, kRequesting, kStoring, kPaused };
  // Where a pause leads back to.
  enum class Next : uint8_t { kLoad, kRequest, kStore };
  struct Signed {
    std::string certificate_pem, key_pem;
  };

  void Load();
  void OnLoaded(Result<StoredCertificate> loaded);
  void Adopt();
  void Use(const CertificateInfo& certificate);
  void Plan();
  void Request();
  void OnSigned(Result<std::string> certificate, std::string key_pem);
  void Store();
  void OnStored(Result<StoredCertificate> stored);
  void Fail(const Error& error, Next next);
  void Pause(Next next);
  void Resume(Next next);
  Duration NextPause();
  void Tick();
  void ArmTick();
  Context FileContext() const;

  const RotationParts parts_;
  const RotationOptions options_;
  RotationUser& user_;
  const std::shared_ptr<CertificateRotation*> self_;  // shared with answers under way

  Stage stage_ = Stage::kLoading;
  std::optional<InitialCertificate> initial_;
  std::optional<CertificateInfo> current_;
  WallTime deadline_;         // in kWaiting
  bool replace_now_ = false;  // whatever its lifetime
  int failures_ = 0;          // since a certificate came that is good for a while
  RepeatedTrouble trouble_;   // to get one
  std::optional<Signed> signed_;
  std::unique_ptr<CertificateRequest> request_;

  bool server_answers_ = false;
  TimePoint last_valid_at_;
  bool hopeless_told_ = false;
  reactor::TimerId pause_timer_;
  reactor::TimerId tick_timer_;
};

}  // namespace denselet::kube
