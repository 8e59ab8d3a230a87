// SPDX-License-Identifier: MIT
// Tests what the handout says of the kernels, with the simulator's counters and traces. RUNNER is the path of
// the solution's runner.
#include <gtest/gtest.h>

#include <vector>

#include "first_steps/lab.hpp"
#include "first_steps/points.hpp"
#include "testing/counted.hpp"
#include "testing/traced.hpp"

namespace course::first_steps {

const lab::Problem& problem();

namespace {

TEST(Counters, BarriersAndAtomicsAreWhereTheHandoutSays) {
  lab::Counter counter(problem());
  for (const lab::Task& task : kTasks) {
    const lab::Counted& counted = counter(std::string(task.id).c_str(), problem().example(task, 16));
    EXPECT_EQ(counted["barriers"], task.id == "barrier" ? 2 : 0) << "one in each block of " << task.id;
    EXPECT_EQ(counted["atomic_lanes"], task.id == "atomic" ? 6 : 0)
        << "one for each even item in " << task.id;
  }
}

TEST(Trace, ShowsTheReversedBlock) {
  const lab::Traced trace(problem(), "barrier", 8);
  EXPECT_EQ(trace.steps<int>("s_items", 8).back(), (std::vector<int>{3, 1, 7, 0, 4, 1, 6, 3}));
  EXPECT_EQ(trace.steps<int>("d_out", 8).back(), (std::vector<int>{3, 6, 1, 4, 0, 7, 1, 3}));
}

}  // namespace
}  // namespace course::first_steps
