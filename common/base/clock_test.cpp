// SPDX-License-Identifier: MIT
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace course {
namespace {

TEST(Deadline, CountsDownToZeroAndStaysThere) {
  const Deadline soon(0.02);
  EXPECT_FALSE(soon.passed());
  EXPECT_GT(soon.milliseconds_left(), 0);
  EXPECT_LE(soon.milliseconds_left(), 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  EXPECT_TRUE(soon.passed());
  EXPECT_EQ(soon.milliseconds_left(), 0);
}

TEST(Deadline, FitsPollEvenWhenFarAway) {
  EXPECT_EQ(Deadline(1e6).milliseconds_left(), 3'600'000);
}

TEST(Stopwatch, MeasuresAtLeastTheTimeSlept) {
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(watch.microseconds(), 5000.0);
}

}  // namespace
}  // namespace course
