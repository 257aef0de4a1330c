#include "kube/client/certificates/bootstrap.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "base/base64.h"
#include "tests/kube/client/certificates/certificates_fixture.h"

namespace denselet::kube {
namespace {

using Mood = FakeSigner::Mood;
using reactor::Durability;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kKubeconfig = "/etc/kubernetes/kubelet.conf";
const std::string kBootstrapKubeconfig = "/etc/kubernetes/bootstrap-kubelet.conf";
const std::string kKeyFile = kPki + "/kubelet-client.key.tmp";

std::string Config(const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443', "
         "certificate-authority: ca.crt}}]\n"
         "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
         "users: [{name: u, user: {" +
         user + "}}]\n";
}

std::string InlineConfig(const std::string& certificate, const std::string& key) {
  return Config("client-certificate-data: " + Base64Encode(certificate) +
                ", client-key-data: " + Base64Encode(key));
}

// The signer of a machine, with a health that a test sets.
class FakeServer final : public BootstrapServer {
 public:
  FakeServer(Machine& machine, int& sick, int& asked)
      : machine_(machine), sick_(sick), asked_(asked) {}
  ~FakeServer() override {
    if (gone) *gone = true;
  }
  sync::ApiServer& api() override { return machine_.signer; }
  void CheckHealth(const Context& context, reactor::Done<Unit> done) override {
    EXPECT_EQ(context.Left(machine_.loop().Now()), Seconds(1));
    ++asked_;
    const bool well = sick_ == 0;
    if (!well) --sick_;
    machine_.loop().Post([this, well, done = std::move(done)]() mutable {
      if (well) return done(Ok());
      done(illness);
    });
  }

  Error illness = Error(ErrorCode::kUnavailable, "it is not well").AsAnswer();
  std::shared_ptr<bool> gone;  // set when it goes

 private:
  Machine& machine_;
  int& sick_;
  int& asked_;
};

class Bootstrap : public testing::Test {
 protected:
  Bootstrap() {
    EXPECT_TRUE(machine_.disk.MakeDirectories("/etc/kubernetes", 0755));
    options_.kubeconfig_path = kKubeconfig;
    options_.bootstrap_kubeconfig_path = kBootstrapKubeconfig;
    options_.node_name = "n1";
  }

  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(machine_.disk.ReplaceFile(path, text, 0600, Durability::kSynced, {}));
  }
  std::string Read(const std::string& path) {
    const Result<std::string> text = machine_.disk.ReadFile(path, 1 << 20);
    return text ? *text : "(" + text.error().message() + ")";
  }
  std::unique_ptr<ClientBootstrap> Start(reactor::Done<ClientAccess> done) {
    return std::make_unique<ClientBootstrap>(
        BootstrapParts{machine_.loop(), machine_.files, machine_.world.random(), machine_.logger(),
                       machine_.store},
        options_,
        [this](const ClusterAccess& access) -> Result<std::unique_ptr<BootstrapServer>> {
          connected_.push_back(access.token.data);
          auto server = std::make_unique<FakeServer>(machine_, sick_, health_asked_);
          if (illness_) server->illness = *illness_;
          server->gone = server_gone_;
          return std::unique_ptr<BootstrapServer>(std::move(server));
        },
        std::move(done));
  }
  Result<ClientAccess> Run() {
    std::unique_ptr<ClientBootstrap> bootstrap;
    return machine_.Await<ClientAccess>([&](auto done) { bootstrap = Start(std::move(done)); });
  }
  void TurnOnRotation() { options_.rotation = BootstrapOptions::Rotation::kOn; }
  // A certificate of a former life, the kubeconfig pointing to it.
  void WriteUsualKubeconfig() {
    Write(kKubeconfig, Config("client-certificate: " + kCurrent + ", client-key: " + kCurrent));
  }

  Machine machine_;
  const std::shared_ptr<bool> server_gone_ = std::make_shared<bool>(false);
  BootstrapOptions options_;
  // How often a line with this was logged since the last question.
  int Lines(std::string_view text) {
    const auto has = [&](const auto& line) { return line.text.find(text) != std::string::npos; };
    const auto count = std::ranges::count_if(machine_.log.lines(), has);
    machine_.log.Take();
    return static_cast<int>(count);
  }

