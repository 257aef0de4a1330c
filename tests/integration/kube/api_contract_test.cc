// The real client against the model of an API server behind HTTP/2, on real loops.
#include "tests/fakes/api_server_contract.h"

#include "tests/fakes/http_api_pair.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::fakes {
namespace {

class ClientOnLoop final : public ApiServerUnderTest {
 public:
  ClientOnLoop(reactor::Backend backend, uint32_t streams_max)
      : loop_(*reactor::MakeEventLoop(backend, clock_)),
        pair_(*loop_, *loop_, random_, *net::Address::Ip("127.0.0.1", 0), Options(streams_max)) {}

  sync::ApiServer& api() override { return *pair_.client; }
  reactor::Loop& loop() override { return *loop_; }
  bool RunUntil(const std::function<bool()>& done) override {
    return reactor::RunLoopUntil(*loop_, clock_, done);
  }

 private:
  static HttpApiPairOptions Options(uint32_t streams_max) {
    HttpApiPairOptions options;
    options.server.streams_max = streams_max;
    return options;
  }

  reactor::RealClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<reactor::EventLoop> loop_;
  HttpApiPair pair_;
};

std::vector<ApiServerMaker> Makers() {
  std::vector<ApiServerMaker> makers;
  for (const reactor::Backend backend : reactor::AvailableBackends()) {
    for (const uint32_t streams_max : {1u, 100u}) {
      makers.push_back(
          {std::string(reactor::BackendName(backend)) + "_streams_" + std::to_string(streams_max),
           [=] { return std::make_unique<ClientOnLoop>(backend, streams_max); }});
    }
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Loops, ApiServerContract, testing::ValuesIn(Makers()), NameOfApiServer);

}  // namespace
}  // namespace denselet::fakes
