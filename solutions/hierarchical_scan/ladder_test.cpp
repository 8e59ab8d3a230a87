// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim: bytes are 4n, 3n and 2n items, and launches and
// steps follow the closed forms of the handout. The environment variable RUNNER is the path of the solution's
// runner.

#include <cmath>

#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/points.hpp"
#include "lab/compare.hpp"
#include "testing/counted.hpp"
#include "testing/recorded.hpp"

namespace course::hierarchical_scan {

const lab::Problem& problem();

namespace {

lab::Case sum_case(std::uint64_t n, Kind kind = Kind::inclusive) {
  lab::Case c{.name = std::string(name_of(kind)) + "_sum_i32_n" + std::to_string(n),
              .op = static_cast<std::uint32_t>(OpId::sum),
              .n = n};
  c.params[0] = static_cast<std::int64_t>(kind);
  return c;
}

// One rung on n int32 items.
const lab::Counted& counted(const std::string& rung, std::uint64_t n, Kind kind = Kind::inclusive) {
  static lab::Counter counter(problem());
  return counter(rung, sum_case(n, kind));
}

constexpr std::uint64_t kN = 262144;           // 128 tiles
constexpr double kInOnce = 4.0 * kN;           // bytes of n items
constexpr double kTiles = kN / double{kTile};  // of the rungs with tiles of 2048 items
constexpr double kSector = 32;

// Bytes besides the items: a tile's sum is written alone, which takes a sector; each of a tile's 8 warps
// reads the tile's carry. The 128 sums do not fill a tile, so they are scanned item by item: 4 loads and 4
// stores of a warp, each over 512 bytes.
constexpr double kSumStores = kTiles * kSector, kScanOfSums = 2 * 4 * 512;
constexpr double kCarryLoads = 8 * kSector;  // of a tile

TEST(Ladder, TwoLevelsAndRecursionMoveFourTimesTheItems) {
  const double second_pass = (kTiles - 1) * (2 * 4 * kTile + kCarryLoads);  // tile 0 has no carry
  for (const char* rung : {"two_levels", "recursive"}) {
    for (const Kind kind : {Kind::inclusive, Kind::exclusive}) {
      EXPECT_EQ(counted(rung, kN, kind).bytes(), 2 * kInOnce + kSumStores + kScanOfSums + second_pass)
          << rung;
    }
  }
}

TEST(Ladder, ReduceThenScanMovesThreeTimesTheItems) {
  const double bytes = counted("reduce_then_scan", kN).bytes();
  EXPECT_EQ(bytes, 3 * kInOnce + kSumStores + kScanOfSums + kTiles * kCarryLoads);
  EXPECT_LT(bytes / counted("recursive", kN).bytes(), 0.76);
}

TEST(Ladder, OnePassMovesTwiceTheItems) {
  for (const char* rung : {"chained", "look_back", "one_word", "warp_look_back", "state_of_the_art"}) {
    for (const Kind kind : {Kind::inclusive, Kind::exclusive}) {
      const double bytes = counted(rung, kN, kind).bytes();
      EXPECT_GE(bytes, 2 * kInOnce) << rung;
      EXPECT_LT(bytes, 2.04 * kInOnce) << rung;
    }
  }
}

// Each level needs one launch on the way up and one on the way down; the top level needs only one.
TEST(Ladder, LaunchesGrowWithTheLevels) {
  constexpr std::uint64_t kThreeLevels = kTwoLevelItems + 1;
  for (const char* rung : {"recursive", "reduce_then_scan"}) {
    EXPECT_EQ(counted(rung, kTile)["launches"], 1) << rung;
    EXPECT_EQ(counted(rung, kTile + 1)["launches"], 3) << rung;
    EXPECT_EQ(counted(rung, kTwoLevelItems)["launches"], 3) << rung;
    EXPECT_EQ(counted(rung, kThreeLevels)["launches"], 5) << rung;
  }
  EXPECT_EQ(counted("two_levels", kTwoLevelItems)["launches"], 3);
  for (const char* rung : {"chained", "look_back"}) {
    EXPECT_EQ(counted(rung, kThreeLevels)["launches"], 2) << rung;
  }
  for (const char* rung : {"one_word", "warp_look_back", "state_of_the_art"}) {
    EXPECT_EQ(counted(rung, kThreeLevels)["launches"], 1) << rung << ": clearing is not a kernel there";
  }
}

TEST(Ladder, TwoLevelsRefusesWhatItCannotDo) {
  const auto outcome = [](const char* rung, std::uint64_t n) {
    lab::Session session(lab::session_options_for_tests(problem().manifest(), lab::DeviceKind::sim));
    return session.run(problem(), *lab::find_task(kManifest, rung), sum_case(n), 1, {}).verdict;
  };
  // For these sizes a refusal is the right answer; for no others.
  EXPECT_EQ(outcome("two_levels", kTwoLevelItems), lab::Verdict::ok);
  EXPECT_EQ(outcome("two_levels", kTwoLevelItems + 1), lab::Verdict::ok);
  EXPECT_EQ(outcome("recursive", kTwoLevelItems + 1), lab::Verdict::ok);
}

TEST(Ladder, StepsGrowWithTheLevelsOfAHierarchyAndWithTheTilesOfAChain) {
  const auto growth = [](const char* rung) {
    return counted(rung, 4 * kN)["steps"] - counted(rung, kN)["steps"];
  };
  for (const char* rung : {"recursive", "reduce_then_scan"}) {
    EXPECT_LT(counted(rung, kN)["steps"], 2 * std::log2(kN)) << rung;
    EXPECT_LE(growth(rung), 8) << rung;
  }
  EXPECT_GE(counted("chained", kN)["steps"], kTiles);
  EXPECT_GE(growth("chained"), 3 * kTiles);
}

TEST(Ladder, NoRungHasBankConflicts) {
  for (const char* rung : {"two_levels", "recursive", "reduce_then_scan", "chained", "look_back"})
    EXPECT_EQ(counted(rung, kN).conflicts(), 1) << rung;
}

TEST(Ladder, LoadsSixteenBytesALane) {
  for (const char* rung : {"recursive", "reduce_then_scan", "look_back", "state_of_the_art"}) {
    const lab::Counted& c = counted(rung, kN);
    EXPECT_GT(c["global_load_sectors"] / c["global_load_requests"], 9) << rung;
  }
}

// As measured: look-back is faster than waiting for each tile in turn, but one thread that looks back tile by
// tile is still slower than two passes over the data.
TEST(Ladder, IsAsFastAsMeasured) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 22;
  const auto us = [](const char* rung) { return counted(rung, kLarge).modelled_us; };
  EXPECT_LE(us("reduce_then_scan"), us("recursive"));
  EXPECT_LT(us("look_back"), 0.2 * us("chained"));
  EXPECT_LT(us("recursive"), us("look_back"));
  EXPECT_LT(us("state_of_the_art"), us("look_back"));
}

// The association order is fixed: the bits must not depend on the order in which blocks publish. And an item
// passes through few additions: 16 in a thread, 21 in the tile, 21 in the wave, and one per wave; here there
// is one wave.
TEST(TopRung, ScansFloatsToTheSameBitsInEveryRunAndWithinItsBound) {
  lab::Case c = sum_case((std::uint64_t{1} << 18) + 3);
  c.dtype = lab::DType::f32;
  const auto [items, prefixes] = lab::same_in_any_order(problem(), "state_of_the_art", c);
  ASSERT_EQ(prefixes.size(), c.n);
  double sum = 0, magnitudes = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    sum += static_cast<double>(items[i]);
    magnitudes += std::abs(static_cast<double>(items[i]));
    ASSERT_LE(std::abs(static_cast<double>(prefixes[i]) - sum),
              lab::sum_error_bound(lab::DType::f32, 16 + 21 + 21 + 1, magnitudes, false))
        << "item " << i;
  }
}

TEST(Ladder, ALookBackSetsTheBracketsOfAFloatSumByTiming) {
  lab::Case c = sum_case((std::uint64_t{1} << 18) + 3);
  c.dtype = lab::DType::f32;
  for (const char* rung : {"look_back", "one_word"}) {
    const auto [in, in_turn] = lab::recorded(problem(), rung, c, false);
    const auto [same_in, interleaved] = lab::recorded(problem(), rung, c, true);
    EXPECT_FALSE(in_turn == interleaved) << rung << ": the test of the top rung can't tell";
  }
}

}  // namespace
}  // namespace course::hierarchical_scan
