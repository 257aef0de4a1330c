#include "kube/client/certificates/csr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "kube/client/certificates/certificate_request.h"
#include "reactor/net/tls/tls_pem.h"
#include "tests/tls/certificates.h"

namespace denselet::kube {
namespace {

using net::BioPtr;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct ParsedRequest {
  explicit ParsedRequest(const std::string& pem) {
    const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    request = PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr);
  }
  ~ParsedRequest() { X509_REQ_free(request); }

  std::string Subject() const {
    const BioPtr bio(BIO_new(BIO_s_mem()));
    X509_NAME_print_ex(bio.get(), X509_REQ_get_subject_name(request), 0, XN_FLAG_RFC2253);
    return Text(bio.get());
  }
  std::string Names() const {
    STACK_OF(X509_EXTENSION)* const all = X509_REQ_get_extensions(request);
    const BioPtr bio(BIO_new(BIO_s_mem()));
    for (int i = 0; i < sk_X509_EXTENSION_num(all); ++i) {
      X509V3_EXT_print(bio.get(), sk_X509_EXTENSION_value(all, i), 0, 0);
    }
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    return Text(bio.get());
  }
  static std::string Text(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<size_t>(size));
  }

  X509_REQ* request = nullptr;
};

std::string SelfSigned(const std::string& common_name, WallTime from, WallTime until) {
  return net::MakeIdentity({.common_name = common_name, .not_before = from, .not_after = until})
      .pem;
}

constexpr WallTime kT0 = WallTime(Hours(490'000));

TEST(Csr, KeysAreNewAndOfP256) {
  const std::string key = *NewPrivateKey();
  EXPECT_THAT(key, StartsWith("-----BEGIN EC PRIVATE KEY-----\n"));
  EXPECT_NE(key, *NewPrivateKey());
  const net::KeyPtr parsed = *net::ReadKey(key);
  char group[64];
  size_t size = 0;
  ASSERT_EQ(EVP_PKEY_get_group_name(parsed.get(), group, sizeof(group), &size), 1);
  EXPECT_STREQ(group, "prime256v1");
  EXPECT_FALSE(*IsRsaKey(key));
}

TEST(Csr, RequestIsSignedByTheKeyAndNamesTheNode) {
  const std::string key = *NewPrivateKey();
  const Result<std::string> request =
      MakeSigningRequest(CertificateSubject::OfNode("worker-1"), key);
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_THAT(*request, StartsWith("-----BEGIN CERTIFICATE REQUEST-----\n"));
  const ParsedRequest parsed(*request);
  ASSERT_NE(parsed.request, nullptr);
  EXPECT_EQ(parsed.Subject(), "CN=system:node:worker-1,O=system:nodes");
  EXPECT_EQ(parsed.Names(), "");
  EXPECT_EQ(X509_REQ_get_signature_nid(parsed.request), NID_ecdsa_with_SHA256);
  EXPECT_EQ(X509_REQ_verify(parsed.request, net::ReadKey(key)->get()), 1);
}

TEST(Csr, RequestCarriesNamesForServing) {
  CertificateSubject subject = CertificateSubject::OfNode("n");
  subject.dns_names = {"n.example", "n"};
  subject.addresses = {"10.0.0.7", "fd00::7"};
  const Result<std::string> request = MakeSigningRequest(subject, *NewPrivateKey());
  ASSERT_TRUE(request);
  EXPECT_EQ(ParsedRequest(*request).Names(),
            "DNS:n.example, DNS:n, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7");
  subject.addresses = {"ten"};
  EXPECT_EQ(MakeSigningRequest(subject, *NewPrivateKey()).error(),
            Error(ErrorCode::kInvalid, "not an IP address: \"ten\""));
}

TEST(Csr, RequestWithSomethingThatIsNoKeyIsRefused) {
  EXPECT_EQ(MakeSigningRequest(CertificateSubject::OfNode("n"), "nothing").error(),
            Error(ErrorCode::kInvalid, "private key: not PEM"));
}

TEST(Csr, CertificateSaysForWhomAndUntilWhen) {
  const net::Identity authority = net::MakeAuthority("ca");
  const net::Identity identity =
      net::MakeIdentity({.common_name = "system:node:n1",
                         .names = {"DNS:n1", "IP:10.0.0.7", "IP:fd00::7"},
                         .not_before = kT0,
                         .not_after = kT0 + Hours(24)},
                        &authority);
  const Result<CertificateInfo> info = ReadCertificate(identity.key_pem + identity.pem);
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->subject.common_name, "system:node:n1");
  EXPECT_THAT(info->subject.dns_names, ElementsAre("n1"));
  EXPECT_THAT(info->subject.addresses, ElementsAre("10.0.0.7", "fd00::7"));
  EXPECT_EQ(info->not_before, kT0);
  EXPECT_EQ(info->not_after, kT0 + Hours(24));
  EXPECT_EQ(info->chain_not_after, kT0 + Hours(24));
  CertificateSubject wanted{.common_name = "system:node:n1", .addresses = {"fd00:0::7"}};
  EXPECT_TRUE(info->Satisfies(wanted));
  wanted.dns_names = {"n1.example"};
  EXPECT_FALSE(info->Satisfies(wanted));
  EXPECT_FALSE(info->Satisfies(CertificateSubject::OfNode("n1"))) << "without the group";
}

TEST(Csr, AChainIsAsGoodAsItsShortestLife) {
  const std::string chain = SelfSigned("leaf", kT0, kT0 + Hours(48)) +
                            SelfSigned("issuer", kT0 - Hours(9), kT0 + Hours(24));
  const Result<CertificateInfo> info = ReadCertificate(chain);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->subject.common_name, "leaf");
  EXPECT_EQ(info->not_after, kT0 + Hours(48));
  EXPECT_EQ(info->chain_not_after, kT0 + Hours(24));
}

