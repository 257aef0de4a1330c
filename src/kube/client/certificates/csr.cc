#include "kube/client/certificates/csr.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/base64.h"
#include "reactor/net/tls/openssl_ptr.h"
#include "reactor/net/tls/tls_pem.h"

namespace denselet::kube {
namespace {

using net::BioPtr;
using net::KeyPtr;

struct RequestFree {
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(STACK_OF(X509_EXTENSION) * extensions) const {
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  }
};
using RequestPtr = std::unique_ptr<X509_REQ, RequestFree>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, RequestFree>;
using ExtensionsPtr = std::unique_ptr<STACK_OF(X509_EXTENSION), RequestFree>;

Error Invalid(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

// OpenSSL has failed where it has no reason to but memory.
Error Failed(std::string_view doing) {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return Error(ErrorCode::kInvalid, reason == nullptr ? "no reason given" : reason).With(doing);
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

Result<std::string> KeyText(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
      1) {
    return Failed("write private key");
  }
  return TextOf(bio.get());
}

std::string Utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) {
    ERR_clear_error();
    return {};
  }
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return copy;
}

std::vector<std::string> EntriesOf(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    values.push_back(Utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  }
  return values;
}

void ReadName(const X509_NAME* name, CertificateSubject& subject) {
  std::vector<std::string> common = EntriesOf(name, NID_commonName);
  if (!common.empty()) subject.common_name = std::move(common.back());  // as Go has it
  subject.organizations = EntriesOf(name, NID_organizationName);
}

// As it stands in a certificate: 4 or 16 bytes.
Result<std::string> AddressBytes(const std::string& text) {
  ASN1_OCTET_STRING* const octets = a2i_IPADDRESS(text.c_str());
  if (octets == nullptr) {
    ERR_clear_error();
    return Invalid("not an IP address: \"" + text + "\"");
  }
  std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(octets)),
                    static_cast<size_t>(ASN1_STRING_length(octets)));
  ASN1_OCTET_STRING_free(octets);
  return bytes;
}

// The one way to write it; empty when it is none.
std::string AddressText(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  return ::inet_ntop(family, bytes.data(), text.data(), text.size());
}

void ReadNames(const GENERAL_NAMES* names, CertificateSubject& subject) {
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) subject.dns_names.push_back(Utf8(name->d.dNSName));
    if (name->type != GEN_IPADD) continue;
    const char* const bytes =
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.iPAddress));
    const auto size = static_cast<size_t>(ASN1_STRING_length(name->d.iPAddress));
    subject.addresses.push_back(AddressText({bytes, size}));
  }
}

Result<WallTime> ReadTime(const ASN1_TIME* time) {
  tm civil{};
  if (ASN1_TIME_to_tm(time, &civil) != 1) return Failed("read time of certificate");
  using namespace std::chrono;
  const sys_days day =
      year_month_day(year(civil.tm_year + 1900), month(static_cast<unsigned>(civil.tm_mon + 1)),
                     std::chrono::day(static_cast<unsigned>(civil.tm_mday)));
  const int64_t seconds = duration_cast<Seconds>(day.time_since_epoch()).count() +
                          civil.tm_hour * 3600 + civil.tm_min * 60 + civil.tm_sec;
  return ToWallTime({.seconds = seconds, .nanos = 0});  // 9999-12-31 is the end of all times
}

bool AddEntry(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool PushDns(GENERAL_NAMES* names, const std::string& dns) {
  GENERAL_NAME* const name = GENERAL_NAME_new();
  ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
  const bool set = ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size())) == 1;
  GENERAL_NAME_set0_value(name, GEN_DNS, text);
  sk_GENERAL_NAME_push(names, name);
  return set;
}

bool PushAddress(GENERAL_NAMES* names, const std::string& bytes) {
  GENERAL_NAME* const name = GENERAL_NAME_new();
  ASN1_OCTET_STRING* const octets = ASN1_OCTET_STRING_new();
  const bool set = ASN1_STRING_set(octets, bytes.data(), static_cast<int>(bytes.size())) == 1;
  GENERAL_NAME_set0_value(name, GEN_IPADD, octets);
  sk_GENERAL_NAME_push(names, name);
  return set;
}

Status AddNames(X509_REQ* request, const CertificateSubject& subject) {
  if (subject.dns_names.empty() && subject.addresses.empty()) return Ok();
  const NamesPtr names(GENERAL_NAMES_new());
  bool good = true;
  for (const std::string& dns : subject.dns_names) good &= PushDns(names.get(), dns);
  for (const std::string& address : subject.addresses) {
    const Result<std::string> bytes = AddressBytes(address);
    if (!bytes) return bytes.error();
    good &= PushAddress(names.get(), *bytes);
  }
  STACK_OF(X509_EXTENSION)* raw = nullptr;
  good = good && X509V3_add1_i2d(&raw, NID_subject_alt_name, names.get(), 0, 0) == 1;
  const ExtensionsPtr extensions(raw);
  if (!good || X509_REQ_add_extensions(request, extensions.get()) != 1) {
    return Failed("add names to certificate request");
  }
  return Ok();
}

// Go's base64.RawURLEncoding.
std::string UrlEncode(std::string_view bytes) {
  std::string text = Base64Encode(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> PublicKeyBytes(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key, &bytes);
  if (size < 0) return Failed("write public key");
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return copy;
}

bool HasAll(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(
      wanted, [&](const std::string& one) { return std::ranges::find(have, one) != have.end(); });
}

}  // namespace

CertificateSubject CertificateSubject::OfNode(std::string_view node_name) {
  return {.common_name = "system:node:" + std::string(node_name),
          .organizations = {"system:nodes"}};
}

