// SPDX-License-Identifier: MIT
// Tests what the handout says of the kernels, with the simulator's counters. RUNNER is the path of the
// solution's runner.

#include "first_steps/lab.hpp"
#include "first_steps/points.hpp"
#include "testing/counted.hpp"

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

}  // namespace
}  // namespace course::first_steps
