// SPDX-License-Identifier: MIT
// Tests the ladder's claims with the simulator's counters and traces. RUNNER is the path of the solution's
// runner.
#include <gtest/gtest.h>

#include <vector>

#include "LAB_ID/lab.hpp"
#include "LAB_ID/points.hpp"
#include "testing/counted.hpp"
#include "testing/traced.hpp"

namespace course::LAB_ID {

const lab::Problem& problem();

namespace {

TEST(Ladder, ReadsAndWritesEveryItemOnce) {
  lab::Counter counter(problem());
  const lab::Case c = problem().example(kTasks[0], 4096);
  EXPECT_EQ(counter("shared", c).bytes(), 2.0 * 4 * 4096);
}

TEST(Trace, MatchesTheHandout) {
  const std::vector<std::vector<int>> rows = {{3, 6, 1, 4, 0, 7, 1, 3}};
  EXPECT_EQ(lab::Traced(problem(), "shared", 8).steps<int>("d_out", 8), rows);
}

}  // namespace
}  // namespace course::LAB_ID
