#include "tests/tls/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace denselet::net {
namespace {

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

void SetTime(ASN1_TIME* field, WallTime time) {
  CHECK(ASN1_TIME_set(field, std::chrono::floor<Seconds>(time.time_since_epoch()).count()) !=
        nullptr);
}

std::string Joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

}  // namespace

Identity MakeIdentity(const CertificateSpec& spec, const Identity* issuer) {
  static long serial = 0;
  Identity made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  X509* const certificate = made.certificate.get();
  X509* const signer = issuer == nullptr ? certificate : issuer->certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  SetTime(X509_getm_notBefore(certificate), spec.not_before);
  SetTime(X509_getm_notAfter(certificate), spec.not_after);
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(spec.common_name.data()),
                             static_cast<int>(spec.common_name.size()), -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  X509_set_pubkey(certificate, made.key.get());
  AddExtension(certificate, signer, NID_basic_constraints,
               spec.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(certificate, signer, NID_subject_key_identifier, "hash");
  if (!spec.names.empty()) {
    AddExtension(certificate, signer, NID_subject_alt_name, Joined(spec.names));
  }
  EVP_PKEY* const signing = issuer == nullptr ? made.key.get() : issuer->key.get();
  CHECK(X509_sign(certificate, signing, EVP_sha256()) > 0);

  const BioPtr pem(BIO_new(BIO_s_mem())), key(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(pem.get(), certificate);
  PEM_write_bio_PrivateKey(key.get(), made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  made.pem = Text(pem.get());
  made.key_pem = Text(key.get());
  return made;
}

Identity MakeAuthority(const std::string& common_name) {
  return MakeIdentity({.common_name = common_name, .authority = true});
}

std::string EncryptedKey(const Identity& identity) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  const unsigned char password[] = "secret";
  PEM_write_bio_PrivateKey(bio.get(), identity.key.get(), EVP_aes_128_cbc(), password,
                           sizeof(password) - 1, nullptr, nullptr);
  return Text(bio.get());
}

Identity MakeServer(const Identity& authority) {
  return MakeIdentity({.names = {"DNS:localhost", "IP:127.0.0.1"}}, &authority);
}

}  // namespace denselet::net
