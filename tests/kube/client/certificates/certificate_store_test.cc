#include "kube/client/certificates/certificate_store.h"

#include <gmock/gmock.h>

#include "tests/kube/client/certificates/certificates_fixture.h"

namespace denselet::kube {
namespace {

using reactor::Durability;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = reactor::FileInfo::Kind;

TEST(CertificateStore, KeepsEachCertificateInAFileAndLinksToTheNewest) {
  Machine machine;
  const StoredCertificate first = machine.StoreNew();
  EXPECT_EQ(machine.disk.Stat(kCurrent)->kind, Kind::kSymlink);
  const std::string first_path = *machine.disk.ReadLink(kCurrent);
  // The machine's clock begins at 490 000 hours; the file system takes some milliseconds.
  EXPECT_EQ(first_path, kPki + "/kubelet-client-2025-11-24-16-00-00.pem");
  EXPECT_EQ(machine.disk.Stat(first_path)->mode, 0600u);
  EXPECT_EQ(*machine.disk.ReadFile(first_path, 1 << 20), first.pem);

  machine.RunFor(Seconds(3725));
  const StoredCertificate second = machine.StoreNew();
  EXPECT_EQ(*machine.disk.ReadLink(kCurrent), kPki + "/kubelet-client-2025-11-24-17-02-05.pem");
  EXPECT_THAT(machine.Names(),
              ElementsAre("kubelet-client-2025-11-24-16-00-00.pem",
                          "kubelet-client-2025-11-24-17-02-05.pem", "kubelet-client-current.pem"));
  const Result<StoredCertificate> loaded = machine.Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->pem, second.pem);
  EXPECT_EQ(loaded->info.subject.common_name, "system:node:n1");
  EXPECT_THAT(loaded->info.subject.organizations, ElementsAre("system:nodes"));
}

TEST(CertificateStore, FilesAreNamedInLocalTime) {
  Machine machine;
  const CertificateFiles files{machine.loop(),   machine.files,
                               machine.logger(), kPki,
                               "kubelet-client", [](WallTime) -> Seconds {
                                 return -Hours(17); }};
  EXPECT_EQ(files.PathAt(WallTime(Hours(490'000))),
            kPki + "/kubelet-client-2025-11-23-23-00-00.pem");
}

TEST(CertificateStore, AnEmptyOrMissingDirectoryHasNone) {
  Machine machine;
  EXPECT_EQ(
      machine.Load().error(),
      Error(ErrorCode::kNotFound, "load \"/var/lib/kubelet/pki\": there is no usable certificate"));
  ASSERT_TRUE(machine.disk.MakeDirectories(kPki, 0755));
  EXPECT_EQ(machine.Load().error().code(), ErrorCode::kNotFound);
}

TEST(CertificateStore, WhatDoesNotBelongTogetherIsNotStored) {
  Machine machine;
  const StoredCertificate good = machine.StoreNew();
  const std::string key = *NewPrivateKey();
  EXPECT_EQ(machine.Store(machine.signer.Sign(key, "x"), *NewPrivateKey()).error(),
            Error(ErrorCode::kInvalid,
                  "store certificate: the private key does not belong to the certificate"));
  EXPECT_EQ(machine.Store("torn", key).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(machine.Load()->pem, good.pem);
}

TEST(CertificateStore, AFileInTheLinksPlaceIsReadButNeverReplaced) {
  Machine machine;
  const std::string key = *NewPrivateKey();
  const std::string own = machine.signer.Sign(key, "system:node:own") + key;
  ASSERT_TRUE(machine.disk.MakeDirectories(kPki, 0755));
  ASSERT_TRUE(machine.disk.ReplaceFile(kCurrent, own, 0600, Durability::kSynced, {}));
  EXPECT_EQ(machine.Load()->info.subject.common_name, "system:node:own");
  const Result<StoredCertificate> stored = machine.Store(machine.signer.Sign(key, "x"), key);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error(),
            Error(ErrorCode::kConflict, "store certificate: expected \"" + kCurrent +
                                            "\" to be a symlink but it is a file"));
  EXPECT_THAT(machine.Names(), ElementsAre("kubelet-client-current.pem")) << "nothing is littered";
}

TEST(CertificateStore, AFileInTheOtherLinksPlaceIsAnErrorToo) {
  Machine machine;
  const StoredCertificate old = machine.StoreNew();
  const std::string updated = kPki + "/kubelet-client-updated.pem";
  ASSERT_TRUE(machine.disk.ReplaceFile(updated, "mine", 0600, Durability::kSynced, {}));
  const std::string key = *NewPrivateKey();
  EXPECT_EQ(machine.Store(machine.signer.Sign(key, "x"), key).error().code(), ErrorCode::kConflict);
  EXPECT_EQ(machine.Load()->pem, old.pem);
}

TEST(CertificateStore, ALinkLeftFromAnInterruptedUpdateIsReplaced) {
  Machine machine;
  machine.StoreNew();
  ASSERT_TRUE(machine.disk.Symlink("/nowhere", kPki + "/kubelet-client-updated.pem", {}));
  machine.RunFor(Seconds(10));
  const StoredCertificate next = machine.StoreNew();
  EXPECT_EQ(machine.Load()->pem, next.pem);
  EXPECT_EQ(machine.Names().size(), 3u);
}

// The kubelet removes the old link before it renames the new one.
TEST(CertificateStore, AnUpdateThatTheKubeletDidNotFinishIsFinished) {
  Machine machine;
  const StoredCertificate stored = machine.StoreNew();
  ASSERT_TRUE(machine.disk.Rename(kCurrent, kPki + "/kubelet-client-updated.pem"));
  const Result<StoredCertificate> loaded = machine.Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->pem, stored.pem);
  EXPECT_EQ(machine.disk.Stat(kCurrent)->kind, Kind::kSymlink);
}

TEST(CertificateStore, ATornFileIsReportedAndTheNewestGoodOneIsUsed) {
  Machine machine;
  machine.StoreNew();
  machine.RunFor(Hours(1));
  const StoredCertificate second = machine.StoreNew();
  const std::string second_path = *machine.disk.ReadLink(kCurrent);
  machine.RunFor(Hours(1));
  machine.StoreNew();
  const std::string torn_path = *machine.disk.ReadLink(kCurrent);
  const std::string torn = machine.disk.ReadFile(torn_path, 1 << 20)->substr(0, 300);
  ASSERT_TRUE(machine.disk.ReplaceFile(torn_path, torn, 0600, Durability::kSynced, {}));
  ASSERT_TRUE(machine.disk.ReplaceFile(kPki + "/kubelet-client-2999-foreign.pem", "", 0600,
                                       Durability::kSynced, {}));
  const Result<StoredCertificate> loaded = machine.Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->pem, second.pem);
  EXPECT_EQ(*machine.disk.ReadLink(kCurrent), second_path) << "who watches the link sees it";
  const std::string log = machine.log.Take();
  EXPECT_THAT(log, HasSubstr("\"Passed over a certificate that cannot be used\""));
  EXPECT_THAT(log, HasSubstr("\"Went back to an older certificate\""));
}

TEST(CertificateStore, ALinkToNothingIsWorkedAround) {
  Machine machine;
  const StoredCertificate first = machine.StoreNew();
  machine.RunFor(Hours(1));
  machine.StoreNew();
  ASSERT_TRUE(machine.disk.Unlink(*machine.disk.ReadLink(kCurrent)));
  EXPECT_EQ(machine.Load()->pem, first.pem);
}

TEST(CertificateStore, ExpiredOnesAreNotGoneBackTo) {
  Machine machine;
  machine.StoreNew();
  machine.RunFor(Hours(200));
  EXPECT_TRUE(machine.Load()) << "what the link leads to is told, expired or not";
  ASSERT_TRUE(machine.disk.Unlink(kCurrent));
  EXPECT_EQ(machine.Load().error().code(), ErrorCode::kNotFound);
}

TEST(CertificateStore, APairOfFilesOfOldIsTakenOver) {
  Machine machine;
  const std::string key = *NewPrivateKey();
  ASSERT_TRUE(machine.disk.MakeDirectories(kPki, 0755));
  ASSERT_TRUE(machine.disk.ReplaceFile(kPki + "/kubelet-client.crt",
                                       machine.signer.Sign(key, "system:node:n1"), 0644,
                                       Durability::kSynced, {}));
  ASSERT_TRUE(
      machine.disk.ReplaceFile(kPki + "/kubelet-client.key", key, 0600, Durability::kSynced, {}));
  ASSERT_TRUE(machine.Load());
  EXPECT_EQ(machine.disk.Stat(kCurrent)->kind, Kind::kSymlink);
}

TEST(CertificateStore, AFailingDiskKeepsTheOldCertificate) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Machine machine(seed);
    const StoredCertificate old = machine.StoreNew();
    machine.RunFor(Hours(1));
    machine.disk.faults().error = 0.3;
    const std::string key = *NewPrivateKey();
    const Result<StoredCertificate> stored = machine.Store(machine.signer.Sign(key, "x"), key);
    machine.disk.faults().error = 0;
    const Result<StoredCertificate> loaded = machine.Load();
    ASSERT_TRUE(loaded) << "seed " << seed;
    if (stored) {
      EXPECT_EQ(loaded->pem, stored->pem) << "seed " << seed;
    } else {
      EXPECT_EQ(stored.error().code(), ErrorCode::kIo) << stored.error().message();
    }
  }
}

}  // namespace
}  // namespace denselet::kube
