// Finds the certificate in use, and makes the best of it when that is torn, foreign or gone.
//
//   kCurrent -> kUpdated (a link that was not renamed any more) -> kCurrent, once
//            -> kPair (kubelet-client.crt and .key) -> kOthers: the newest that is good
//
// Owned by its callbacks, on the shard of the file system.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kube/client/certificates/certificate_store.h"

namespace denselet::kube {

class CertificateLoad : public std::enable_shared_from_this<CertificateLoad> {
 public:
  static void Start(const CertificateFiles& files, const Context& context,
                    reactor::Done<StoredCertificate> done);

 private:
  CertificateLoad(const CertificateFiles& files, const Context& context,
                  reactor::Done<StoredCertificate> done);

  void ReadCurrent();
  void OnCurrent(Result<std::string> text);
  void FinishUpdate();
  void ReadPair();
  void OnPair(std::string certificate, Result<std::string> key);
  void ListOthers();
  void ReadNextOther();
  void OnOther(const std::string& path, Result<std::string> text);
  // True: the answer cannot be waited for any more.
  bool GivesUp(const Error& error);
  void Report(const std::string& path, const Error& error);

  const CertificateFiles files_;
  const Context context_;
  reactor::Done<StoredCertificate> done_;
  bool recovered_ = false;           // the link was renamed into its place, or could not be
  std::vector<std::string> others_;  // paths, the newest last
};

}  // namespace denselet::kube
