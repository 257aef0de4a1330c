// Tables of decisions: a row is a behaviour, and a test of its own by that name.
#pragma once

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/sync/decide/scene.h"

namespace denselet::sync::tests {

struct Row {
  const char* behaviour;
  const char* pod;
  const char* given;
  const char* decision;

  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.pod << " | " << row.given; }
};

class DecideTable : public testing::TestWithParam<Row> {};

inline std::string BehaviourOf(const testing::TestParamInfo<Row>& info) {
  return info.param.behaviour;
}

}  // namespace denselet::sync::tests

#define DECISIONS(theme, ...)                                                                   \
  INSTANTIATE_TEST_SUITE_P(theme, DecideTable, testing::ValuesIn(std::vector<Row> __VA_ARGS__), \
                           BehaviourOf)
