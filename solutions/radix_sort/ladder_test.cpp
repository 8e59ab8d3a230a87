// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim: launches, barriers, comparisons and bytes follow the
// closed forms of the handout, and each rung removes what the rung below it wasted. The environment variable
// RUNNER is the path of the solution's runner.

#include <cmath>

#include "radix_sort/lab.hpp"
#include "testing/counted.hpp"

namespace course::radix_sort {

const lab::Problem& problem();

namespace {

// One rung on n random uint32 keys (or pairs), sorted by their lowest `bits` bits.
const lab::Counted& counted(const std::string& rung, std::uint64_t n, unsigned bits = 32,
                            OpId op = OpId::keys, lab::Pattern pattern = lab::Pattern::random) {
  static lab::Counter counter(problem());
  lab::Case c;
  c.name = std::string(name_of(op)) + "_n" + std::to_string(n) + "_bits" + std::to_string(bits) + "_" +
           std::string(lab::name_of(pattern));
  c.pattern = pattern;
  c.op = static_cast<std::uint32_t>(op);
  c.dtype = lab::DType::u32;
  c.n = n;
  c.params[kEndBit] = bits;
  return counter(rung, c);
}

constexpr std::uint64_t kN = 262144;
constexpr double kItems = kN;

double log2_of(double x) {
  return std::log2(x);
}

// Bytes moved, divided by those of input and output.
double traffic(const lab::Counted& c, double item_bytes = 4) {
  return c.bytes() / (2 * item_bytes * kItems);
}

TEST(Ladder, SplitLaunchesTwoKernelsAndAScanForEachBit) {
  EXPECT_EQ(counted("split", 1024, 3)["launches"], 3 * (2 + 1));
  EXPECT_EQ(counted("split", 1025, 3)["launches"], 3 * (2 + 3));
  EXPECT_EQ(counted("split", kN, 2)["launches"], 2 * (2 + 3));
  EXPECT_EQ(counted("split", 1048577, 1)["launches"], 2 + 5);
}

TEST(Ladder, SplitPaysItsBytesOnceForEachBit) {
  const double one_bit = traffic(counted("split", kN, 1)), four_bits = traffic(counted("split", kN, 4));
  EXPECT_NEAR(four_bits, 4 * one_bit, 0.02 * four_bits);
  EXPECT_NEAR(one_bit * 8, 53, 1);  // bytes per key
}

TEST(Ladder, TilesWaitAtTwoBarriersForEachBit) {
  const double n_tiles = kItems / kTile;
  EXPECT_EQ(counted("tile_sort", kN, 8)["barriers"], 2 * 8 * n_tiles);
  EXPECT_EQ(counted("tile_sort", kN)["barriers"], 2 * 32 * n_tiles);
}

TEST(Ladder, MergingTakesOneMoreLaunchEachLevel) {
  for (const std::uint64_t n : {1024u, 2048u, 4096u, 16384u, 262144u}) {
    const double levels = std::max(1.0, log2_of(static_cast<double>(n) / kTile));
    EXPECT_EQ(counted("merge", n)["launches"], levels * (levels + 1) / 2) << n;
    EXPECT_EQ(counted("merge_path", n)["launches"], levels) << n;
  }
}

// In shared memory a pair of keys costs a minimum and a maximum, in global memory one comparison.
TEST(Ladder, MergingComparesEveryPairOfEveryStage) {
  const double levels = log2_of(kItems / kTile);
  const double in_global = levels * (levels - 1) / 2, in_shared = 11 * levels;
  double stages = 0;
  for (double run = kTile; run < kItems; run *= 2) stages += log2_of(2 * run);
  EXPECT_EQ(in_global + in_shared, stages);
  EXPECT_EQ(counted("merge", kN)["work"], kItems / 2 * (2 * in_shared + in_global));
}

TEST(Ladder, MergingByRankReadsAndWritesALevelOnce) {
  const double levels = log2_of(kItems / kTile);
  EXPECT_NEAR(traffic(counted("merge_path", kN)), levels, 0.2 * levels);
  EXPECT_GT(traffic(counted("merge", kN)), 3 * levels);
}

TEST(Ladder, DigitsTakeFiveLaunchesAPassAndSweepsOne) {
  EXPECT_EQ(counted("digits", kN)["launches"], 4 * (2 + 3));
  EXPECT_EQ(counted("digits", kN, 9)["launches"],
            2 + 3 + (2 + 1));  // the ninth bit's counts fit one tile of the scan
  EXPECT_EQ(counted("onesweep", kN)["launches"], 2 + 4);
  EXPECT_EQ(counted("onesweep", kN, 9)["launches"], 2 + 2);
}

TEST(Ladder, BytesShrinkFromRungToRung) {
  EXPECT_GT(traffic(counted("split", kN, 4)) * 32 / 4, 200);
  EXPECT_LT(traffic(counted("digits", kN)), 10);
  EXPECT_LT(traffic(counted("onesweep", kN)), 7);
  EXPECT_LT(traffic(counted("counts_first", kN)), traffic(counted("onesweep", kN)));
}

TEST(Ladder, ValuesCostTheirBytesAlone) {
  const auto& pairs = counted("digits", kN, 32, OpId::pairs);
  // Only keys are counted: they are read twice and written once. Values are read and written once per pass.
  EXPECT_LT(traffic(pairs, 8), traffic(counted("digits", kN)));
  EXPECT_EQ(pairs["launches"], counted("digits", kN)["launches"]);
}

TEST(Ladder, ASweepReadsTheKeysOnceAPassAndOnceMore) {
  // Keys: 4 passes and the histograms. The rest is the tile statuses.
  const double keys = 5 * 4 * kItems;
  EXPECT_GE(counted("onesweep", kN)["global_load_bytes"], keys);
  EXPECT_LT(counted("onesweep", kN)["global_load_bytes"], 1.25 * keys);
  EXPECT_GE(counted("digits", kN)["global_load_bytes"], 8 * 4 * kItems);
}

TEST(Ladder, CountingFirstIssuesFewerInstructionsAKey) {
  EXPECT_LT(counted("counts_first", kN)["warp_instructions"],
            0.8 * counted("onesweep", kN)["warp_instructions"]);
}

// The histograms, and two readings per pass. The second one comes from a cache, which the counters do not
// model. So few keys have tiles of 3,072 instead of 12,288, so the words of tiles weigh four times as much.
TEST(Ladder, TheLastRungReadsATileTwiceAndStillIssuesFewerInstructions) {
  const double keys = (1 + 2 * 4) * 4 * kItems;
  EXPECT_GE(counted("state_of_the_art", kN)["global_load_bytes"], keys);
  EXPECT_LT(counted("state_of_the_art", kN)["global_load_bytes"], 1.2 * keys);
  EXPECT_LT(counted("state_of_the_art", kN)["warp_instructions"],
            0.9 * counted("onesweep", kN)["warp_instructions"]);
}

TEST(TopRung, SortsShortArraysInOneLaunch) {
  for (const std::uint64_t n : {1u, 5000u, 10240u}) EXPECT_EQ(counted("state_of_the_art", n)["launches"], 1);
  EXPECT_EQ(counted("state_of_the_art", 10241)["launches"], 2 + 4);
  EXPECT_EQ(traffic(counted("state_of_the_art", 10240)) * kItems / 10240, 1);
}

TEST(TopRung, CopiesIfNoBitsAreSorted) {
  EXPECT_EQ(counted("state_of_the_art", kN, 0)["launches"], 1);
  EXPECT_EQ(traffic(counted("state_of_the_art", kN, 0)), 1);
}

TEST(TopRung, RanksNoKeysInATileOfEqualDigits) {
  const auto& equal = counted("state_of_the_art", kN, 32, OpId::keys, lab::Pattern::all_equal);
  const auto& random = counted("state_of_the_art", kN);
  EXPECT_EQ(equal["launches"], random["launches"]);
  EXPECT_LT(equal["warp_instructions"], 0.6 * random["warp_instructions"]);
}

TEST(Ladder, NoWholeSortIsSlowerThanTheOneBelow) {
  const char* rungs[] = {"split", "digits", "onesweep", "counts_first"};
  constexpr std::uint64_t kFewer = 65536;  // the 32 passes of split are slow
  constexpr double kResolution = 1.2;      // of the model: handouts/model.md
  for (std::size_t i = 1; i < std::size(rungs); ++i) {
    EXPECT_LE(counted(rungs[i], kFewer).modelled_us, kResolution * counted(rungs[i - 1], kFewer).modelled_us)
        << rungs[i];
  }
}

}  // namespace
}  // namespace course::radix_sort