  int sick_ = 0;
  std::optional<Error> illness_;
  int health_asked_ = 0;
  std::vector<std::string> connected_;
};

// ---- which of the two is used

TEST_F(Bootstrap, WithoutABootstrapKubeconfigTheKubeconfigMustBeThere) {
  options_.bootstrap_kubeconfig_path = "";
  EXPECT_EQ(Run().error(),
            Error(ErrorCode::kNotFound,
                  "kubeconfig \"/etc/kubernetes/kubelet.conf\": there is no such file"));
  Write(kKubeconfig, Config("token: secret"));
  const Result<ClientAccess> access = Run();
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->access.token.data, "secret");
  EXPECT_FALSE(access->requests);
  EXPECT_TRUE(machine_.signer.created().empty());
}

TEST_F(Bootstrap, AValidKubeconfigIsUsedAndTheBootstrapOneNotLookedAt) {
  machine_.StoreNew();
  WriteUsualKubeconfig();
  const Result<ClientAccess> access = Run();
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->access.certificate.path, kCurrent);
  TurnOnRotation();
  const Result<ClientAccess> rotated = Run();
  ASSERT_TRUE(rotated);
  EXPECT_EQ(rotated->access.certificate.path, kCurrent);
  EXPECT_FALSE(rotated->requests);
  EXPECT_TRUE(connected_.empty());
}

TEST_F(Bootstrap, WhatComesOfItSaysWhichKubeconfigItIs) {
  TurnOnRotation();
  Write(kBootstrapKubeconfig, Config("token: boot"));
  const Result<ClientAccess> made = Run();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->access.kubeconfig_path, kKubeconfig);
  EXPECT_EQ(made->requests->kubeconfig_path, kBootstrapKubeconfig);
  machine_.StoreNew();
  WriteUsualKubeconfig();
  const Result<ClientAccess> found = Run();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->access.kubeconfig_path, kKubeconfig);
}

TEST_F(Bootstrap, AKubeconfigThatCannotBeReadAtAllEndsIt) {
  ASSERT_TRUE(machine_.disk.MakeDirectories(kKubeconfig, 0755));
  EXPECT_EQ(Run().error().code(), ErrorCode::kInvalid);
}

TEST_F(Bootstrap, AMissingBootstrapKubeconfigIsNamed) {
  EXPECT_EQ(Run().error().message(),
            "bootstrap: kubeconfig \"" + kBootstrapKubeconfig + "\": there is no such file");
}

TEST_F(Bootstrap, AServerWithoutTlsEndsIt) {
  std::string text = Config("token: secret");
  text.replace(text.find("https:"), 6, "http:");
  Write(kBootstrapKubeconfig, text);
  EXPECT_THAT(Run().error().message(), HasSubstr("cluster.server: found \"http://10.0.0.1:6443\""));
  options_.bootstrap_kubeconfig_path = "";
  Write(kKubeconfig, text);
  EXPECT_THAT(Run().error().message(), HasSubstr("wanted https://HOST"));
}

TEST_F(Bootstrap, EveryKubeconfigWithoutAValidCertificateIsReplaced) {
  const std::string key = *NewPrivateKey();
  machine_.signer.lifetime = Hours(1);
  const std::string expired = machine_.signer.Sign(key, "system:node:n1");
  machine_.signer.lifetime = Hours(100);
  machine_.RunFor(Hours(2));
  const std::string good = machine_.signer.Sign(key, "system:node:n1");
  TurnOnRotation();
  Write(kBootstrapKubeconfig, Config("token: boot"));
  const std::string usable = InlineConfig(good, key);
  for (const std::string& text :
       {std::string("{{{"), std::string("kind: Pod\n"), Config("token: other"),
        InlineConfig(expired, key), InlineConfig(good + expired, key),
        InlineConfig(good, *NewPrivateKey()), InlineConfig("torn", key),
        Config("client-certificate: /no, client-key: /no")}) {
    Write(kKubeconfig, text);
    const Result<ClientAccess> access = Run();
    ASSERT_TRUE(access) << access.error().message();
    ASSERT_TRUE(access->requests) << text;
    EXPECT_EQ(access->requests->token.data, "boot") << text;
    EXPECT_THAT(Read(kKubeconfig), HasSubstr("client-certificate: \"" + kCurrent + "\""));
  }
  Write(kKubeconfig, usable);
  ASSERT_TRUE(Run());
  EXPECT_EQ(Read(kKubeconfig), usable);
}

// ---- with rotation

