#include "kube/client/certificates/rotation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "kube/client/certificates/client_certificate_metrics.h"
#include "tests/kube/client/certificates/certificates_fixture.h"

namespace denselet::kube {
namespace {

using Mood = FakeSigner::Mood;
using testing::ElementsAre;
using testing::HasSubstr;

class Rotation : public testing::Test {
 protected:
  void Start(uint64_t seed = 1) {
    machine_ = std::make_unique<Machine>(seed);
    options_.purpose = CertificatePurpose::ClientOfNode("n1");
  }
  void Begin(sync::ApiServer* bootstrap = nullptr, std::optional<InitialCertificate> initial = {}) {
    rotation_ = std::make_unique<CertificateRotation>(
        RotationParts{machine_->loop(), machine_->world.random(), machine_->logger(),
                      machine_->store, machine_->signer, bootstrap},
        options_, std::move(initial), told_);
  }
  void TearDown() override {
    rotation_.reset();
    machine_.reset();
  }
  bool RunUntilCertificates(size_t count, Duration limit = Hours(1)) {
    return machine_->RunUntil([&] { return told_.certificates.size() >= count; }, limit);
  }
  bool RunUntilErrors(size_t count, Duration limit = Hours(1)) {
    return machine_->RunUntil([&] { return told_.errors.size() >= count; }, limit);
  }

  RotationOptions options_;
  std::unique_ptr<Machine> machine_;
  Told told_;
  std::unique_ptr<CertificateRotation> rotation_;
};

TEST(RotationDeadline, LiesBetween70And90PercentOfTheLifetime) {
  const CertificateInfo info{.not_before = WallTime(Hours(1000)),
                             .not_after = WallTime(Hours(1100))};
  EXPECT_EQ(RotationDeadline(info, 0), WallTime(Hours(1070)));
  EXPECT_EQ(RotationDeadline(info, 0.5), WallTime(Hours(1080)));
  EXPECT_GT(RotationDeadline(info, 0.999), WallTime(Hours(1089)));
  EXPECT_LE(RotationDeadline(info, 0.999), WallTime(Hours(1090)));
}

TEST_F(Rotation, TheFirstCertificateIsAskedForAtOnce) {
  Start();
  Begin();
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
  ASSERT_EQ(machine_->signer.created().size(), 1u);
  const FakeSigner::Csr& csr = machine_->signer.created()[0];
  EXPECT_EQ(csr.metadata().generatename(), "csr-");
  EXPECT_EQ(csr.spec().signername(), "kubernetes.io/kube-apiserver-client-kubelet");
  EXPECT_THAT(csr.spec().usages(), ElementsAre("digital signature", "client auth"));
  EXPECT_FALSE(csr.spec().has_expirationseconds());
  EXPECT_TRUE(rotation_->Current()->Satisfies(CertificateSubject::OfNode("n1")));
  EXPECT_EQ(machine_->Load()->info.not_after, rotation_->Current()->not_after);
  EXPECT_EQ(machine_->signer.watches(), 0u) << "nobody waits any more";
}

TEST_F(Rotation, ALifetimeIsAskedForInSeconds) {
  Start();
  options_.purpose.lifetime = Minutes(30);
  Begin();
  ASSERT_TRUE(RunUntilCertificates(1));
  EXPECT_EQ(machine_->signer.created()[0].spec().expirationseconds(), 1800);
  EXPECT_EQ(rotation_->Current()->not_after - rotation_->Current()->not_before, Minutes(30));
}

TEST_F(Rotation, EachNextOneIsAskedForInTimeAndNoSooner) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Start(seed);
    told_ = {};
    const StoredCertificate old = machine_->StoreNew();
    Begin();
    ASSERT_TRUE(RunUntilCertificates(1)) << "the stored one is in use";
    EXPECT_EQ(told_.certificates[0].not_after, old.info.not_after);
    const WallTime deadline = *rotation_->deadline();
    EXPECT_GE(deadline, old.info.not_before + Hours(70));
    EXPECT_LE(deadline, old.info.not_before + Hours(90));
    machine_->RunFor(deadline - machine_->WallNow() - Seconds(1));
    EXPECT_TRUE(machine_->signer.created().empty()) << "seed " << seed;
    machine_->RunFor(Seconds(10));
    ASSERT_EQ(machine_->signer.created().size(), 1u) << "seed " << seed;
    EXPECT_EQ(told_.certificates.size(), 2u);
    rotation_.reset();
    machine_.reset();
  }
}

