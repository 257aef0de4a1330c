// A node's client certificate against the real API server and controller manager: from a bootstrap
// token to a certificate that is the node, and to the next one. Run beside control_plane.sh with
// the controller manager.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "kube/client/api_connection.h"
#include "kube/client/certificates/bootstrap.h"
#include "kube/client/certificates/bootstrap_server.h"
#include "kube/client/certificates/rotation.h"
#include "reactor/inotify_watcher.h"
#include "reactor/net/resolve.h"
#include "reactor/pool_file_system.h"
#include "reactor/process_runner.h"
#include "reactor/spawn.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::kube {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The kernel's clocks, but for a wall clock that the test puts forward.
class ShiftedWallClock final : public Clock {
 public:
  TimePoint Now() const override { return real_.Now(); }
  WallTime WallNow() const override { return real_.WallNow() + shift_; }
  void Shift(Duration by) { shift_ += by; }

 private:
  reactor::RealClock real_;
  Duration shift_{};
};

// What a command prints.
std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class CertificateApiServerTest : public testing::TestWithParam<reactor::Backend>,
                                 public RotationUser {
 protected:
  static void SetUpTestSuite() { reactor::PrepareForChildren(); }

  CertificateApiServerTest() : loop_(*reactor::MakeEventLoop(GetParam(), clock_)) {
    all_.push_back(&shard_);
    std::string path = testing::TempDir() + "/certificates.XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
    watcher_ = *reactor::InotifyWatcher::Make(*loop_);
    node_ = "certificates-" + std::string(reactor::BackendName(GetParam())) +
            std::string(path.end() - 6, path.end());
    for (char& c : node_) c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
    store_.emplace(
        CertificateFiles{*loop_, files_, Logger(output_), folder_ + "/pki", "kubelet-client"});
    options_.kubeconfig_path = folder_ + "/kubelet.conf";
    options_.bootstrap_kubeconfig_path = folder_ + "/bootstrap.conf";
    options_.node_name = node_;
    std::ofstream(options_.bootstrap_kubeconfig_path)
        << OutputOf("control_plane.sh bootstrap-kubeconfig");
  }
  ~CertificateApiServerTest() override {
    bool stopped = false;
    files_.Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    std::filesystem::remove_all(folder_);
    if (HasFailure()) std::fputs(log_.Take().c_str(), stderr);
  }

  // RotationUser
  void OnCertificate(const CertificateInfo& certificate) override {
    certificates_.push_back(certificate);
  }
  void OnRenewError(const Error& error) override { ADD_FAILURE() << error.message(); }
  void OnHopeless() override { ADD_FAILURE() << "hopeless"; }

  template <class Predicate>
  bool RunUntil(Predicate done) {
    return reactor::RunLoopUntil(*loop_, clock_, std::move(done));
  }
  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    if (!RunUntil([&] { return answer.has_value(); })) {
      return Error(ErrorCode::kDeadlineExceeded, "no answer");
    }
    return *std::move(answer);
  }

  std::unique_ptr<ApiConnection> Connect(const ClusterAccess& access) {
    ApiConnectionOptions options;
    options.user_agent = "denselet-test";
    Result<std::unique_ptr<ApiConnection>> made = ApiConnection::Make(
        CredentialParts{*loop_, files_, *watcher_, processes_, Logger(output_)}, random_,
        [this](const Context& context, const std::string& host, uint16_t port,
               reactor::Done<std::vector<net::Address>> done) {
          net::Resolve(shard_, pool_, context, host, port, std::move(done));
        },
        access, std::move(options));
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  Result<ClientAccess> Bootstrap() {
    std::unique_ptr<ClientBootstrap> bootstrap;
    return Await<ClientAccess>([&](auto done) {
      bootstrap = std::make_unique<ClientBootstrap>(
          BootstrapParts{*loop_, files_, random_, Logger(output_), *store_}, options_,
          [this](const ClusterAccess& access) -> Result<std::unique_ptr<BootstrapServer>> {
            return std::unique_ptr<BootstrapServer>(
                std::make_unique<ConnectedBootstrapServer>(Connect(access)));
          },
          std::move(done));
    });
  }
  Result<core::Node> GetNode(ApiConnection& connection, const std::string& name) {
    return Await<core::Node>([&](auto done) {
      sync::Get<core::Node>(connection.client(), {}, {.object = {"", name}}, std::move(done));
    });
  }
  // Only the node itself may read itself, and everybody is told who they are.
  void ExpectIsTheNode(ApiConnection& connection) {
    EXPECT_EQ(GetNode(connection, node_).error().code(), ErrorCode::kNotFound);
    const Result<core::Node> other = GetNode(connection, "another");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), ErrorCode::kPermission);
    EXPECT_THAT(other.error().message(), HasSubstr("system:node:" + node_));
  }

  ShiftedWallClock clock_;
  std::unique_ptr<reactor::EventLoop> loop_;
  std::vector<reactor::Shard*> all_;
  reactor::Shard shard_{0, *loop_, 1, reactor::MailLimits{}, all_};
  reactor::BlockingPool pool_{clock_};
  reactor::PoolFileSystem files_{shard_, pool_};
  std::unique_ptr<reactor::InotifyWatcher> watcher_;
  reactor::RealProcessRunner processes_{*loop_};
  SeededRandom random_{1};
  LogVerbosity verbosity_;
  CapturingLogSink log_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = log_};
  std::string folder_;
  std::string node_;
  std::optional<CertificateStore> store_;
  BootstrapOptions options_;
  std::vector<CertificateInfo> certificates_;
};

