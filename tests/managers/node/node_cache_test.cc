#include "managers/node/node_cache.h"

#include <gtest/gtest.h>

#include "tests/managers/manager_fixture.h"

namespace denselet::node {
namespace {

class NodeCacheTest : public tests::ManagerTest {
 protected:
  size_t Told(std::string_view text) {
    const std::string lines = sink_.Take();
    size_t count = 0;
    for (size_t at = lines.find(text); at != lines.npos; at = lines.find(text, at + 1)) ++count;
    return count;
  }

  NodeCache cache_{loop(), log(), api_, "n1"};
};

TEST_F(NodeCacheTest, AnInterruptedWatchIsToldAtOnceAndThenNowAndThen) {
  cache_.Start();
  RunFor(Seconds(1));
  for (int i = 0; i < 60; ++i) {
    api_.Interrupt(Error(ErrorCode::kUnavailable, "nobody is there"));
    RunFor(Seconds(5));
  }
  const size_t told = Told("Watch of the node was interrupted");
  EXPECT_GE(told, 2u);
  EXPECT_LE(told, 5u);
  api_.GoOn();
  RunFor(Seconds(1));
  EXPECT_EQ(Told("Watch of the node goes on"), 1u);
}

}  // namespace
}  // namespace denselet::node
