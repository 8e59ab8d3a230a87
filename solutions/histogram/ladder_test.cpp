// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim: the number of atomics, of lanes with the same
// address, and of bytes; and each rung removes what the rung below it wasted. The environment variable RUNNER
// is the path of the solution's runner.

#include <cmath>

#include "histogram/lab.hpp"
#include "testing/counted.hpp"

namespace course::histogram {

const lab::Problem& problem();

namespace {

using lab::Pattern;

constexpr std::uint64_t kN = 1 << 16;

// One rung on n int32 samples in n_bins equal bins over [0, 65536).
const lab::Counted& counted(const std::string& rung, std::uint32_t n_bins = 256,
                            Pattern pattern = Pattern::random, std::uint64_t n = kN) {
  static lab::Counter counter(problem());
  lab::Case c{.name = "b" + std::to_string(n_bins) + "_n" + std::to_string(n) + "_" +
                      std::string(lab::name_of(pattern)),
              .n = n,
              .pattern = pattern,
              .params = {n_bins, 0, 65536}};
  return counter(rung, c);
}

double per_sample(const lab::Counted& c, std::uint64_t n = kN) {
  return c["atomic_lanes"] / static_cast<double>(n);
}

// Turns of a warp's atomic operation, on average.
double contention(const lab::Counted& c) {
  return c["atomic_turns"] / c["atomic_requests"];
}

TEST(Ladder, GlobalAtomicsMakesOneASampleAndMovesTwoSectorsForEachThatItTouches) {
  const auto& c = counted("global_atomics");
  EXPECT_EQ(per_sample(c), 1);
  EXPECT_EQ(c["launches"], 2);
  // 32 random samples access 25.3 of the 64 sectors of 256 counts, 64 · (1 − (63/64)^32), and 4 sectors of
  // the input.
  const double sectors = 64 * (1 - std::pow(63.0 / 64, 32));
  EXPECT_NEAR(c.bytes() / (4 * kN), (2 * 32 * sectors + 128) / 128, 0.3);
}

TEST(Ladder, OneBinMakesAWarpQueue) {
  EXPECT_EQ(contention(counted("global_atomics", 256, Pattern::all_equal)), 32);
  EXPECT_LT(contention(counted("global_atomics")), 3);
}

TEST(Ladder, PrivateCountsMakesNoAtomicAndMovesTwoSectorsASample) {
  for (const Pattern pattern : {Pattern::random, Pattern::all_equal}) {
    EXPECT_EQ(counted("private_counts", 256, pattern)["atomic_lanes"], 0);
  }
  const auto& c = counted("private_counts");
  const double counters = 257.0 * n_private(kN, 256);  // cleared, and read once more
  EXPECT_NEAR(c.bytes(), kN * (4 + 2 * 32.0) + 2 * 4 * counters, 0.02 * c.bytes());
  // All samples are equal: neighbouring threads' counters of one bin are neighbours.
  EXPECT_LT(counted("private_counts", 256, Pattern::all_equal).bytes(), 0.3 * c.bytes());
}

TEST(Ladder, EveryWindowReadsAllSamples) {
  EXPECT_NEAR(counted("shared_counts", 12288)["global_load_requests"] /
                  counted("shared_counts", 12287)["global_load_requests"],
              2, 0.1);
}

TEST(Ladder, SortReduceMakesOneAtomicARun) {
  const double tiles = kN / 2048;
  EXPECT_EQ(counted("sort_reduce", 256, Pattern::all_equal)["atomic_lanes"], tiles);
  EXPECT_LE(counted("sort_reduce")["atomic_lanes"], 257 * tiles);
  EXPECT_GT(counted("sort_reduce")["atomic_lanes"], 250 * tiles);
  EXPECT_EQ(contention(counted("sort_reduce")), 1) << "runs of one tile are of different bins";
  EXPECT_GT(per_sample(counted("sort_reduce", 65536)), 0.95)
      << "with so many bins hardly two samples are alike";
}

TEST(Ladder, SortReduceSortsIn66Rounds) {
  // The other barriers: one after loading, two in the sum, one after the starts, one at the end.
  EXPECT_EQ(counted("sort_reduce")["barriers"], kN / 2048 * (66 + 5));
}

TEST(Ladder, IncrementsOfOneSharedCounterAreCombined) {
  EXPECT_LT(contention(counted("shared_counts", 256, Pattern::all_equal)), 1.1);
  EXPECT_LT(contention(counted("shared_counts", 256, Pattern::skewed)), contention(counted("shared_counts")));
}

TEST(Ladder, RunsSpareAtomicsWhereSamplesAreAlike) {
  EXPECT_LT(per_sample(counted("run_lengths", 256, Pattern::skewed)), 0.25);
  EXPECT_LT(per_sample(counted("run_lengths", 256, Pattern::ascending)), 0.3);
  EXPECT_LT(per_sample(counted("run_lengths", 256, Pattern::all_equal)), 0.1);
  EXPECT_GT(per_sample(counted("run_lengths")), 0.95);
  EXPECT_GT(contention(counted("run_lengths", 256, Pattern::skewed)),
            contention(counted("shared_counts", 256, Pattern::skewed)))
      << "additions of a length are not combined";
}

TEST(Ladder, ACopyForEveryLaneEndsContention) {
  for (const Pattern pattern : {Pattern::random, Pattern::skewed, Pattern::all_equal}) {
    EXPECT_EQ(contention(counted("combined", 256, pattern)), 1) << lab::name_of(pattern);
  }
  EXPECT_GT(contention(counted("combined", 384)), 1.5) << "copies no longer fit";
}

// Eight copies for 256 bins, four for 4,096; so 32 / 8 or 32 / 4 lanes can share a bank.
TEST(Ladder, StateOfTheArtSharesEveryCopyAmongAFewLanes) {
  EXPECT_LE(contention(counted("state_of_the_art", 256, Pattern::all_equal)), 32.0 / 8);
  EXPECT_LE(contention(counted("state_of_the_art", 256)), 32.0 / 8);
  EXPECT_LE(contention(counted("state_of_the_art", 4096, Pattern::all_equal)), 32.0 / 4);
}

TEST(Ladder, StateOfTheArtMakesOneAtomicASampleWhateverTheyAre) {
  for (const Pattern pattern : {Pattern::random, Pattern::skewed, Pattern::all_equal})
    EXPECT_LT(per_sample(counted("state_of_the_art", 256, pattern)), 1.05) << lab::name_of(pattern);
}

TEST(Ladder, StateOfTheArtReadsSamplesOnceUpTo58111Bins) {
  // 16 bytes per lane. The merge adds the sectors of the counts, which are not loads of warps. Each block
  // also reads, a few times, whether the counts are cleared.
  const auto readings = [](std::uint32_t n_bins) {
    return counted("state_of_the_art", n_bins)["global_load_requests"] / (static_cast<double>(kN) / 128);
  };
  EXPECT_NEAR(readings(58111), readings(256), 0.03);
  EXPECT_NEAR(readings(58112), 2 * readings(256), 0.03)
      << "in an array of 2^24 samples it would be one reading";
}

TEST(Ladder, OneReadingCostsNoMoreThanManyWhateverTheBins) {
  for (const std::uint32_t n_bins : {2u, 256u, 4096u}) {
    EXPECT_LE(counted("state_of_the_art", n_bins, Pattern::random, 1 << 18).modelled_us,
              1.05 * counted("combined", n_bins, Pattern::random, 1 << 18).modelled_us)
        << n_bins;
  }
}

// Bytes in 256 bins, or in 7 bins between edges.
const lab::Counted& counted_bytes(OpId op) {
  static lab::Counter counter(problem());
  lab::Case c{.name = std::string("bytes_") + name_of(op),
              .op = static_cast<std::uint32_t>(op),
              .dtype = lab::DType::u8,
              .n = kN,
              .params = {op == OpId::even ? 256 : 7, 0, 256}};
  return counter("state_of_the_art", c);
}

TEST(TopRung, FindsTheBinOfAByteOnlyWhenItMerges) {
  EXPECT_LT(counted_bytes(OpId::edges)["warp_instructions"],
            1.1 * counted_bytes(OpId::even)["warp_instructions"]);
}

}  // namespace
}  // namespace course::histogram
