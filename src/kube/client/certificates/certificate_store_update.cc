#include "kube/client/certificates/certificate_store_update.h"

#include <utility>

namespace denselet::kube {

CertificateUpdate::CertificateUpdate(const CertificateFiles& files, const Context& context,
                                     std::string path, File file, StoredCertificate certificate,
                                     reactor::Done<StoredCertificate> done)
    : files_(files),
      context_(context),
      path_(std::move(path)),
      file_(file),
      certificate_(std::move(certificate)),
      done_(std::move(done)) {}

void CertificateUpdate::Start(const CertificateFiles& files, const Context& context,
                              std::string certificate_pem, std::string key_pem,
                              reactor::Done<StoredCertificate> done) {
  Result<StoredCertificate> certificate = ReadCertificateAndKey(certificate_pem, key_pem);
  if (!certificate) {
    files.loop.Post([done = std::move(done), error = certificate.error()]() mutable {
      done(error.With("store certificate"));
    });
    return;
  }
  std::shared_ptr<CertificateUpdate> update(
      new CertificateUpdate(files, context, files.PathAt(files.loop.WallNow()), File::kNew,
                            *std::move(certificate), std::move(done)));
  update->Run(Stage::kCheckCurrent);
}

void CertificateUpdate::Point(const CertificateFiles& files, const Context& context,
                              std::string path, StoredCertificate certificate,
                              reactor::Done<StoredCertificate> done) {
  std::shared_ptr<CertificateUpdate> update(new CertificateUpdate(
      files, context, std::move(path), File::kThere, std::move(certificate), std::move(done)));
  update->Run(Stage::kCheckCurrent);
}

void CertificateUpdate::Run(Stage stage) {
  stage_ = stage;
  reactor::FileSystem& files = files_.files;
  const auto next = [self = shared_from_this()](Status status) { self->OnDone(std::move(status)); };
  switch (stage) {
    case Stage::kCheckCurrent:
      return files.Stat(context_, files_.CurrentPath(),
                        [self = shared_from_this()](Result<reactor::FileInfo> info) {
                          self->OnStat(self->files_.CurrentPath(), std::move(info),
                                       Stage::kCheckUpdated, Stage::kCheckUpdated);
                        });
    case Stage::kCheckUpdated:
      return files.Stat(context_, files_.UpdatedPath(),
                        [self = shared_from_this()](Result<reactor::FileInfo> info) {
                          self->OnStat(self->files_.UpdatedPath(), std::move(info),
                                       self->AfterChecks(), Stage::kRemoveUpdated);
                        });
    case Stage::kRemoveUpdated:
      return files.Unlink(context_, files_.UpdatedPath(), next);
    case Stage::kMakeDirectory:
      return files.MakeDirectories(context_, files_.directory, 0755, reactor::Durability::kSynced,
                                   next);
    case Stage::kWriteFile:
      return files.ReplaceFile(context_, path_, certificate_.pem, 0600,
                               reactor::Durability::kSynced, next);
    case Stage::kLink:
      return files.Symlink(context_, path_, files_.UpdatedPath(), next);
    case Stage::kRename:
      return files.Rename(context_, files_.UpdatedPath(), files_.CurrentPath(), next);
    case Stage::kSyncDirectory:
      return files.SyncDirectory(context_, files_.directory, next);
  }
}

void CertificateUpdate::OnDone(Status status) {
  if (!status) return Fail(status.error());
  switch (stage_) {
    case Stage::kMakeDirectory:
      return Run(Stage::kWriteFile);
    case Stage::kWriteFile:
      return Run(Stage::kLink);
    case Stage::kRemoveUpdated:
      return Run(AfterChecks());
    case Stage::kLink:
      return Run(Stage::kRename);
    case Stage::kRename:
      return Run(Stage::kSyncDirectory);
    case Stage::kSyncDirectory:
      files_.log.Info("Stored certificate", KV("path", path_));
      return done_(std::move(certificate_));
    case Stage::kCheckCurrent:
    case Stage::kCheckUpdated:
      break;  // they answer to OnStat
  }
}

void CertificateUpdate::OnStat(const std::string& path, Result<reactor::FileInfo> info,
                               Stage if_none, Stage if_link) {
  if (!info && info.error().code() == ErrorCode::kNotFound) return Run(if_none);
  if (!info) return Fail(info.error());
  if (info->kind == reactor::FileInfo::Kind::kSymlink) return Run(if_link);
  Fail(Error(ErrorCode::kConflict, "expected \"" + path + "\" to be a symlink but it is a file"));
}

}  // namespace denselet::kube