TEST_F(Rotation, KeysAreNeverUsedTwice) {
  Start();
  machine_->signer.lifetime = Hours(1);
  Begin();
  ASSERT_TRUE(RunUntilCertificates(5, Hours(10)));
  std::set<std::string> files;
  for (const std::string& name : machine_->Names()) {
    if (name.find("current") != name.npos) continue;
    files.insert(*machine_->disk.ReadFile(kPki + "/" + name, 1 << 20));
  }
  EXPECT_EQ(files.size(), 5u);
  EXPECT_TRUE(told_.errors.empty());
}

TEST_F(Rotation, AWallClockThatJumpsIsNoticedWithinAMinute) {
  Start();
  machine_->StoreNew();
  Begin();
  ASSERT_TRUE(RunUntilCertificates(1));
  machine_->RunFor(Seconds(30));
  machine_->world.clock().JumpWall(Hours(95));
  machine_->RunFor(Seconds(61));
  ASSERT_EQ(told_.certificates.size(), 2u);
  EXPECT_GT(*rotation_->deadline(), machine_->WallNow());
  // Back in time: nothing is lost, and nothing is asked for.
  machine_->world.clock().JumpWall(-Hours(95));
  machine_->RunFor(Hours(24));
  EXPECT_EQ(told_.certificates.size(), 2u);
  EXPECT_NE(rotation_->Current(), nullptr);
}

TEST_F(Rotation, AnExpiredCertificateIsRenewedWithTheBootstrapCredentials) {
  Start();
  machine_->StoreNew();
  machine_->RunFor(Hours(101));
  FakeSigner bootstrap(machine_->loop());
  Begin(&bootstrap);
  ASSERT_TRUE(RunUntilCertificates(1));
  EXPECT_EQ(bootstrap.created().size(), 1u);
  EXPECT_TRUE(machine_->signer.created().empty());
  // From then on it is known by its certificate.
  ASSERT_TRUE(RunUntilCertificates(2, Hours(100)));
  EXPECT_EQ(bootstrap.created().size(), 1u);
  EXPECT_EQ(machine_->signer.created().size(), 1u);
  rotation_.reset();
}

TEST_F(Rotation, ADenialIsToldAndAskedAgainWithPauses) {
  Start();
  machine_->signer.mood = Mood::kDenies;
  Begin();
  ASSERT_TRUE(RunUntilErrors(1));
  EXPECT_EQ(told_.errors[0],
            Error(ErrorCode::kConflict,
                  "certificate signing request \"csr-0\": it was denied, reason \"Because\", "
                  "message \"of \\\"reasons\\\"\""));
  ASSERT_TRUE(RunUntilErrors(8));
  machine_->signer.mood = Mood::kSigns;
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(2)));
}

TEST_F(Rotation, AFailureOfTheSignerIsTold) {
  Start();
  machine_->signer.mood = Mood::kFails;
  Begin();
  ASSERT_TRUE(RunUntilErrors(1));
  EXPECT_THAT(told_.errors[0].message(), HasSubstr("it failed, reason \"Because\""));
}

TEST_F(Rotation, PausesDoubleFromTwoSecondsAndStayAt32) {
  Start();
  machine_->signer.mood = Mood::kAway;
  Begin();
  std::vector<double> pauses;
  TimePoint last;
  for (size_t i = 1; i <= 8; ++i) {
    ASSERT_TRUE(RunUntilErrors(i));
    const TimePoint now = machine_->world.clock().Now();
    if (i > 1) pauses.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  }
  // 10 % of jitter and the fake's 5 ms.
  const double expected[] = {2, 4, 8, 16, 32, 32, 32};
  for (size_t i = 0; i < pauses.size(); ++i) {
    EXPECT_GE(pauses[i], expected[i]) << i;
    EXPECT_LE(pauses[i], expected[i] * 1.1 + 0.05) << i;
  }
  machine_->signer.mood = Mood::kSigns;
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
}