TEST_F(Bootstrap, WithRotationTheKubeconfigIsWrittenFirstAndTheCertificateComesLater) {
  TurnOnRotation();
  Write(kBootstrapKubeconfig, Config("token: boot"));
  const Result<ClientAccess> access = Run();
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->access.server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->access.authorities.path, "/etc/kubernetes/ca.crt");
  EXPECT_EQ(access->access.certificate.path, kCurrent);
  EXPECT_EQ(access->access.key.path, kCurrent);
  EXPECT_TRUE(access->access.token.empty());
  EXPECT_EQ(access->requests->token.data, "boot");
  EXPECT_FALSE(access->initial);
  EXPECT_EQ(machine_.disk.Stat(kKubeconfig)->mode, 0600u);
  const Result<ClusterAccess> written = ReadKubeconfig(Read(kKubeconfig), kKubeconfig);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->server, "https://10.0.0.1:6443");
  EXPECT_EQ(written->authorities.path, "/etc/kubernetes/ca.crt");
  EXPECT_EQ(written->certificate.path, kCurrent);
  EXPECT_TRUE(connected_.empty());

  // What the agent does with it.
  RotationOptions options;
  options.purpose = CertificatePurpose::ClientOfNode("n1");
  Told told;
  CertificateRotation rotation({machine_.loop(), machine_.world.random(), machine_.logger(),
                                machine_.store, machine_.signer, nullptr},
                               options, access->initial, told);
  ASSERT_TRUE(machine_.RunUntil([&] { return !told.certificates.empty(); }));
  // And at its next start.
  Write(kBootstrapKubeconfig, "gone bad");
  const Result<ClientAccess> next = Run();
  ASSERT_TRUE(next) << next.error().message();
  EXPECT_EQ(next->access.certificate.path, kCurrent);
  EXPECT_FALSE(next->requests);
}

TEST_F(Bootstrap, WithRotationTheKubeconfigsOwnCertificateIsWhereItBegins) {
  TurnOnRotation();
  options_.bootstrap_kubeconfig_path = "";
  const std::string key = *NewPrivateKey();
  const std::string certificate = machine_.signer.Sign(key, "system:node:n1");
  Write(kKubeconfig, InlineConfig(certificate, key));
  Result<ClientAccess> access = Run();
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->access.certificate.path, kCurrent);
  ASSERT_TRUE(access->initial);
  EXPECT_EQ(access->initial->certificate_pem, certificate);
  EXPECT_EQ(access->initial->use, InitialCertificate::Use::kReplaceSoon);
  EXPECT_EQ(access->requests->certificate.data, certificate);

  Write("/etc/kubernetes/own.pem", certificate + key);
  Write(kKubeconfig, Config("client-certificate: own.pem, client-key: own.pem"));
  access = Run();
  ASSERT_TRUE(access && access->initial);
  EXPECT_EQ(access->initial->use, InitialCertificate::Use::kKeep);
  EXPECT_EQ(access->initial->key_pem, certificate + key);
}

TEST_F(Bootstrap, WithRotationAndNothingToAskWithTheCertificateMustBeThere) {
  TurnOnRotation();
  options_.bootstrap_kubeconfig_path = "";
  WriteUsualKubeconfig();
  EXPECT_EQ(Run().error().message(),
            "there is no bootstrap kubeconfig to get another with: client certificate of "
            "kubeconfig \"" +
                kKubeconfig + "\": read \"" + kCurrent + "\": No such file or directory");
  machine_.StoreNew();
  EXPECT_TRUE(Run());
}

// ---- without rotation

TEST_F(Bootstrap, WithoutRotationTheCertificateIsWaitedForAndThenTheKubeconfigWritten) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  const Result<ClientAccess> access = Run();
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->access.certificate.path, kCurrent);
  EXPECT_FALSE(access->requests);
  EXPECT_THAT(connected_, ElementsAre("boot"));
  EXPECT_EQ(health_asked_, 1);
  ASSERT_EQ(machine_.signer.created().size(), 1u);
  EXPECT_THAT(machine_.signer.created()[0].metadata().name(), StartsWith("node-csr-"));
  EXPECT_EQ(machine_.signer.created()[0].metadata().generatename(), "");
  EXPECT_FALSE(machine_.disk.Stat(kKeyFile)) << "it has done its duty";
  EXPECT_TRUE(machine_.Load()->info.Satisfies(CertificateSubject::OfNode("n1")));
  EXPECT_THAT(Read(kKubeconfig), HasSubstr(kCurrent));
}

TEST_F(Bootstrap, AServerThatIsNotWellIsAskedAgainForAMinute) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  sick_ = 5;
  const TimePoint begin = machine_.world.clock().Now();
  ASSERT_TRUE(Run());
  EXPECT_EQ(health_asked_, 6);
  EXPECT_GE(machine_.world.clock().Now() - begin, Seconds(10));
  const std::string lines = machine_.log.Take();
  EXPECT_THAT(lines, HasSubstr("The API server did not say it is healthy"));
  EXPECT_THAT(lines, Not(HasSubstr("Could not connect"))) << "it may have answered";
  ASSERT_TRUE(machine_.disk.Unlink(kKubeconfig));
  sick_ = 1000;
  health_asked_ = 0;
  ASSERT_TRUE(Run()) << "it is asked for the certificate all the same";
  EXPECT_GE(health_asked_, 25);
  EXPECT_LE(health_asked_, 31);
}