bool CertificateInfo::Satisfies(const CertificateSubject& wanted) const {
  std::vector<std::string> addresses;
  for (const std::string& address : wanted.addresses) {
    const Result<std::string> bytes = AddressBytes(address);
    if (!bytes) return false;
    addresses.push_back(AddressText(*bytes));
  }
  return subject.common_name == wanted.common_name &&
         HasAll(subject.organizations, wanted.organizations) &&
         HasAll(subject.dns_names, wanted.dns_names) && HasAll(subject.addresses, addresses);
}

Result<std::string> NewPrivateKey() {
  ERR_clear_error();
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make private key");
  return KeyText(key.get());
}

Result<std::string> MakeSigningRequest(const CertificateSubject& subject,
                                       std::string_view key_pem) {
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  if (!key) return key.error().With("private key");
  const RequestPtr request(X509_REQ_new());
  X509_NAME* const name = X509_REQ_get_subject_name(request.get());
  bool good = X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1;
  // In the order in which Go writes them.
  for (const std::string& organization : subject.organizations) {
    good = good && AddEntry(name, "O", organization);
  }
  good = good && AddEntry(name, "CN", subject.common_name) &&
         X509_REQ_set_pubkey(request.get(), key->get()) == 1;
  if (!good) return Failed("make certificate request");
  if (Status added = AddNames(request.get(), subject); !added) return added.error();
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (X509_REQ_sign(request.get(), key->get(), EVP_sha256()) <= 0 ||
      PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) {
    return Failed("sign certificate request");
  }
  return TextOf(bio.get());
}

Result<CertificateInfo> ReadCertificate(std::string_view pem) {
  const Result<std::vector<net::X509Ptr>> chain = net::ReadCertificates(pem);
  if (!chain) return chain.error();
  CertificateInfo info;
  const X509* const first = chain->front().get();
  ReadName(X509_get_subject_name(first), info.subject);
  const NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(first, NID_subject_alt_name, nullptr, nullptr)));
  if (names != nullptr) ReadNames(names.get(), info.subject);
  ERR_clear_error();
  const Result<WallTime> not_before = ReadTime(X509_get0_notBefore(first));
  if (!not_before) return not_before.error();
  info.not_before = *not_before;
  info.chain_not_after = WallTime::max();
  for (const net::X509Ptr& certificate : *chain) {
    const Result<WallTime> not_after = ReadTime(X509_get0_notAfter(certificate.get()));
    if (!not_after) return not_after.error();
    if (certificate.get() == first) info.not_after = *not_after;
    info.chain_not_after = std::min(info.chain_not_after, *not_after);
  }
  return info;
}

Status CheckKeyFits(std::string_view certificate_pem, std::string_view key_pem) {
  const Result<std::vector<net::X509Ptr>> chain = net::ReadCertificates(certificate_pem);
  if (!chain) return chain.error().With("certificate");
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  if (!key) return key.error().With("private key");
  const bool fits = X509_check_private_key(chain->front().get(), key->get()) == 1;
  ERR_clear_error();
  if (!fits) return Invalid("the private key does not belong to the certificate");
  return Ok();
}

Status CheckRequestFits(std::string_view request_pem, std::string_view key_pem,
                        const CertificateSubject& wanted) {
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  if (!key) return key.error().With("private key");
  ERR_clear_error();
  const BioPtr bio(BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())));
  const RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  if (request == nullptr) return Failed("read certificate request");
  CertificateSubject asked;
  ReadName(X509_REQ_get_subject_name(request.get()), asked);
  if (asked.common_name != wanted.common_name || asked.organizations != wanted.organizations) {
    return Invalid("it is for another subject, \"" + asked.common_name + "\"");
  }
  const bool ours = X509_REQ_verify(request.get(), key->get()) == 1;
  ERR_clear_error();
  if (!ours) return Invalid("it was signed with another key");
  return Ok();
}

Result<std::string> JoinCertificateAndKey(std::string_view certificate_pem,
                                          std::string_view key_pem) {
  if (Status fits = CheckKeyFits(certificate_pem, key_pem); !fits) return fits.error();
  const Result<std::vector<net::X509Ptr>> chain = net::ReadCertificates(certificate_pem);
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  for (const net::X509Ptr& certificate : *chain) {
    if (PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return Failed("write certificate");
  }
  const Result<std::string> key_text = KeyText(key->get());
  if (!key_text) return key_text.error();
  return TextOf(bio.get()) + *key_text;
}

Result<bool> IsRsaKey(std::string_view key_pem) {
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  if (!key) return key.error();
  return EVP_PKEY_get_base_id(key->get()) == EVP_PKEY_RSA;
}

Result<std::string> DigestedRequestName(std::string_view key_pem, const CertificateSubject& subject,
                                        const std::vector<std::string>& usages) {
  const Result<KeyPtr> key = net::ReadKey(key_pem);
  if (!key) return key.error().With("private key");
  const Result<std::string> public_key = PublicKeyBytes(key->get());
  if (!public_key) return public_key.error();
  std::string text;
  // Each part with a sign behind it that is in none, so that no two lists make the same text.
  const auto add = [&text](std::string_view part) { text.append(UrlEncode(part)).append("|"); };
  add(*public_key);
  add(subject.common_name);
  for (const std::string& organization : subject.organizations) add(organization);
  for (const std::string& usage : usages) add(usage);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha512_256(), nullptr) != 1) {
    return Failed("digest");
  }
  return "node-csr-" + UrlEncode({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace denselet::kube