TEST_F(Rotation, NobodySigningIsGivenUpAfter15MinutesAndAskedAgain) {
  Start();
  machine_->signer.mood = Mood::kSilent;
  Begin();
  machine_->RunFor(Minutes(14));
  EXPECT_EQ(machine_->signer.created().size(), 1u) << "one request, however long it takes";
  ASSERT_TRUE(RunUntilErrors(1));
  EXPECT_EQ(told_.errors[0],
            Error(ErrorCode::kUnavailable,
                  "certificate signing request \"csr-0\": nobody signed it within 15m0s"));
  machine_->RunFor(Seconds(10));
  EXPECT_EQ(machine_->signer.created().size(), 2u);
  machine_->signer.Approve("csr-1");
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
}

TEST_F(Rotation, ADeletedRequestIsMadeAgain) {
  Start();
  machine_->signer.mood = Mood::kSilent;
  Begin();
  machine_->RunFor(Minutes(1));
  machine_->signer.Delete("csr-0");
  machine_->signer.mood = Mood::kSigns;
  ASSERT_TRUE(RunUntilErrors(1, Seconds(1)));
  EXPECT_THAT(told_.errors[0].message(), HasSubstr("it was deleted"));
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
}

TEST_F(Rotation, ACertificateForAnotherKeyIsNotStored) {
  Start();
  machine_->signer.foreign_key_pem = *NewPrivateKey();
  Begin();
  ASSERT_TRUE(RunUntilErrors(1));
  EXPECT_EQ(told_.errors[0].code(), ErrorCode::kCorrupt);
  machine_->signer.foreign_key_pem = "";
  ASSERT_TRUE(RunUntilCertificates(1));
}

TEST_F(Rotation, WhatCouldNotBeStoredIsKeptAndNotAskedForAgain) {
  Start();
  ASSERT_TRUE(machine_->disk.MakeDirectories(kPki, 0755));
  ASSERT_TRUE(
      machine_->disk.ReplaceFile(kCurrent, "foreign", 0600, reactor::Durability::kSynced, {}));
  Begin();
  ASSERT_TRUE(RunUntilErrors(4));
  EXPECT_EQ(machine_->signer.created().size(), 1u);
  EXPECT_EQ(*machine_->disk.ReadFile(kCurrent, 100), "foreign");
  ASSERT_TRUE(machine_->disk.Unlink(kCurrent));
  ASSERT_TRUE(RunUntilCertificates(1));
  EXPECT_EQ(machine_->signer.created().size(), 1u);
}

TEST_F(Rotation, ASignerWhoseCertificatesAreBornOldIsNotAskedInABusyLoop) {
  Start();
  machine_->signer.lifetime = Milliseconds(500);  // rounded down to nothing
  machine_->signer.delay = Duration::zero();
  Begin();
  machine_->RunFor(Minutes(10));
  EXPECT_LE(machine_->signer.created().size(), 30u);
  EXPECT_GE(machine_->signer.created().size(), 10u);
}

TEST_F(Rotation, ACertificateForAnotherNodeIsReplacedAtOnce) {
  Start();
  machine_->StoreNew("system:node:other");
  Begin();
  ASSERT_TRUE(RunUntilCertificates(2, Minutes(1)));
  EXPECT_EQ(told_.certificates[1].subject.common_name, "system:node:n1");
}

TEST_F(Rotation, ACertificateOfTheKubeconfigIsUsedAndReplacedSoon) {
  Start();
  const std::string key = *NewPrivateKey();
  Begin(nullptr, InitialCertificate{machine_->signer.Sign(key, "system:node:n1"), key,
                                    InitialCertificate::Use::kReplaceSoon});
  ASSERT_TRUE(RunUntilCertificates(2, Minutes(1)));
  EXPECT_EQ(machine_->signer.created().size(), 1u);
}

TEST_F(Rotation, ACertificateFromFilesServesItsTime) {
  Start();
  const std::string key = *NewPrivateKey();
  Begin(nullptr, InitialCertificate{machine_->signer.Sign(key, "system:node:n1"), key,
                                    InitialCertificate::Use::kKeep});
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
  machine_->RunFor(Hours(69));
  EXPECT_TRUE(machine_->signer.created().empty());
  ASSERT_TRUE(RunUntilCertificates(2, Hours(22)));
}

