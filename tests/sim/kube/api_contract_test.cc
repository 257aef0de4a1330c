// The fake API server, and the real client against the model behind HTTP/2, on simulated loops and
// under several seeds.
#include "tests/fakes/api_server_contract.h"

#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

class InWorld : public ApiServerUnderTest {
 public:
  explicit InWorld(uint64_t seed) : world_({.seed = seed, .shards = 2}) {}

  reactor::Loop& loop() override { return world_.loop(1); }
  bool RunUntil(const std::function<bool()>& done) override {
    const TimePoint limit = After(world_.clock().Now(), Minutes(2));
    while (!done() && world_.clock().Now() < limit && world_.Step()) {
    }
    return done();
  }

 protected:
  sim::World world_;
};

class FakeInWorld final : public InWorld {
 public:
  explicit FakeInWorld(uint64_t seed) : InWorld(seed) {}
  sync::ApiServer& api() override { return server_; }

 private:
  ApiModel model_;
  FakeApiServer server_{world_.loop(1), world_.random(), model_};
};

class ClientInWorld final : public InWorld {
 public:
  ClientInWorld(uint64_t seed, bool initial_events, uint32_t streams_max)
      : InWorld(seed),
        pair_(world_.loop(0), world_.loop(1), world_.random(), *net::Address::Ip("127.0.0.1", 6443),
              Options(initial_events, streams_max)) {
    pair_.model.faults().refuses_initial_events = !initial_events;
  }
  sync::ApiServer& api() override { return *pair_.client; }

 private:
  static HttpApiPairOptions Options(bool initial_events, uint32_t streams_max) {
    HttpApiPairOptions options;
    options.client.list_watch.initial_events = initial_events || streams_max == 1;
    options.client.list_watch.page_items_max = 1;
    options.server.streams_max = streams_max;
    return options;
  }

  HttpApiPair pair_;
};

std::vector<ApiServerMaker> Makers() {
  std::vector<ApiServerMaker> makers;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const std::string name = "_seed_" + std::to_string(seed);
    makers.push_back({"fake" + name, [seed] { return std::make_unique<FakeInWorld>(seed); }});
    makers.push_back(
        {"client" + name, [seed] { return std::make_unique<ClientInWorld>(seed, true, 100); }});
    makers.push_back({"client_with_pages" + name,
                      [seed] { return std::make_unique<ClientInWorld>(seed, false, 100); }});
    makers.push_back({"client_of_an_old_server_with_one_stream" + name,
                      [seed] { return std::make_unique<ClientInWorld>(seed, false, 1); }});
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Simulated, ApiServerContract, testing::ValuesIn(Makers()),
                         NameOfApiServer);

}  // namespace
}  // namespace denselet::fakes
