// SPDX-License-Identifier: MIT
#include "bench/times.hpp"

#include <gtest/gtest.h>

namespace course::lab {
namespace {

TEST(Times, FewEqualTimesAreNotEnough) {
  Times times;
  for (int k = 0; k < 14; ++k) times.add(7);
  EXPECT_FALSE(times.are_enough());
  times.add(7);
  EXPECT_TRUE(times.are_enough());
}

TEST(Times, OutliersDoNotMoveMedianOrSpread) {
  Times times;
  for (int k = 0; k < 40; ++k) times.add(100);
  times.add(1);
  times.add(5000);
  EXPECT_EQ(times.median(), 100);
  EXPECT_EQ(times.spread(), 0);
  EXPECT_EQ(times.lowest(), 1);
  EXPECT_EQ(times.highest(), 5000);
}

TEST(Times, ScatteredTimesNeedMoreRuns) {
  // 90, 91 … 110, again and again: the interval gets narrower with the square root of the number.
  Times times;
  const auto add = [&](int n) {
    for (int k = 0; k < n; ++k) times.add(90 + 8 * k % 21);
  };
  add(42);
  EXPECT_GT(times.spread(), 0.05);
  EXPECT_FALSE(times.are_enough());
  add(21 * 400);
  EXPECT_LE(times.spread(), 0.01);
  EXPECT_TRUE(times.are_enough());
}

TEST(Times, IntervalHoldsTheMedianAsOftenAsItSays) {
  // With 100 times, ranks 40 and 60 (from 0): the probability that the median is outside is 5 %.
  Times times;
  for (int k = 0; k < 100; ++k) times.add(1000 + k);
  EXPECT_NEAR(times.spread() * times.median(), 20, 1);
}

}  // namespace
}  // namespace course::lab