TEST_F(Rotation, WithoutACertificateForFiveMinutesThoughTheServerAnswersItIsHopeless) {
  Start();
  machine_->signer.mood = Mood::kForbids;
  Begin();
  machine_->RunFor(Minutes(4));
  EXPECT_EQ(told_.hopeless, 0);
  machine_->RunFor(Minutes(2));
  EXPECT_EQ(told_.hopeless, 1);
  machine_->RunFor(Hours(1));
  EXPECT_EQ(told_.hopeless, 1);
}

TEST_F(Rotation, AServerThatIsAwayIsWaitedFor) {
  Start();
  machine_->signer.mood = Mood::kAway;
  Begin();
  machine_->RunFor(Hours(5));
  EXPECT_EQ(told_.hopeless, 0);
  EXPECT_LE(machine_->signer.refused(), 570) << "every 32 seconds";
  const auto tells = [](const CapturingLogSink::Line& line) {
    return line.text.find("Could not renew certificate") != std::string::npos;
  };
  const auto told = std::ranges::count_if(machine_->log.lines(), tells);
  EXPECT_GE(told, 20);
  EXPECT_LE(told, 40) << "every ten minutes";
  machine_->signer.mood = Mood::kSigns;
  ASSERT_TRUE(RunUntilCertificates(1, Minutes(1)));
}

TEST_F(Rotation, MetricsTellErrorsAndTimeLeft) {
  Start();
  ClientCertificateMetrics metrics;
  const auto ttl = [&](const CertificateInfo* info) {
    const MetricsSnapshot snapshot = metrics.Gather(info, machine_->WallNow());
    return snapshot.families()
        .at("kubelet_certificate_manager_client_ttl_seconds")
        .series.at(0)
        .value;
  };
  EXPECT_EQ(ttl(nullptr), std::numeric_limits<double>::infinity());
  CertificateInfo info{.not_after = machine_->WallNow() + Milliseconds(90'900)};
  EXPECT_EQ(ttl(&info), 90);
  metrics.CountRenewError();
  EXPECT_EQ(metrics.Gather(nullptr, machine_->WallNow())
                .families()
                .at("kubelet_certificate_manager_client_expiration_renew_errors")
                .series.at(0)
                .value,
            1);
}

// ---- killed at any step

TEST(RotationCrash, APowerCutAtAnyStepLeavesAUsableCertificate) {
  int old_one = 0, new_one = 0;
  for (uint64_t step = 0; step < 120; ++step) {
    Machine machine(1000 + step);
    machine.signer.delay = Milliseconds(3);
    const StoredCertificate old = machine.StoreNew();
    RotationOptions options;
    options.purpose = CertificatePurpose::ClientOfNode("n1");
    const RotationParts parts{machine.loop(), machine.world.random(), machine.logger(),
                              machine.store,  machine.signer,         nullptr};
    Told told;
    auto rotation = std::make_unique<CertificateRotation>(parts, options, std::nullopt, told);
    ASSERT_TRUE(machine.RunUntil([&] { return rotation->deadline().has_value(); }));
    machine.RunFor(*rotation->deadline() - machine.WallNow());
    for (uint64_t i = 0; i < step && machine.world.Step(); ++i) {
    }
    const bool was_told = told.certificates.size() == 2;
    rotation.reset();
    machine.disk.Crash(machine.world.random());

    const Result<StoredCertificate> loaded = machine.Load();
    ASSERT_TRUE(loaded) << "step " << step << ": " << loaded.error().message();
    EXPECT_GT(loaded->info.not_after, machine.WallNow());
    (loaded->pem == old.pem ? old_one : new_one) += 1;
    EXPECT_FALSE(was_told && loaded->pem == old.pem) << "what was told is safe, step " << step;

    // The next life goes on from there.
    rotation = std::make_unique<CertificateRotation>(parts, options, std::nullopt, told);
    ASSERT_TRUE(machine.RunUntil(
        [&] {
          return rotation->Current() != nullptr &&
                 rotation->Current()->not_after > old.info.not_after && rotation->deadline();
        },
        Hours(50)))
        << "step " << step;
    rotation.reset();
  }
  EXPECT_GT(old_one, 5);
  EXPECT_GT(new_one, 5);
}

}  // namespace
}  // namespace denselet::kube
