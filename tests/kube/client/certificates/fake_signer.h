// An API server that knows certificate signing requests only, with a signer behind it whose mood a
// test sets: signs, denies, fails, never answers, is away. On the simulated loop.
#pragma once

#include <k8s.io/api/certificates/v1/generated.pb.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "tests/tls/certificates.h"

namespace denselet::kube {

class FakeSigner final : public sync::ApiServer {
 public:
  using Csr = ::k8s::io::api::certificates::v1::CertificateSigningRequest;
  enum class Mood : uint8_t { kSigns, kDenies, kFails, kSilent, kAway, kForbids };

  explicit FakeSigner(reactor::Loop& loop) : loop_(loop) {}
  ~FakeSigner() override;

  Mood mood = Mood::kSigns;
  Duration lifetime = Hours(100);
  Duration delay = Seconds(1);  // between request and approval, and from there to the certificate
  // Whose key the certificate is for, where it is not the request's.
  std::string foreign_key_pem = {};

  const std::vector<Csr>& created() const { return created_; }
  int gets() const { return gets_; }
  size_t watches() const { return watches_.size(); }
  int refused() const { return refused_; }

  // As an administrator would do it.
  void Approve(const std::string& name);
  void Delete(const std::string& name);

  // A certificate for this key, valid from now on.
  std::string Sign(const std::string& key_pem, const std::string& common_name);

  // ApiServer
  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override;
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override;

 private:
  class Watch;

  Result<sync::ApiObject> Answer(const sync::ApiRequest& request);
  Result<sync::ApiObject> Create(const std::string& wire);
  void Decide(const std::string& name);
  void Issue(const std::string& name);
  void AddCondition(const std::string& name, const std::string& type);
  void Tell(const std::string& name);

  reactor::Loop& loop_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  const net::Identity authority_ = net::MakeAuthority("fake-signer");
  std::map<std::string, Csr> csrs_;
  std::vector<Csr> created_;
  std::vector<Watch*> watches_;
  int gets_ = 0;
  int refused_ = 0;
};

}  // namespace denselet::kube