TEST(Csr, CertificatesThatNeverExpireStayWithinWallTime) {
  const Result<CertificateInfo> info =
      ReadCertificate(SelfSigned("x", kT0, ToWallTime(*ParseRfc3339("2262-01-01T00:00:00Z"))));
  ASSERT_TRUE(info);
  EXPECT_GT(info->not_after, kT0);
}

TEST(Csr, TornAndForeignTextIsNoCertificate) {
  const std::string good = SelfSigned("x", kT0, kT0 + Hours(1));
  EXPECT_EQ(ReadCertificate("").error().message(), "not PEM");
  EXPECT_EQ(ReadCertificate("hello").error().message(), "not PEM");
  EXPECT_EQ(ReadCertificate(*NewPrivateKey()).error().message(), "there is no certificate in it");
  EXPECT_EQ(ReadCertificate(good.substr(0, good.size() / 2)).error().code(), ErrorCode::kInvalid);
}

TEST(Csr, KeyOfAnotherCertificateIsNoticed) {
  const net::Identity one = net::MakeIdentity({}), other = net::MakeIdentity({});
  EXPECT_TRUE(CheckKeyFits(one.pem, one.key_pem));
  EXPECT_EQ(CheckKeyFits(one.pem, other.key_pem).error().message(),
            "the private key does not belong to the certificate");
  EXPECT_EQ(CheckKeyFits(one.pem, "").error().message(), "private key: not PEM");
  EXPECT_EQ(CheckKeyFits("", one.key_pem).error().message(), "certificate: not PEM");
}

TEST(Csr, OneFileHoldsChainAndKeyAndNothingElse) {
  const net::Identity authority = net::MakeAuthority("ca");
  const net::Identity leaf = net::MakeIdentity({.common_name = "leaf"}, &authority);
  const Result<std::string> joined =
      JoinCertificateAndKey("a comment\n" + leaf.pem + authority.pem, leaf.key_pem);
  ASSERT_TRUE(joined);
  EXPECT_THAT(*joined, StartsWith(leaf.pem + authority.pem + "-----BEGIN EC PRIVATE KEY-----\n"));
  EXPECT_TRUE(CheckKeyFits(*joined, *joined));
  EXPECT_EQ(*JoinCertificateAndKey(*joined, *joined), *joined);
  EXPECT_FALSE(JoinCertificateAndKey(authority.pem, leaf.key_pem));
}

TEST(Csr, ARequestIsKnownAgainByKeyAndSubject) {
  const CertificateSubject subject = CertificateSubject::OfNode("n1");
  const std::string key = *NewPrivateKey();
  const std::string request = *MakeSigningRequest(subject, key);
  EXPECT_TRUE(CheckRequestFits(request, key, subject));
  EXPECT_EQ(CheckRequestFits(request, *NewPrivateKey(), subject).error().message(),
            "it was signed with another key");
  EXPECT_EQ(CheckRequestFits(request, key, CertificateSubject::OfNode("n2")).error().message(),
            "it is for another subject, \"system:node:n1\"");
  EXPECT_FALSE(CheckRequestFits("nothing", key, subject));
}

// Printed by the kubelet's own function for this key.
TEST(Csr, DigestedNameIsTheKubelets) {
  const std::string key =
      "-----BEGIN EC PRIVATE KEY-----\n"
      "MHcCAQEEIKUkdEQhml/HTmxtFujnROfhctZ7jqHiP6OSaglo13GgoAoGCCqGSM49\n"
      "AwEHoUQDQgAENx6soS5o8Lnezh/X7ygEfsb7u1/PZtVEIEpA0xC7nKEgsdY076LJ\n"
      "JbGPBndqHk3pMFPV4pIh6TYeN3ExJ4Jcrg==\n"
      "-----END EC PRIVATE KEY-----\n";
  const CertificatePurpose purpose = CertificatePurpose::ClientOfNode("golden");
  EXPECT_EQ(*DigestedRequestName(key, purpose.subject, *UsagesWith(purpose, key)),
            "node-csr-CbHsgNN_kgSbfM0fktZBk73xRxl0nqo2OglUj_tAyv8");
}

TEST(Csr, KeyEnciphermentIsForRsaOnly) {
  const net::KeyPtr rsa(EVP_RSA_gen(2048));
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), rsa.get(), nullptr, nullptr, 0, nullptr, nullptr);
  const CertificatePurpose purpose = CertificatePurpose::ClientOfNode("n");
  EXPECT_THAT(*UsagesWith(purpose, ParsedRequest::Text(bio.get())),
              ElementsAre("digital signature", "client auth", "key encipherment"));
  EXPECT_THAT(*UsagesWith(purpose, *NewPrivateKey()),
              ElementsAre("digital signature", "client auth"));
}

}  // namespace
}  // namespace denselet::kube
