// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim: work and steps follow the closed forms, and each
// rung removes what the rung below it wasted. The environment variable RUNNER is the path of the solution's
// runner.

#include <cmath>

#include "scan/lab.hpp"
#include "scan/points.hpp"
#include "testing/counted.hpp"

namespace course::scan {

const lab::Problem& problem();

namespace {

// One rung on n int32 items in rows of row_length.
const lab::Counted& counted(const std::string& rung, std::uint64_t n, std::uint64_t row_length,
                            Kind kind = Kind::inclusive) {
  static lab::Counter counter(problem());
  lab::Case c{.name = "n" + std::to_string(n) + "_row" + std::to_string(row_length) + "_" + name_of(kind),
              .op = static_cast<std::uint32_t>(OpId::sum),
              .n = n};
  c.params[kRowLengthParam] = static_cast<std::int64_t>(row_length);
  c.params[kKindParam] = static_cast<std::int64_t>(kind);
  return counter(rung, c);
}

constexpr std::uint64_t kN = 1 << 18;
constexpr double kItems = kN;

// Hillis–Steele: in the round with distance d, every item except the row's first d takes part.
double network_work(double row_length) {
  return row_length * std::log2(row_length) - (row_length - 1);
}

constexpr std::uint64_t kFew = 1 << 14;
constexpr double kFewItems = kFew;

class Rows : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Rows, TakeTheNetworksWorkAndSteps) {
  const auto row = static_cast<double>(GetParam());
  for (const char* rung : {"hillis_steele", "global_rounds"}) {
    EXPECT_EQ(counted(rung, kFew, GetParam())["work"], kFewItems / row * network_work(row)) << rung;
    EXPECT_EQ(counted(rung, kFew, GetParam())["steps"], std::log2(row)) << rung;
  }
}

// Up-sweep: one operation per inner node. Down-sweep: one per inner node except those on the left edge, where
// everything to the left is only the identity.
TEST_P(Rows, TakeTheSweepsWorkAndSteps) {
  const auto row = static_cast<double>(GetParam());
  const double sweeps = 2 * (row - 1) - std::log2(row);
  for (const char* rung : {"compact", "conflict_free"}) {
    EXPECT_EQ(counted(rung, kFew, GetParam(), Kind::exclusive)["work"], kFewItems / row * sweeps) << rung;
    EXPECT_LE(counted(rung, kFew, GetParam(), Kind::exclusive)["steps"], 2 * std::log2(row)) << rung;
  }
  // Inclusive results need one more operation for each item but the first.
  EXPECT_EQ(counted("compact", kFew, GetParam(), Kind::inclusive)["work"],
            kFewItems / row * (sweeps + row - 1));
  // In this kernel the compiler computes them before it tests whether they are needed.
  EXPECT_LE(counted("blelloch", kFew, GetParam(), Kind::exclusive)["work"],
            kFewItems / row * (sweeps + row - 1));
  EXPECT_LE(counted("blelloch", kFew, GetParam(), Kind::exclusive)["steps"], 2 * std::log2(row));
}

TEST_P(Rows, TakeTheBarriersOfTheHandout) {
  const auto row = static_cast<double>(GetParam());
  const double n_rows = kFewItems / row, rounds = std::log2(row);
  EXPECT_EQ(counted("hillis_steele", kFew, GetParam())["barriers"], n_rows * (1 + rounds));
  EXPECT_EQ(counted("blelloch", kFew, GetParam(), Kind::exclusive)["barriers"], n_rows * (2 + 2 * rounds));
  EXPECT_EQ(counted("compact", kFew, GetParam(), Kind::exclusive)["barriers"], n_rows * (1 + 2 * rounds));
  EXPECT_EQ(counted("coarsened", kFew, GetParam())["barriers"], n_rows * 4);
  EXPECT_EQ(counted("block_scan", kFew, GetParam())["barriers"], n_rows * 2);
}

INSTANTIATE_TEST_SUITE_P(Ladder, Rows, testing::Values(8, 64, 1024));

TEST(Ladder, AWarpsRowNeedsNoSharedMemory) {
  EXPECT_EQ(counted("kogge_stone", kN, 32)["shared_requests"], 0);
}

TEST(Ladder, SharedMemorySavesTheRoundsTheirTraffic) {
  EXPECT_EQ(counted("hillis_steele", kN, 1024).bytes(), 8 * kItems);
  EXPECT_EQ(counted("hillis_steele", kN, 1024)["launches"], 1);
  EXPECT_EQ(counted("global_rounds", kN, 1024)["launches"], 11);
  // Ten rounds and round 0. Most items are combined with a second one, which adds about a launch's worth of
  // sectors.
  EXPECT_GT(counted("global_rounds", kN, 1024).bytes(), 11 * 8 * kItems);
  EXPECT_LT(counted("global_rounds", kN, 1024).bytes(), 18 * 8 * kItems);
  for (const char* rung : {"coarsened", "state_of_the_art"})
    EXPECT_EQ(counted(rung, kN, 4096).bytes(), 8 * kItems) << rung;
}

TEST(Ladder, CompactThreadsLetWarpsSkipLevelsAndMeetBankConflicts) {
  const auto exclusive = [](const char* rung) -> const lab::Counted& {
    return counted(rung, kN, 1024, Kind::exclusive);
  };
  EXPECT_LT(exclusive("compact")["warp_instructions"], 0.6 * exclusive("blelloch")["warp_instructions"]);
  EXPECT_EQ(exclusive("blelloch").conflicts(), 1);
  EXPECT_GT(exclusive("compact").conflicts(), 2.5);
  EXPECT_LT(exclusive("conflict_free").conflicts(), 1.3);
  EXPECT_LT(exclusive("conflict_free")["shared_wavefronts"], 0.5 * exclusive("compact")["shared_wavefronts"]);
}

TEST(Ladder, LoadsSixteenBytesALaneWhenItPays) {
  const auto sectors = [](const char* rung) {
    return counted(rung, kN, 4096)["global_load_sectors"] / counted(rung, kN, 4096)["global_load_requests"];
  };
  EXPECT_NEAR(sectors("coarsened"), 4, 0.1);          // 32 lanes, 4 bytes each
  EXPECT_NEAR(sectors("state_of_the_art"), 16, 0.1);  // 32 lanes, 16 bytes each
}

TEST(Ladder, OneBarrierARowIsLeftAtTheTop) {
  EXPECT_EQ(counted("state_of_the_art", kN, 4096)["barriers"], kItems / 4096);
  EXPECT_EQ(counted("state_of_the_art", kN, 512)["barriers"], 0);  // a warp for each row
}

constexpr std::uint64_t kLarge = 1 << 20, kLarger = 1 << 22;

TEST(Ladder, IsClimbedWithEveryRungThatIsMeantToBeFaster) {
  const auto us = [](const char* rung, std::uint64_t row, Kind kind, std::uint64_t n = kLarge) {
    return counted(rung, n, row, kind).modelled_us;
  };
  EXPECT_LT(us("hillis_steele", 1024, Kind::inclusive), 0.5 * us("global_rounds", 1024, Kind::inclusive));
  EXPECT_LT(us("compact", 1024, Kind::exclusive), us("blelloch", 1024, Kind::exclusive));
  EXPECT_LE(us("conflict_free", 1024, Kind::exclusive), 1.05 * us("compact", 1024, Kind::exclusive));
  EXPECT_LT(us("block_scan", 1024, Kind::inclusive), us("hillis_steele", 1024, Kind::inclusive));
  // At 2^20 items the difference is within the model's error; at 2^24, coarsened takes half
  // the time.
  EXPECT_LE(us("coarsened", 4096, Kind::inclusive, kLarger),
            us("block_scan", 1024, Kind::inclusive, kLarger));
  EXPECT_LE(us("state_of_the_art", 4096, Kind::inclusive), us("coarsened", 4096, Kind::inclusive));
}

}  // namespace
}  // namespace course::scan