INSTANTIATE_TEST_SUITE_P(Loops, CertificateApiServerTest,
                         testing::ValuesIn(reactor::AvailableBackends()), reactor::NameOfBackend);

TEST_P(CertificateApiServerTest, ATokenBecomesACertificateWhichIsRotated) {
  options_.rotation = BootstrapOptions::Rotation::kOn;
  const Result<ClientAccess> access = Bootstrap();
  ASSERT_TRUE(access) << access.error().message();
  const std::unique_ptr<ApiConnection> everybody = Connect(access->access);
  const std::unique_ptr<ApiConnection> requests = Connect(*access->requests);
  RotationOptions rotation_options;
  rotation_options.purpose = CertificatePurpose::ClientOfNode(node_);
  rotation_options.purpose.lifetime = Minutes(10);  // no server grants less
  rotation_options.clock_check_period = Milliseconds(50);
  auto rotation =
      std::make_unique<CertificateRotation>(RotationParts{*loop_, random_, Logger(output_), *store_,
                                                          everybody->client(), &requests->client()},
                                            rotation_options, access->initial, *this);
  ASSERT_TRUE(RunUntil([&] { return certificates_.size() == 1; }));
  EXPECT_TRUE(certificates_[0].Satisfies(CertificateSubject::OfNode(node_)));
  EXPECT_LE(certificates_[0].not_after - clock_.WallNow(), Minutes(10));
  ExpectIsTheNode(*everybody);
  const std::string first = ReadFile(store_->current_path());

  log_.Take();
  clock_.Shift(*rotation->deadline() - clock_.WallNow() + Seconds(1));
  ASSERT_TRUE(RunUntil([&] { return certificates_.size() == 2; }));
  EXPECT_NE(ReadFile(store_->current_path()), first);
  std::string log;
  ASSERT_TRUE(RunUntil([&] {
    log += log_.Take();
    return log.find("Credentials for the API server were renewed") != log.npos;
  }));
  ExpectIsTheNode(*everybody);
  rotation.reset();

  // The next start needs no token.
  std::ofstream(options_.bootstrap_kubeconfig_path) << "revoked";
  clock_.Shift(-(clock_.WallNow() - reactor::RealClock().WallNow()));
  const Result<ClientAccess> next = Bootstrap();
  ASSERT_TRUE(next) << next.error().message();
  EXPECT_FALSE(next->requests);
  ExpectIsTheNode(*Connect(next->access));
}

TEST_P(CertificateApiServerTest, WithoutRotationTheCertificateIsThereWhenItBegins) {
  const Result<ClientAccess> access = Bootstrap();
  ASSERT_TRUE(access) << access.error().message();
  ExpectIsTheNode(*Connect(access->access));
  const std::string requests = OutputOf(
      "kubectl get csr -o jsonpath='{range .items[*]}{.metadata.name} {.spec.username}"
      "{\"\\n\"}{end}'");
  EXPECT_THAT(requests, HasSubstr("node-csr-"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/pki/kubelet-client.key.tmp"));
  // Our own reader and the cluster's: the kubeconfig that was written is one.
  EXPECT_EQ(OutputOf("kubectl --kubeconfig " + options_.kubeconfig_path +
                     " auth whoami -o jsonpath='{.status.userInfo.username}'"),
            "system:node:" + node_);
}

}  // namespace
}  // namespace denselet::kube