TEST_F(Bootstrap, WhyTheServerCannotBeAskedIsSaidOnceThenSeldomAndThatItIsOver) {
  struct Case {
    Error illness;
    const char* says;
  };
  for (const Case& row :
       {Case{
            Error(ErrorCode::kUnavailable, "connect to \"10.0.0.1:6443\": Connection refused"),
            "could not be asked for a client certificate\" err=\"connect to \\\"10.0.0.1:6443\\\": "
            "Connection refused\" kubeconfig=\"/etc/kubernetes/bootstrap-kubelet.conf\""},
        Case{Error(ErrorCode::kPermission, "the API server said 401").AsAnswer(),
             "refused the bootstrap credentials\" err=\"the API server said 401\" "
             "kubeconfig=\"/etc/kubernetes/bootstrap-kubelet.conf\""},
        Case{Error(ErrorCode::kPermission, "the certificate is not trusted"),
             "could not be asked for a client certificate\" err=\"the certificate is not"}}) {
    Write(kBootstrapKubeconfig, Config("token: boot"));
    (void)machine_.disk.Unlink(kKubeconfig);
    illness_ = row.illness;
    sick_ = 20;
    ASSERT_TRUE(Run());
    std::string lines;
    for (const auto& line : machine_.log.lines()) lines += line.text;
    EXPECT_THAT(lines, HasSubstr("The API server is healthy\" after="));
    EXPECT_THAT(lines, Not(HasSubstr("did not say it is healthy"))) << "which is not the cause";
    const int told = Lines(row.says);
    EXPECT_GE(told, 1) << lines;
    EXPECT_LE(told, 2) << lines;
  }
}

TEST_F(Bootstrap, WhichRequestWaitsForApprovalIsSaidAtOnceAndThenSeldom) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  machine_.signer.mood = Mood::kSilent;
  std::optional<Result<ClientAccess>> answer;
  auto bootstrap = Start([&](Result<ClientAccess> access) { answer.emplace(std::move(access)); });
  ASSERT_TRUE(machine_.RunUntil([&] { return machine_.signer.watches() == 1; }));
  const std::string name = machine_.signer.created()[0].metadata().name();
  const std::string csr = "csr=\"" + name + "\"";
  EXPECT_EQ(Lines("Waiting for the certificate signing request to be approved and signed\" " + csr),
            1);
  machine_.RunFor(Minutes(30));
  const int reminders = Lines("still waits for approval\" " + csr);
  EXPECT_GE(reminders, 4);
  EXPECT_LE(reminders, 6);
  machine_.signer.Approve(name);
  ASSERT_TRUE(machine_.RunUntil([&] { return answer.has_value(); }));
  ASSERT_TRUE(*answer) << answer->error().message();
  machine_.log.Take();
  machine_.RunFor(Hours(1));
  EXPECT_EQ(Lines(csr), 0) << "nobody waits any more";
}

TEST_F(Bootstrap, ADenialEndsIt) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  machine_.signer.mood = Mood::kDenies;
  const Result<ClientAccess> access = Run();
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().message(), HasSubstr("it was denied"));
  EXPECT_FALSE(machine_.disk.Stat(kKubeconfig)) << "nothing is written";
  EXPECT_TRUE(machine_.disk.Stat(kKeyFile)) << "the key is kept for the next start";
}

// The end is told from within its connection.
TEST_F(Bootstrap, TheServerOutlivesTheAnswerThatEndsIt) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  machine_.signer.mood = Mood::kDenies;
  std::unique_ptr<ClientBootstrap> bootstrap;
  const Result<bool> gone = machine_.Await<bool>([&](auto done) {
    bootstrap = Start(
        [this, done = std::move(done)](Result<ClientAccess>) mutable { done(*server_gone_); });
  });
  ASSERT_TRUE(gone);
  EXPECT_FALSE(*gone);
  machine_.world.RunUntil(machine_.world.clock().Now() + Seconds(1));
  EXPECT_TRUE(*server_gone_);
}

