#include "reactor/net/tls/tls_words.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <vector>

#include "base/quoted.h"
#include "reactor/net/tls/openssl_ptr.h"

namespace denselet::net {
namespace {

constexpr size_t kShownBytesMax = 200;
constexpr size_t kShownNamesMax = 8;

std::string NameText(const X509_NAME* name) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return Quoted(std::string_view(data, static_cast<size_t>(size)));
}

std::string AddressText(const ASN1_STRING* address) {
  char text[INET6_ADDRSTRLEN] = "";
  const int size = ASN1_STRING_length(address);
  const unsigned char* const data = ASN1_STRING_get0_data(address);
  if (size == 4) ::inet_ntop(AF_INET, data, text, sizeof(text));
  if (size == 16) ::inet_ntop(AF_INET6, data, text, sizeof(text));
  return Quoted(text);
}

std::string NameText(const ASN1_STRING* name) {
  return Quoted({reinterpret_cast<const char*>(ASN1_STRING_get0_data(name)),
                 static_cast<size_t>(ASN1_STRING_length(name))});
}

}  // namespace

std::string Quoted(std::string_view text) { return denselet::Quoted(text, kShownBytesMax); }

std::string Subject(const x509_st* certificate) {
  return NameText(X509_get_subject_name(certificate));
}

std::string Issuer(const x509_st* certificate) {
  return NameText(X509_get_issuer_name(certificate));
}

std::string ServerNames(const x509_st* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::string text;
  size_t count = 0;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    if (++count > kShownNamesMax) continue;
    text += count == 1 ? "" : ", ";
    text += name->type == GEN_DNS ? NameText(name->d.dNSName) : AddressText(name->d.iPAddress);
  }
  if (count > kShownNamesMax) text += " and " + std::to_string(count - kShownNamesMax) + " more";
  return text;
}

std::optional<WallTime> ToWallTime(const asn1_string_st* time) {
  std::tm civil{};
  if (ASN1_TIME_to_tm(time, &civil) != 1) return std::nullopt;
  const int64_t seconds = ::timegm(&civil);
  // Years beyond what nanoseconds hold (1678 to 2261) stand for "always" in certificates.
  constexpr int64_t kSecondsMax = INT64_MAX / 1'000'000'000 - 1;
  if (seconds > kSecondsMax) return WallTime(Seconds(kSecondsMax));
  if (seconds < -kSecondsMax) return WallTime(Seconds(-kSecondsMax));
  return WallTime(Seconds(seconds));
}

std::string LastReason() {
  const unsigned long error = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(error);
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

}  // namespace denselet::net
