// SPDX-License-Identifier: MIT
// Tests what the ladder claims and the handout's table of messages and bytes does not show.
// RUNNER is the path of the solution's runner.

#include "multi_gpu/lab.hpp"
#include "multi_gpu/points.hpp"
#include "testing/counted.hpp"
#include "testing/recorded.hpp"

namespace course::multi_gpu {

const lab::Problem& problem();

namespace {

lab::Case case_of(const char* rung, std::string_view name) {
  for (const lab::Case& c : problem().cases(*lab::find_task(kManifest, rung)))
    if (c.name == name) return c;
  ADD_FAILURE() << "no case " << name;
  return {};
}

// The slices of the bins save bytes.
TEST(Ladder, OneOperationHasLessLatencyThanTwo) {
  lab::Counter counter(problem());
  const lab::Case c = case_of("histogram", "b65536_d4_even_n262144_random");
  EXPECT_LT(counter("histogram_all_reduce", c).modelled_us, counter("histogram", c).modelled_us);
}

// On all ranks, and however the blocks are scheduled.
TEST(Ladder, ReductionInOrderGivesTheSameBitsEverywhere) {
  const lab::Case c = case_of("reduce", "sum_f32_d8_uneven_n65537_random");
  EXPECT_EQ(lab::same_in_any_order(problem(), "reduce_in_order", c).out.size(), 1u);
}

}  // namespace
}  // namespace course::multi_gpu
