// SPDX-License-Identifier: MIT
#include "bench/model_table.hpp"

#include <gtest/gtest.h>

namespace course::grader {
namespace {

ModelPoint point(const char* rung, double measured, double modelled, const char* work = "sum") {
  return {"reduction", work, rung, 1024, measured, modelled, "memory"};
}

TEST(ModelTable, ErrorsAreSymmetric) {
  EXPECT_NEAR(quality_of({point("a", 10, 20)}).median_error, 1, 1e-9);
  EXPECT_NEAR(quality_of({point("a", 20, 10)}).median_error, 1, 1e-9);
  EXPECT_NEAR(quality_of({point("a", 10, 11), point("b", 10, 13), point("c", 10, 30)}).median_error, 0.3,
              1e-9);
}

TEST(ModelTable, OrdersPairsThatDifferByTwentyPercent) {
  const ModelQuality q =
      quality_of({point("a", 10, 10), point("b", 11, 5), point("c", 20, 30), point("d", 30, 25)});
  EXPECT_EQ(q.n_pairs, 5) << "all but a and b";
  EXPECT_EQ(q.n_right, 4) << "c and d are turned round";
}

TEST(ModelTable, DifferentWorkHasNoOrder) {
  EXPECT_EQ(quality_of({point("a", 10, 30), point("b", 20, 20, "maximum")}).n_pairs, 0);
}

TEST(ModelTable, NoPointsGiveNoError) {
  EXPECT_EQ(quality_of({}).n_rungs, 0);
  EXPECT_NE(model_markdown({}, "a GPU").find("| **all** | 0 | 0 % | – |"), std::string::npos);
}

TEST(ModelTable, ShowsEachRung) {
  const std::string text = model_markdown({point("tree", 10, 12.5)}, "a GPU");
  EXPECT_NE(text.find("| reduction sum | tree | 1024 | 10.0 | 12.5 | 1.25 | memory |"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace course::grader
