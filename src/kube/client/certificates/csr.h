// Keys, certificate signing requests and the certificates that come back, as PEM: what a node needs
// of X.509 to get itself a certificate.
//
// Pure but for the randomness of new keys, which is OpenSSL's own; on any thread. Making a key
// takes some tens of microseconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace denselet::kube {

// What is asked for, and what a certificate says of its bearer.
struct CertificateSubject {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};  // of serving certificates
  std::vector<std::string> addresses = {};  // IP addresses, in text

  // "system:node:<name>" of the group system:nodes.
  static CertificateSubject OfNode(std::string_view node_name);
};

// A chain as a client presents it: who it is for, and from when until when.
struct CertificateInfo {
  CertificateSubject subject = {};
  WallTime not_before = {};
  WallTime not_after = {};
  // When the first certificate of the chain expires, its issuers' included.
  WallTime chain_not_after = {};

  // May it be used for what `wanted` asks for? What it says beyond that does no harm.
  bool Satisfies(const CertificateSubject& wanted) const;
};

// A new ECDSA P-256 key, as "EC PRIVATE KEY".
Result<std::string> NewPrivateKey();

// A PKCS#10 request signed with that key, as "CERTIFICATE REQUEST". kInvalid: the key or an address
// cannot be read.
Result<std::string> MakeSigningRequest(const CertificateSubject& subject, std::string_view key_pem);

// Of a chain: its first certificate. Other blocks in the text are passed over. kInvalid.
Result<CertificateInfo> ReadCertificate(std::string_view pem);

// Is it a key, and the one that the first certificate was made for? kInvalid, with what is wrong.
Status CheckKeyFits(std::string_view certificate_pem, std::string_view key_pem);

// Does the key belong to this request, and does it ask for the same subject as `wanted`? SANs are
// not compared. kInvalid, with what is wrong.
Status CheckRequestFits(std::string_view request_pem, std::string_view key_pem,
                        const CertificateSubject& wanted);

// The certificates of a chain and the key, each block anew and nothing else: what one file of the
// certificate directory holds. kInvalid when either cannot be read or they do not belong together.
Result<std::string> JoinCertificateAndKey(std::string_view certificate_pem,
                                          std::string_view key_pem);

// "key encipherment" is asked for with RSA keys only.
Result<bool> IsRsaKey(std::string_view key_pem);

// The name of the request that a node without rotation makes: the same for the same key, subject
// and usages, so that it is found again after a restart. "node-csr-..."
Result<std::string> DigestedRequestName(std::string_view key_pem, const CertificateSubject& subject,
                                        const std::vector<std::string>& usages);

}  // namespace denselet::kube
