// SPDX-License-Identifier: MIT
// Tests the ladder's claims with the simulator's counters. RUNNER is the path of the solution's runner.

#include "LAB_ID/lab.hpp"
#include "LAB_ID/points.hpp"
#include "testing/counted.hpp"

namespace course::LAB_ID {

const lab::Problem& problem();

namespace {

TEST(Ladder, ReadsAndWritesEveryItemOnce) {
  lab::Counter counter(problem());
  const lab::Case c = problem().example(kTasks[0], 4096);
  EXPECT_EQ(counter("shared", c).bytes(), 2.0 * 4 * 4096);
}

}  // namespace
}  // namespace course::LAB_ID
