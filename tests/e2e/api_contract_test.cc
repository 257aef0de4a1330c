// What the port of the API server promises, by the real client and a real kube-apiserver: the same
// tests that the fakes pass, which shows that the fakes are like it. Run by control_plane.sh.
#include "tests/fakes/api_server_contract.h"

#include "tests/e2e/api_client_fixture.h"

namespace denselet::fakes {
namespace {

class RealServer final : public ApiServerUnderTest, private kube::ApiServerClient {
 public:
  RealServer(reactor::Backend backend, bool initial_events)
      : kube::ApiServerClient(backend), initial_events_(initial_events) {
    kube::ApiClientOptions options;
    options.list_watch.initial_events = initial_events;
    options.list_watch.page_items_max = 2;
    Connect(options);
    // Pods need one, and no controller makes it here.
    kube::core::ServiceAccount account;
    account.mutable_metadata()->set_name("default");
    bool made = false;
    client_->Send({}, CreateRequest(kube::kServiceAccounts, account),
                  [&](Result<sync::ApiObject>) { made = true; });
    EXPECT_TRUE(RunUntil([&] { return made; }));
  }

  sync::ApiServer& api() override { return *client_; }
  reactor::Loop& loop() override { return *loop_; }
  bool RunUntil(const std::function<bool()>& done) override {
    return reactor::RunLoopUntil(*loop_, clock_, done);
  }
  std::string Name(const std::string& name) const override {
    return "contract-" + std::string(initial_events_ ? "a-" : "b-") + name;
  }

 private:
  const bool initial_events_;
};

std::vector<ApiServerMaker> Makers() {
  std::vector<ApiServerMaker> makers;
  for (const reactor::Backend backend : reactor::AvailableBackends()) {
    for (const bool initial_events : {true, false}) {
      makers.push_back({std::string(reactor::BackendName(backend)) +
                            (initial_events ? "_initial_events" : "_pages"),
                        [=] { return std::make_unique<RealServer>(backend, initial_events); }});
    }
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Real, ApiServerContract, testing::ValuesIn(Makers()), NameOfApiServer);

}  // namespace
}  // namespace denselet::fakes
