// The real loops, each with the kernel's own sockets.
#include "tests/fakes/loop_contract.h"

#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

class RealLoop final : public LoopUnderTest {
 public:
  RealLoop(Backend backend, const LoopOptions& options)
      : loop_(*MakeEventLoop(backend, clock_, options)) {}

  EventLoop& loop() override { return *loop_; }
  void RunOneTurn() override { loop_->RunTurn(loop_->Now()); }
  bool RunUntil(const std::function<bool()>& done) override {
    const TimePoint limit = After(clock_.Now(), Seconds(20));
    while (!done() && clock_.Now() < limit) loop_->RunTurn(After(clock_.Now(), Milliseconds(2)));
    return done();
  }

 private:
  RealClock clock_;
  std::unique_ptr<EventLoop> loop_;
};

std::vector<LoopMaker> RealMakers() {
  std::vector<LoopMaker> makers;
  for (const Backend backend : AvailableBackends()) {
    makers.push_back({std::string(BackendName(backend)), [backend](const LoopOptions& options) {
                        return std::make_unique<RealLoop>(backend, options);
                      }});
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Real, LoopContract, testing::ValuesIn(RealMakers()), NameOfLoop);

}  // namespace
}  // namespace denselet::reactor
