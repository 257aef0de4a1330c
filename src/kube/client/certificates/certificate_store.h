// Where an agent keeps its certificate: every one in a file of its own, with its key, and a link
// that says which one is in use.
//
//   kubelet-client-2026-01-02-15-04-05.pem   0600, chain and key
//   kubelet-client-current.pem -> /var/lib/kubelet/pki/kubelet-client-2026-01-02-15-04-05.pem
//
// The link is replaced as a whole (kubelet-client-updated.pem, renamed over it), so that it leads
// to a whole certificate at every moment, a power cut included. Who uses the certificate watches
// the link's path. Old files are left: the kubelet leaves them, too.
//
// Lives on the shard of its file system; operations under way outlive it.
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client/certificates/csr.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"

namespace denselet::kube {

struct StoredCertificate {
  std::string pem = {};  // chain and key
  CertificateInfo info = {};
};

// A file that holds both, or two texts: a certificate with the key that belongs to it.
Result<StoredCertificate> ReadCertificateAndKey(std::string_view certificate_pem,
                                                std::string_view key_pem);

// What the operations share.
struct CertificateFiles {
  reactor::Loop& loop;
  reactor::FileSystem& files;
  Logger log;
  std::string directory;  // absolute
  std::string prefix;     // "kubelet-client"
  // Of the time zone in which files are named (reactor/local_time); null: UTC.
  Seconds (*utc_offset)(WallTime) = nullptr;

  std::string Path(std::string_view qualifier) const;  // ".../kubelet-client-<qualifier>.pem"
  std::string CurrentPath() const { return Path("current"); }
  std::string UpdatedPath() const { return Path("updated"); }
  // Of a certificate that is stored at this time, which is written as local time.
  std::string PathAt(WallTime time) const;
  // Is it the name of such a file?
  bool IsDatedName(std::string_view name) const;
};

class CertificateStore {
 public:
  explicit CertificateStore(CertificateFiles files) : files_(std::move(files)) {}

  // The path of the link; it need not exist yet.
  std::string current_path() const { return files_.CurrentPath(); }
  const std::string& directory() const { return files_.directory; }

  // The certificate in use, expired or not. What is torn or foreign is reported and passed over:
  // then it is the newest of the others that is still good, or that of kubelet-client.crt and .key,
  // to which the link is set. kNotFound: there is none that could be used.
  void Load(const Context& context, reactor::Done<StoredCertificate> done) const;

  // Makes it the one in use; answered when it would survive a power cut. kInvalid: they cannot be
  // read or do not belong together. kConflict: something that is no link stands in the link's
  // place, and is left there.
  void Store(const Context& context, std::string certificate_pem, std::string key_pem,
             reactor::Done<StoredCertificate> done) const;

 private:
  CertificateFiles files_;
};

}  // namespace denselet::kube
