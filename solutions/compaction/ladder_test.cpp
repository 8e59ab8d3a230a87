// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim: work, steps, bytes and barriers follow the handout's
// closed forms, and each rung removes what the rung below it wasted. The environment variable RUNNER is the
// path of the solution's runner.

#include <cmath>

#include "compaction/lab.hpp"
#include "testing/counted.hpp"

namespace course::compaction {

const lab::Problem& problem();

namespace {

constexpr double kBlock = 256;      // threads, in every rung
constexpr double kTile = 2048;      // items, in warp_aggregated and single_pass
constexpr double kPackTile = 4096;  // int32 items, in packed
constexpr double kTopTile = 4096;   // int32 items, in state_of_the_art
constexpr double kScanBarriers = 9, kRoundsOfABlock = 8;

// One rung on n int32 items, of which half are kept at random.
const lab::Counted& counted(const std::string& rung, std::uint64_t n) {
  static lab::Counter counter(problem());
  lab::Case c{.name = "is_positive_i32_n" + std::to_string(n),
              .op = static_cast<std::uint32_t>(KeepId::is_positive),
              .n = n};
  return counter(rung, c);
}
double bytes_per_item(const std::string& rung, std::uint64_t n) {
  return counted(rung, n).bytes() / static_cast<double>(n);
}

// Additions of a scan with two buffers, and the subtraction that makes it exclusive: 256 threads, of which
// 2^r have no partner in round r.
constexpr double kScanWork = kBlock * kRoundsOfABlock - (kBlock - 1) + kBlock;

constexpr std::uint64_t kFull = 65536;  // two levels of 256 blocks, all full
constexpr std::uint64_t kN = 262144;

TEST(Ladder, ScanningFlagsTakesTheStepsOfTheHandout) {
  // ⌈log2 n⌉ rounds, a subtraction, an addition for each further level, and the addition of the last flag for
  // the count.
  EXPECT_EQ(counted("three_kernels", kFull)["steps"], 16 + 1 + 1 + 1);
  EXPECT_EQ(counted("three_kernels", kN)["steps"], 18 + 1 + 2 + 1);
  EXPECT_EQ(counted("three_kernels", 1 << 20)["steps"], 20 + 1 + 2 + 1);
  // The counts: a vote, a tree over 8 warps, their scan, and the addition of the offset.
  EXPECT_EQ(counted("fused", kFull)["steps"], 1 + 3 + (kRoundsOfABlock + 1) + 1);
}

TEST(Ladder, ScanningFlagsDoesTheWorkOfTheHandout) {
  const double n = kFull, blocks = n / kBlock;
  EXPECT_EQ(counted("three_kernels", kFull)["work"], (blocks + 1) * kScanWork + n + 1);
  // The first kernel counts with a vote in each of the eight warps and a tree of their counts; then the
  // counts are scanned. The second kernel scans the flags, and adds an offset to each kept item's rank and
  // the total.
  constexpr double kCountWork = 8 + 7;
  const double kept = counted("fused", kFull)["work"] - (blocks * (kScanWork + kCountWork) + kScanWork + 1);
  EXPECT_NEAR(kept, n / 2, 5 * std::sqrt(n / 4));
}

TEST(Ladder, BarriersAreThoseOfTheHandout) {
  const double n = kFull;
  EXPECT_EQ(counted("three_kernels", kFull)["barriers"], kScanBarriers * (n / kBlock + 1));
  EXPECT_EQ(counted("fused", kFull)["barriers"], (1 + kScanBarriers) * n / kBlock + kScanBarriers);
  EXPECT_EQ(counted("warp_aggregated", kFull)["barriers"], 2 * n / kTile + kScanBarriers);
  EXPECT_EQ(counted("single_pass", kFull)["barriers"], 3 * n / kTile);
  EXPECT_EQ(counted("packed", kFull)["barriers"], 3 * n / kPackTile);
  // Each block has one tile, in the first step, after a barrier; its run is stored four steps later.
  EXPECT_EQ(counted("state_of_the_art", kFull)["barriers"], (1 + 1 + 4) * n / kTopTile);
}

TEST(Ladder, LaunchesFollowTheLevelsOfTheScan) {
  const auto launches = [](const char* rung, std::uint64_t n) { return counted(rung, n)["launches"]; };
  EXPECT_EQ(launches("three_kernels", 256), 3);  // as its name says: a scan by one block is one kernel
  EXPECT_EQ(launches("three_kernels", kFull), 5);
  EXPECT_EQ(launches("three_kernels", kN), 7);
  EXPECT_EQ(launches("fused", kFull), 3);
  EXPECT_EQ(launches("fused", kN), 5);
  EXPECT_EQ(launches("warp_aggregated", kN), 3);
  EXPECT_EQ(launches("single_pass", kN), 2);
  EXPECT_EQ(launches("packed", kN), 2);
  EXPECT_EQ(launches("state_of_the_art", kN), 1);
}

TEST(Ladder, BytesAreThoseOfTheHandout) {
  // A warp that keeps k of 32 items stores a run of 4k bytes that can begin anywhere: (4k + 28) / 32 sectors.
  const double run = 32 * (4 * 16 + 28) / 32.0 / 32;
  EXPECT_NEAR(bytes_per_item("three_kernels", kN), 53 + run, 0.4);
  EXPECT_NEAR(bytes_per_item("fused", kN), 9 + run, 0.4);
  EXPECT_NEAR(bytes_per_item("warp_aggregated", kN), 8 + run, 0.3);
  EXPECT_NEAR(bytes_per_item("single_pass", kN), 4 + run, 0.3);
  EXPECT_NEAR(bytes_per_item("packed", kN), 4 + 2, 0.25);
  EXPECT_NEAR(bytes_per_item("state_of_the_art", kN), 4 + 2, 0.25);
}

TEST(Ladder, TheTopRungsLoadSixteenBytesALane) {
  for (const char* rung : {"packed", "state_of_the_art"}) {
    const auto& top = counted(rung, kN);
    EXPECT_GT(top["global_load_bytes"] / top["global_load_requests"], 350) << rung;
  }
}

TEST(Ladder, LongerRunsTakeMoreSectorsPerStore) {
  const auto sectors_per_store = [](const char* rung) {
    return counted(rung, kN)["global_store_sectors"] / counted(rung, kN)["global_store_requests"];
  };
  EXPECT_LT(sectors_per_store("single_pass"), 3);
  EXPECT_GT(sectors_per_store("packed"), 10);           // 16 bytes a lane
  EXPECT_GT(sectors_per_store("state_of_the_art"), 3);  // 4 bytes a lane, aligned: at most 4
}

TEST(Ladder, EachRungTakesFewerInstructionsThanTheOneBelow) {
  const char* rungs[] = {"three_kernels", "fused", "warp_aggregated", "single_pass", "packed"};
  for (std::size_t i = 1; i < std::size(rungs); ++i) {
    EXPECT_LT(counted(rungs[i], kN)["lane_instructions"],
              0.85 * counted(rungs[i - 1], kN)["lane_instructions"])
        << rungs[i];
  }
}

TEST(Ladder, NoRungIsSlowerThanTheOneBelow) {
  const char* rungs[] = {"three_kernels", "fused",  "warp_aggregated",
                         "single_pass",   "packed", "state_of_the_art"};
  constexpr std::uint64_t kLarge = 1 << 20;
  for (std::size_t i = 1; i < std::size(rungs); ++i) {
    EXPECT_LE(counted(rungs[i], kLarge).modelled_us, 1.05 * counted(rungs[i - 1], kLarge).modelled_us)
        << rungs[i];
  }
}

}  // namespace
}  // namespace course::compaction
