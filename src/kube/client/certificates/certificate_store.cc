#include "kube/client/certificates/certificate_store.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "kube/client/certificates/certificate_store_load.h"
#include "kube/client/certificates/certificate_store_update.h"

namespace denselet::kube {

Result<StoredCertificate> ReadCertificateAndKey(std::string_view certificate_pem,
                                                std::string_view key_pem) {
  Result<std::string> pem = JoinCertificateAndKey(certificate_pem, key_pem);
  if (!pem) return pem.error();
  Result<CertificateInfo> info = ReadCertificate(certificate_pem);
  if (!info) return info.error();
  return StoredCertificate{.pem = *std::move(pem), .info = *std::move(info)};
}

std::string CertificateFiles::Path(std::string_view qualifier) const {
  return directory + "/" + prefix + "-" + std::string(qualifier) + ".pem";
}

std::string CertificateFiles::PathAt(WallTime time) const {
  const Seconds offset = utc_offset == nullptr ? Seconds(0) : utc_offset(time);
  const CivilTime t = ToCivil(time + offset);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d-%02d-%02d-%02d", t.year, t.month, t.day,
                t.hour, t.minute, t.second);
  return Path(text.data());
}

bool CertificateFiles::IsDatedName(std::string_view name) const {
  constexpr std::string_view kPattern = "-0000-00-00-00-00-00.pem";
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kPattern.size()) return false;
  name.remove_prefix(prefix.size());
  return std::equal(name.begin(), name.end(), kPattern.begin(), [](char have, char want) {
    return want == '0' ? have >= '0' && have <= '9' : have == want;
  });
}

void CertificateStore::Load(const Context& context, reactor::Done<StoredCertificate> done) const {
  CertificateLoad::Start(files_, context, std::move(done));
}

void CertificateStore::Store(const Context& context, std::string certificate_pem,
                             std::string key_pem, reactor::Done<StoredCertificate> done) const {
  CertificateUpdate::Start(files_, context, std::move(certificate_pem), std::move(key_pem),
                           std::move(done));
}

}  // namespace denselet::kube
