#include "kube/client/certificates/kubeconfig_check.h"

#include <utility>

#include "kube/client/certificates/csr.h"
#include "reactor/net/tls/tls_client.h"

namespace denselet::kube {
namespace {

constexpr size_t kKubeconfigBytesMax = 4 << 20;

void ReadPart(reactor::FileSystem& files, reactor::Loop& loop, const Context& context,
              const InlineOrFile& part, reactor::Done<std::string> done) {
  if (!part.data.empty() || part.path.empty()) {
    loop.Post([done = std::move(done), data = part.data]() mutable { done(std::move(data)); });
    return;
  }
  files.ReadFile(context, part.path, net::TlsClient::kPemBytesMax, std::move(done));
}

}  // namespace

void ReadClientCertificate(reactor::FileSystem& files, const Context& context,
                           const ClusterAccess& access, reactor::Loop& loop,
                           reactor::Done<ClientCertificateText> done) {
  if (access.certificate.empty() || access.key.empty()) {
    loop.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kNotFound, "there is no client certificate in it"));
    });
    return;
  }
  ReadPart(files, loop, context, access.certificate,
           [&files, &loop, context, key = access.key,
            done = std::move(done)](Result<std::string> certificate) mutable {
             if (!certificate) return done(certificate.error());
             ReadPart(files, loop, context, key,
                      [certificate = *std::move(certificate),
                       done = std::move(done)](Result<std::string> text) mutable {
                        if (!text) return done(text.error());
                        done(ClientCertificateText{std::move(certificate), *std::move(text)});
                      });
           });
}

Status CheckClientCertificate(const ClientCertificateText& text, WallTime now) {
  if (Status fits = CheckKeyFits(text.certificate_pem, text.key_pem); !fits) return fits;
  const Result<CertificateInfo> info = ReadCertificate(text.certificate_pem);
  if (!info) return info.error();
  if (now > info->chain_not_after) {
    return Error(ErrorCode::kInvalid,
                 "a part of it has expired: " + FormatRfc3339(info->chain_not_after, 0));
  }
  return Ok();
}

void LoadKubeconfig(reactor::FileSystem& files, const Context& context, std::string path,
                    reactor::Done<ClusterAccess> done) {
  files.ReadFile(
      context, path, kKubeconfigBytesMax,
      [path, done = std::move(done)](Result<std::string> text) mutable {
        if (!text && text.error().code() == ErrorCode::kNotFound) {
          return done(
              Error(ErrorCode::kNotFound, "there is no such file").With("kubeconfig", path));
        }
        if (!text) return done(text.error().With("kubeconfig"));
        done(ReadKubeconfig(*text, path));
      });
}

void CheckKubeconfig(reactor::FileSystem& files, reactor::Loop& loop, Logger log,
                     const Context& context, std::string path,
                     reactor::Done<KubeconfigCheck> done) {
  const auto on_certificate = [&loop, log, path](const ClusterAccess& access,
                                                 const Result<ClientCertificateText>& text) {
    const Status good = text ? CheckClientCertificate(*text, loop.WallNow()) : text.error();
    if (!good) {
      log.Error(good.error(), "The kubeconfig's client certificate cannot be used",
                KV("path", path));
    }
    return KubeconfigCheck{.access = access, .valid = static_cast<bool>(good)};
  };
  files.ReadFile(context, path, kKubeconfigBytesMax,
                 [&files, &loop, log, context, path, on_certificate,
                  done = std::move(done)](Result<std::string> text) mutable {
                   if (!text && text.error().code() == ErrorCode::kNotFound)
                     return done(KubeconfigCheck{});
                   if (!text) return done(text.error());
                   const Result<ClusterAccess> access = ReadKubeconfig(*text, path);
                   if (!access) {
                     log.Error(access.error(), "The kubeconfig cannot be used", KV("path", path));
                     return done(KubeconfigCheck{});
                   }
                   ReadClientCertificate(files, context, *access, loop,
                                         [on_certificate, access = *access, done = std::move(done)](
                                             Result<ClientCertificateText> certificate) mutable {
                                           done(on_certificate(access, certificate));
                                         });
                 });
}

}  // namespace denselet::kube
