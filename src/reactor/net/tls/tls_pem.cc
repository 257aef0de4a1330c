#include "reactor/net/tls/tls_pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>
#include <utility>

#include "reactor/net/tls/tls_client.h"

namespace denselet::net {
namespace {

Error Invalid(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

Result<BioPtr> OpenPem(std::string_view pem) {
  if (pem.size() > TlsClient::kPemBytesMax) return Invalid("too large for PEM");
  ERR_clear_error();
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Without it OpenSSL would ask at the terminal.
int RefusePassword(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace

Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem) {
  const Result<BioPtr> bio = OpenPem(pem);
  if (!bio) return bio.error();
  std::vector<X509Ptr> certificates;
  while (true) {
    X509Ptr certificate(PEM_read_bio_X509(bio->get(), nullptr, nullptr, nullptr));
    if (certificate == nullptr) break;
    certificates.push_back(std::move(certificate));
  }
  // Reading ends with an error always: at the end of the text it is "no further block".
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) {
    return Invalid("certificate " + std::to_string(certificates.size() + 1) + " cannot be read");
  }
  if (certificates.empty() && pem.find("-----BEGIN ") == pem.npos) return Invalid("not PEM");
  if (certificates.empty()) return Invalid("there is no certificate in it");
  return certificates;
}

Result<KeyPtr> ReadKey(std::string_view pem) {
  const Result<BioPtr> bio = OpenPem(pem);
  if (!bio) return bio.error();
  bool asked = false;
  KeyPtr key(PEM_read_bio_PrivateKey(bio->get(), nullptr, RefusePassword, &asked));
  ERR_clear_error();
  if (key != nullptr) return key;
  if (asked) return Invalid("it is encrypted");
  if (pem.find("-----BEGIN ") == pem.npos) return Invalid("not PEM");
  if (pem.find("PRIVATE KEY-----") == pem.npos) return Invalid("there is no private key in it");
  return Invalid("the private key cannot be read");
}

}  // namespace denselet::net
