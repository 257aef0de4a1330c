// Makes a certificate the one in use: its file, then the link, then the directory on the disk.
//
//   kCheckCurrent -> kCheckUpdated -> [kRemoveUpdated] -> kMakeDirectory -> kWriteFile ->
//   kLink -> kRename -> kSyncDirectory
//
// At every step the old link or the new one leads to a whole certificate. Owned by its callbacks,
// on the shard of the file system.
#pragma once

#include <memory>
#include <string>

#include "kube/client/certificates/certificate_store.h"

namespace denselet::kube {

class CertificateUpdate : public std::enable_shared_from_this<CertificateUpdate> {
 public:
  static void Start(const CertificateFiles& files, const Context& context,
                    std::string certificate_pem, std::string key_pem,
                    reactor::Done<StoredCertificate> done);
  // Sets the link to a file that is there already.
  static void Point(const CertificateFiles& files, const Context& context, std::string path,
                    StoredCertificate certificate, reactor::Done<StoredCertificate> done);

 private:
  enum class Stage : uint8_t {
    kCheckCurrent,
    kCheckUpdated,
    kRemoveUpdated,
    kMakeDirectory,
    kWriteFile,
    kLink,
    kRename,
    kSyncDirectory,
  };
  // Is there a new file to write, or only the link to set?
  enum class File : bool { kThere, kNew };

  CertificateUpdate(const CertificateFiles& files, const Context& context, std::string path,
                    File file, StoredCertificate certificate,
                    reactor::Done<StoredCertificate> done);

  void Run(Stage stage);
  // Both places are as they should be.
  Stage AfterChecks() const { return file_ == File::kNew ? Stage::kMakeDirectory : Stage::kLink; }
  void OnDone(Status status);
  void OnStat(const std::string& path, Result<reactor::FileInfo> info, Stage if_none,
              Stage if_link);
  void Fail(const Error& error) { done_(error.With("store certificate")); }

  const CertificateFiles files_;
  const Context context_;
  const std::string path_;
  const File file_;
  StoredCertificate certificate_;
  reactor::Done<StoredCertificate> done_;
  Stage stage_ = Stage::kCheckCurrent;
};

}  // namespace denselet::kube
