// SPDX-License-Identifier: MIT
#include "bar.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace course::grader {
namespace {

TEST(Bar, IsAsLongAsTheShare) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(0.5, 4), "██");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.28125, 4), "█▏");
}

TEST(Bar, StaysWithinItsWidth) {
  EXPECT_EQ(bar(7, 2), "██");
  EXPECT_EQ(bar(-1, 2), "");
  EXPECT_EQ(bar(std::nan(""), 2), "");
}

}  // namespace
}  // namespace course::grader