TEST_F(Bootstrap, AfterARestartTheSameRequestIsTakenUpAgain) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  machine_.signer.mood = Mood::kSilent;
  auto first = Start([](Result<ClientAccess>) { FAIL() << "nobody signed"; });
  ASSERT_TRUE(machine_.RunUntil([&] { return machine_.signer.watches() == 1; }));
  EXPECT_EQ(machine_.disk.Stat(kKeyFile)->mode, 0600u);
  const std::string key = Read(kKeyFile);
  first.reset();

  std::optional<Result<ClientAccess>> answer;
  auto second = Start([&](Result<ClientAccess> access) { answer.emplace(std::move(access)); });
  machine_.RunFor(Minutes(30));
  ASSERT_EQ(machine_.signer.created().size(), 1u) << "no second request";
  EXPECT_EQ(machine_.signer.gets(), 1);
  EXPECT_FALSE(answer);
  machine_.signer.Approve(machine_.signer.created()[0].metadata().name());
  ASSERT_TRUE(machine_.RunUntil([&] { return answer.has_value(); }));
  ASSERT_TRUE(*answer) << answer->error().message();
  EXPECT_TRUE(CheckKeyFits(machine_.Load()->pem, key));
}

TEST_F(Bootstrap, AnHourWithoutASignatureEndsIt) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  machine_.signer.mood = Mood::kSilent;
  EXPECT_THAT(Run().error().message(), HasSubstr("nobody signed it within 1h0m0s"));
}

TEST_F(Bootstrap, ATornKeyFileIsReportedAndReplaced) {
  Write(kBootstrapKubeconfig, Config("token: boot"));
  ASSERT_TRUE(machine_.disk.MakeDirectories(kPki, 0755));
  Write(kKeyFile, "-----BEGIN EC PRIVATE KEY-----\nMHc");
  ASSERT_TRUE(Run());
  EXPECT_THAT(machine_.log.Take(), HasSubstr("\"Passed over a private key that cannot be read\""));
}

TEST_F(Bootstrap, TheKeyOfAnExpiredCertificateIsUsedAgain) {
  machine_.signer.lifetime = Hours(1);
  const StoredCertificate old = machine_.StoreNew();
  machine_.signer.lifetime = Hours(100);
  machine_.RunFor(Hours(2));
  WriteUsualKubeconfig();
  Write(kBootstrapKubeconfig, Config("token: boot"));
  ASSERT_TRUE(Run());
  EXPECT_TRUE(CheckKeyFits(machine_.Load()->pem, old.pem));
  EXPECT_GT(machine_.Load()->info.not_after, machine_.WallNow());
}

// Whenever the power goes, the next start comes to the same end, and asks nobody twice for a name
// that it has.
TEST(BootstrapCrash, APowerCutAtAnyStepIsRecoveredFrom) {
  for (uint64_t step = 0; step < 100; ++step) {
    Machine machine(2000 + step);
    machine.signer.delay = Milliseconds(3);
    ASSERT_TRUE(machine.disk.MakeDirectories("/etc/kubernetes", 0755));
    ASSERT_TRUE(machine.disk.ReplaceFile(kBootstrapKubeconfig, Config("token: boot"), 0600,
                                         Durability::kSynced, {}));
    int sick = 0, asked = 0;
    const auto start = [&](reactor::Done<ClientAccess> done) {
      BootstrapOptions options;
      options.kubeconfig_path = kKubeconfig;
      options.bootstrap_kubeconfig_path = kBootstrapKubeconfig;
      options.node_name = "n1";
      return std::make_unique<ClientBootstrap>(
          BootstrapParts{machine.loop(), machine.files, machine.world.random(), machine.logger(),
                         machine.store},
          options,
          [&](const ClusterAccess&) -> Result<std::unique_ptr<BootstrapServer>> {
            return std::unique_ptr<BootstrapServer>(
                std::make_unique<FakeServer>(machine, sick, asked));
          },
          std::move(done));
    };
    auto first = start([](Result<ClientAccess>) {});
    for (uint64_t i = 0; i < step && machine.world.Step(); ++i) {
    }
    first.reset();
    machine.disk.Crash(machine.world.random());
    std::unique_ptr<ClientBootstrap> second;
    const Result<ClientAccess> access =
        machine.Await<ClientAccess>([&](auto done) { second = start(std::move(done)); });
    ASSERT_TRUE(access) << "step " << step << ": " << access.error().message();
    const Result<StoredCertificate> loaded = machine.Load();
    ASSERT_TRUE(loaded) << "step " << step;
    EXPECT_TRUE(loaded->info.Satisfies(CertificateSubject::OfNode("n1")));
    EXPECT_LE(machine.signer.created().size(), 1u) << "step " << step;
  }
}

}  // namespace
}  // namespace denselet::kube
