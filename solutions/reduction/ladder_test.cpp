// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim and the handout's table of barriers and bytes does
// not show: work and steps follow the closed forms for other lengths, and each rung removes what the rung
// below it wasted. The environment variable RUNNER is the path of the solution's runner.

#include <cmath>

#include "lab/compare.hpp"
#include "reduction/lab.hpp"
#include "reduction/points.hpp"
#include "testing/counted.hpp"
#include "testing/recorded.hpp"

namespace course::reduction {

const lab::Problem& problem();

namespace {

// One rung on n int32 items.
const lab::Counted& counted(const std::string& rung, std::uint64_t n) {
  static lab::Counter counter(problem());
  lab::Case c{.name = "sum_i32_n" + std::to_string(n), .op = static_cast<std::uint32_t>(OpId::sum), .n = n};
  return counter(rung, c);
}

class Trees : public testing::TestWithParam<const char*> {};

TEST_P(Trees, DoOneOperationFewerThanThereAreItems) {
  for (const std::uint64_t n : {2u, 255u, 257u, 1000u, 65537u, 262144u}) {
    EXPECT_EQ(counted(GetParam(), n)["work"], static_cast<double>(n - 1)) << n;
  }
}

TEST_P(Trees, TakeLog2StepsWhenTheLevelsAreFull) {
  for (const std::uint64_t n : {2u, 256u, 65536u}) {
    EXPECT_EQ(counted(GetParam(), n)["steps"], std::log2(static_cast<double>(n))) << n;
  }
  EXPECT_LE(counted(GetParam(), 262144)["steps"], 18 * 1.5);
}

INSTANTIATE_TEST_SUITE_P(Ladder, Trees,
                         testing::Values("neighboured", "reindexed", "sequential", "first_add"),
                         [](const auto& instance) { return std::string(instance.param); });

// The items do not change the cost of a sum: the seed changes only the schedule.
TEST(Ladder, CountersDependNeitherOnTheScheduleNorOnCheckers) {
  lab::Counter counter(problem());
  lab::Case c{.name = "sum_i32_n65537", .op = static_cast<std::uint32_t>(OpId::sum), .n = 65537};
  for (const auto& tasks : {kManifest.tasks, kManifest.further_rungs}) {
    for (const lab::Task& counted_task : tasks) {
      const std::string rung(counted_task.id);
      const lab::Counted once = counter.counted_anew(rung, c, 1, false);
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const lab::Counted again = counter.counted_anew(rung, c, seed, true);
        EXPECT_EQ(again.totals, once.totals) << rung << ", seed " << seed;
        // The device's clock continues from case to case, so differences of its values are rounded.
        EXPECT_NEAR(again.modelled_us, once.modelled_us, 1e-6 * once.modelled_us)
            << rung << ", seed " << seed;
      }
    }
  }
}

constexpr std::uint64_t kN = 262144;

// One block has one barrier, and its items pass through no other memory. Several blocks take tickets.
TEST(TopRung, ReducesShortArraysInOneBlock) {
  for (const std::uint64_t n : {1u, 1000u, 16384u}) {
    EXPECT_EQ(counted("state_of_the_art", n)["barriers"], 1) << n;
    EXPECT_EQ(counted("state_of_the_art", n)["atomic_lanes"], 0) << n;
  }
  EXPECT_EQ(counted("state_of_the_art", 16385)["atomic_lanes"], 9);
}

TEST(Ladder, LoadsSixteenBytesALaneWhenItPays) {
  const auto sectors = [](const char* rung) {
    return counted(rung, kN)["global_load_sectors"] / counted(rung, kN)["global_load_requests"];
  };
  EXPECT_NEAR(sectors("sequential"), 4, 0.1);  // 32 lanes, 4 bytes each
  EXPECT_GT(sectors("coarsened"), 15);         // 32 lanes, 16 bytes each
  EXPECT_GT(sectors("state_of_the_art"), 15);
}

TEST(Ladder, NoRungIsSlowerThanTheOneBelow) {
  const char* rungs[] = {"neighboured", "reindexed", "sequential",    "first_add",
                         "shuffle",     "coarsened", "single_launch", "state_of_the_art"};
  constexpr std::uint64_t kLarge = 1 << 20;
  for (std::size_t i = 1; i < std::size(rungs); ++i) {
    EXPECT_LE(counted(rungs[i], kLarge).modelled_us, 1.05 * counted(rungs[i - 1], kLarge).modelled_us)
        << rungs[i];
  }
}

// The order of combining is fixed: the bits must not depend on which block finishes last. And an item passes
// through few additions: 4 + 8 in a thread, 10 in the block, 11 in the last block.
TEST(TopRung, AddsFloatsToTheSameBitsInEveryRunAndWithinItsBound) {
  lab::Case c{.name = "sum_f32",
              .op = static_cast<std::uint32_t>(OpId::sum),
              .dtype = lab::DType::f32,
              .n = (std::uint64_t{1} << 18) + 3};
  const auto [items, got] = lab::same_in_any_order(problem(), "state_of_the_art", c);
  ASSERT_EQ(got.size(), 1u);
  double sum = 0, magnitudes = 0;
  for (const float item : items) {
    sum += static_cast<double>(item);
    magnitudes += std::abs(static_cast<double>(item));
  }
  EXPECT_LE(std::abs(static_cast<double>(got[0]) - sum),
            lab::sum_error_bound(lab::DType::f32, 4 + 8 + 10 + 11, magnitudes, false));
}

}  // namespace
}  // namespace course::reduction
