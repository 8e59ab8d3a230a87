// SPDX-License-Identifier: MIT
// Tests the ladder's claims with the simulator's counters: what the ranks send.
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

// 4 devices with 2^16 items each.
const char* const kReduced = "sum_i32_d4_even_n262144_random";
const char* const kScanned = "inclusive_sum_i32_d4_even_n262144_random";

TEST(Ladder, RanksExchangeOneValueEach) {
  lab::Counter counter(problem());
  for (const char* rung : {"reduce", "reduce_in_order", "scan", "scan_then_add"}) {
    const bool scans = std::string_view(rung).starts_with("scan");
    const lab::Counted& counted = counter(rung, case_of(rung, scans ? kScanned : kReduced));
    EXPECT_EQ(counted.traffic.at("operations"), 1) << rung;
    EXPECT_EQ(counted.traffic.at("messages"), 3) << rung;
    EXPECT_EQ(counted.traffic.at("bytes_sent"), 3 * 4) << rung;
  }
}

// By slices, each rank sends its counts 2 (n_ranks - 1) / n_ranks times instead of n_ranks - 1 times.
TEST(Ladder, SlicesOfTheBinsSaveBytesOfTheHistogram) {
  lab::Counter counter(problem());
  const lab::Case c = case_of("histogram", "b65536_d4_even_n262144_random");
  const double bytes = 65536 * sizeof(Count);
  const lab::Counted &whole = counter("histogram_all_reduce", c), &slices = counter("histogram", c);
  EXPECT_EQ(whole.traffic.at("bytes_sent").get<double>(), 3 * bytes);
  EXPECT_EQ(slices.traffic.at("bytes_sent").get<double>(), 1.5 * bytes);
  EXPECT_EQ(slices.traffic.at("messages"), 6);
  EXPECT_LT(whole.modelled_us, slices.modelled_us) << "the latency of one operation instead of two";
}

// On all ranks, and however the blocks are scheduled.
TEST(Ladder, ReductionInOrderGivesTheSameBitsEverywhere) {
  const lab::Case c = case_of("reduce", "sum_f32_d8_uneven_n65537_random");
  EXPECT_EQ(lab::same_in_any_order(problem(), "reduce_in_order", c).out.size(), 1u);
}

}  // namespace
}  // namespace course::multi_gpu
