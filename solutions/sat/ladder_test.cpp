// SPDX-License-Identifier: MIT
// The simulator's counters confirm what the rungs claim and the handout's table does not show: other sizes,
// wide loads, the box filter's independence of its size. The environment variable RUNNER is the path of the
// solution's runner.

#include "sat/lab.hpp"
#include "testing/counted.hpp"

namespace course::sat {

const lab::Problem& problem();

namespace {

struct Size {
  std::int64_t width, height;
  double n() const { return static_cast<double>(width * height); }
};
constexpr Size kWide{1024, 256};

lab::Case case_of(Size size, lab::DType dtype) {
  lab::Case c{.name = std::to_string(size.width) + "x" + std::to_string(size.height) +
                      std::string(lab::name_of(dtype)),
              .dtype = dtype,
              .n = static_cast<std::uint64_t>(size.width * size.height)};
  c.params[kWidth] = size.width;
  c.params[kHeight] = size.height;
  return c;
}

// One rung that computes a table of floats.
const lab::Counted& counted(const std::string& rung, Size size = kWide) {
  static lab::Counter counter(problem());
  return counter(rung, case_of(size, lab::DType::f32));
}
// The box filter on a table of u32.
const lab::Counted& box(std::int64_t radius, Size size) {
  static lab::Counter counter(problem());
  lab::Case c = case_of(size, lab::DType::u32);
  c.name += "_radius" + std::to_string(radius);
  c.params[kRadius] = radius;
  return counter("box", c);
}

TEST(Ladder, SerialDoesTheLeastWorkInTheMostSteps) {
  for (const Size size : {kWide, Size{37, 100}, Size{1, 50}, Size{50, 1}}) {
    const auto w = static_cast<double>(size.width), h = static_cast<double>(size.height);
    EXPECT_EQ(counted("serial", size)["work"], 2 * size.n() - w - h);
    EXPECT_EQ(counted("serial", size)["steps"], w + h - 2);
  }
}

TEST(Ladder, TilesInRegistersNeedFewInstructionsAndWideLoads) {
  for (const char* rung : {"look_back", "state_of_the_art"}) {
    EXPECT_LT(counted(rung)["lane_instructions"], 0.5 * counted("single_pass")["lane_instructions"]) << rung;
    EXPECT_LT(counted(rung)["global_load_requests"], 0.5 * counted("single_pass")["global_load_requests"])
        << rung;
  }
}

// A box of 501 x 501 costs no more than one of 3 x 3. It costs a little less, because look-ups beyond the
// border are not made.
TEST(Box, CostsTheSameWhateverItsSize) {
  constexpr Size kLarge{1200, 600};
  const auto &small = box(1, kLarge), &large = box(250, kLarge);
  EXPECT_LE(large["work"], small["work"]);
  EXPECT_GT(large["work"], 0.5 * small["work"]);
  EXPECT_LE(large.bytes(), small.bytes());
  EXPECT_NEAR(large["lane_instructions"] / small["lane_instructions"], 1, 0.1);
  EXPECT_LE(large.modelled_us, small.modelled_us);
  EXPECT_EQ(large["steps"], small["steps"]);
}

TEST(Box, MakesThreeAdditionsAndFourLookUpsAnItem) {
  const auto& counts = box(1, kWide);
  EXPECT_LE(counts["work"], 3 * kWide.n());
  EXPECT_GT(counts["work"], 2.95 * kWide.n());
  EXPECT_EQ(counts["steps"], 3);
  EXPECT_LT(counts.bytes(), 1.2 * 20 * kWide.n());
}

// As measured: with small tiles, waiting for other tiles costs more than a second pass.
TEST(Ladder, OnePassWithLargeTilesIsTheFastest) {
  constexpr Size kLarge{1024, 1024};
  for (const char* rung : {"rows_columns", "transpose", "fused", "single_pass"}) {
    EXPECT_LT(counted("state_of_the_art", kLarge).modelled_us, counted(rung, kLarge).modelled_us) << rung;
  }
}

}  // namespace
}  // namespace course::sat
