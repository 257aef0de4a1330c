#include "kube/client/certificates/certificate_store_load.h"

#include <utility>

#include "kube/client/certificates/certificate_store_update.h"
#include "reactor/net/tls/tls_client.h"

namespace denselet::kube {
namespace {

constexpr size_t kBytesMax = net::TlsClient::kPemBytesMax;
// Beyond this many files of whatever kind none is looked for: it is not our directory.
constexpr size_t kEntriesMax = 100'000;
// The newest of the others that are looked at.
constexpr size_t kOthersMax = 8;

Error None(const CertificateFiles& files) {
  return Error(ErrorCode::kNotFound, "there is no usable certificate")
      .With("load", files.directory);
}

}  // namespace

CertificateLoad::CertificateLoad(const CertificateFiles& files, const Context& context,
                                 reactor::Done<StoredCertificate> done)
    : files_(files), context_(context), done_(std::move(done)) {}

void CertificateLoad::Start(const CertificateFiles& files, const Context& context,
                            reactor::Done<StoredCertificate> done) {
  std::shared_ptr<CertificateLoad> load(new CertificateLoad(files, context, std::move(done)));
  load->ReadCurrent();
}

bool CertificateLoad::GivesUp(const Error& error) {
  const bool ended = error.code() == ErrorCode::kCancelled ||
                     error.code() == ErrorCode::kDeadlineExceeded ||
                     error.code() == ErrorCode::kUnknownOutcome;
  if (ended) done_(error.With("load certificate"));
  return ended;
}

void CertificateLoad::Report(const std::string& path, const Error& error) {
  files_.log.Error(error, "Passed over a certificate that cannot be used", KV("path", path));
}

// ---- the link

void CertificateLoad::ReadCurrent() {
  files_.files.ReadFile(
      context_, files_.CurrentPath(), kBytesMax,
      [self = shared_from_this()](Result<std::string> text) { self->OnCurrent(std::move(text)); });
}

void CertificateLoad::OnCurrent(Result<std::string> text) {
  if (text) {
    Result<StoredCertificate> certificate = ReadCertificateAndKey(*text, *text);
    if (certificate) return done_(*std::move(certificate));
    Report(files_.CurrentPath(), certificate.error());
  } else {
    if (GivesUp(text.error())) return;
    if (text.error().code() != ErrorCode::kNotFound) Report(files_.CurrentPath(), text.error());
  }
  if (!recovered_) return FinishUpdate();
  ReadPair();
}

// Somebody was stopped between making the new link and putting it in its place.
void CertificateLoad::FinishUpdate() {
  recovered_ = true;
  files_.files.Stat(
      context_, files_.UpdatedPath(),
      [self = shared_from_this()](Result<reactor::FileInfo> updated) {
        if (!updated && self->GivesUp(updated.error())) return;
        if (!updated || updated->kind != reactor::FileInfo::Kind::kSymlink) return self->ReadPair();
        self->files_.files.Stat(
            self->context_, self->files_.CurrentPath(), [self](Result<reactor::FileInfo> current) {
              const bool free = !current || current->kind == reactor::FileInfo::Kind::kSymlink;
              if (!free) return self->ReadPair();  // a file of somebody is not replaced
              self->files_.files.Rename(self->context_, self->files_.UpdatedPath(),
                                        self->files_.CurrentPath(), [self](Status renamed) {
                                          if (!renamed && self->GivesUp(renamed.error())) return;
                                          self->ReadCurrent();
                                        });
            });
      });
}

// ---- where certificates stood before they were rotated

void CertificateLoad::ReadPair() {
  const std::string stem = files_.directory + "/" + files_.prefix;
  files_.files.ReadFile(
      context_, stem + ".crt", kBytesMax,
      [self = shared_from_this(), stem](Result<std::string> certificate) {
        if (!certificate && self->GivesUp(certificate.error())) return;
        if (!certificate) return self->ListOthers();
        self->files_.files.ReadFile(
            self->context_, stem + ".key", kBytesMax,
            [self, certificate = *std::move(certificate)](Result<std::string> key) mutable {
              self->OnPair(std::move(certificate), std::move(key));
            });
      });
}

void CertificateLoad::OnPair(std::string certificate, Result<std::string> key) {
  if (!key && GivesUp(key.error())) return;
  const Status good = key ? CheckKeyFits(certificate, *key) : Status(key.error());
  if (!good) {
    Report(files_.directory + "/" + files_.prefix + ".crt", good.error());
    return ListOthers();
  }
  CertificateUpdate::Start(files_, context_, std::move(certificate), *std::move(key),
                           std::move(done_));
}

// ---- older ones

void CertificateLoad::ListOthers() {
  files_.files.List(
      context_, files_.directory, kEntriesMax,
      [self = shared_from_this()](Result<std::vector<reactor::DirectoryEntry>> entries) {
        if (!entries && self->GivesUp(entries.error())) return;
        if (entries) {
          for (const reactor::DirectoryEntry& entry : *entries) {
            if (!self->files_.IsDatedName(entry.name)) continue;
            self->others_.push_back(self->files_.directory + "/" + entry.name);
          }
        }
        if (self->others_.size() > kOthersMax) {
          self->others_.erase(self->others_.begin(), self->others_.end() - kOthersMax);
        }
        self->ReadNextOther();
      });
}

void CertificateLoad::ReadNextOther() {
  if (others_.empty()) return done_(None(files_));
  std::string path = std::move(others_.back());
  others_.pop_back();
  files_.files.ReadFile(context_, path, kBytesMax,
                        [self = shared_from_this(), path](Result<std::string> text) {
                          self->OnOther(path, std::move(text));
                        });
}

void CertificateLoad::OnOther(const std::string& path, Result<std::string> text) {
  if (!text && GivesUp(text.error())) return;
  Result<StoredCertificate> certificate =
      text ? ReadCertificateAndKey(*text, *text) : Result<StoredCertificate>(text.error());
  if (!certificate) {
    Report(path, certificate.error());
    return ReadNextOther();
  }
  if (certificate->info.chain_not_after <= files_.loop.WallNow()) return ReadNextOther();
  files_.log.Info("Went back to an older certificate", KV("path", path));
  CertificateUpdate::Point(files_, context_, path, *std::move(certificate), std::move(done_));
}

}  // namespace denselet::kube
