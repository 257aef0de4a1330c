#include "reactor/gate.h"

#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

class GateTest : public LoopTest {};
INSTANTIATE_LOOP_TEST(GateTest);

TEST_P(GateTest, ClosesWhenTheLastWorkHasEnded) {
  Gate gate(loop());
  std::optional<Gate::Pass> first = gate.Enter(), second = gate.Enter();
  bool empty = false;
  gate.Close([&] { empty = true; });
  EXPECT_FALSE(gate.Enter()) << "work began after the gate was closed";
  first.reset();
  loop_->RunTurn(loop().Now());
  EXPECT_FALSE(empty);
  second.reset();
  EXPECT_FALSE(empty) << "called inside the work that ended";
  loop_->RunTurn(loop().Now());
  EXPECT_TRUE(empty);
}

TEST_P(GateTest, AnEmptyGateClosesInTheNextTurn) {
  Gate gate(loop());
  bool empty = false;
  gate.Close([&] { empty = true; });
  EXPECT_FALSE(empty);
  loop_->RunTurn(loop().Now());
  EXPECT_TRUE(empty);
}

TEST_P(GateTest, GoingWithWorkInsideIsABug) {
  EXPECT_DEATH(
      {
        auto gate = std::make_unique<Gate>(loop());
        auto pass = gate->Enter();
        gate.reset();
      },
      "CHECK failed at gate.h");
}

}  // namespace
}  // namespace denselet::reactor
