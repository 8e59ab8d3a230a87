// SPDX-License-Identifier: MIT
#include "lab/diagnosis.hpp"

#include <gtest/gtest.h>

namespace course::lab {
namespace {

constexpr Rule<int> kRules[] = {
    {"even", [](const int& n) { return n % 2 == 0 ? std::to_string(n) + " is even" : std::string(); }},
    {"three", [](const int& n) { return n % 3 == 0 ? std::string("a multiple of 3") : std::string(); }},
    {"large", [](const int& n) { return n > 9 ? std::string("it is large") : std::string(); }, true},
};

FailedCase failed(int n) {
  return {"case_" + std::to_string(n), causes_of<int>(kRules, n)};
}

std::string text_of_all(const std::vector<FailedCase>& cases) {
  return text_of(likely_cause(cases));
}

TEST(Diagnosis, SaysNothingWhenNoRuleFits) {
  EXPECT_EQ(describe_causes(failed(5).causes), "");
  EXPECT_EQ(text_of_all(std::vector{failed(5), failed(7)}), "");
  EXPECT_EQ(text_of_all({}), "");
}

TEST(Diagnosis, SaysWhenSeveralMistakesFit) {
  EXPECT_EQ(describe_causes(failed(6).causes),
            "several mistakes look like this: (1) 6 is even; (2) a multiple of 3");
  EXPECT_TRUE(is_ambiguous(std::vector{failed(6)}));
  EXPECT_TRUE(is_ambiguous(std::vector{failed(6), failed(12), failed(5)}))
      << "one unexplained case is no end";
  EXPECT_FALSE(is_ambiguous(std::vector{failed(6), failed(7), failed(5)}));
}

TEST(Diagnosis, MistakesComeBeforeSigns) {
  EXPECT_EQ(describe_causes(failed(10).causes), "10 is even");
  EXPECT_EQ(describe_causes(failed(11).causes), "it is large");
}

TEST(Diagnosis, PrefersTheMistakeThatExplainsAllCases) {
  const std::vector cases{failed(6), failed(9)};
  EXPECT_EQ(text_of_all(cases), "a multiple of 3");
  EXPECT_FALSE(is_ambiguous(cases));
}

TEST(Diagnosis, SpeaksOfTheFirstCaseThatItExplains) {
  EXPECT_EQ(text_of_all(std::vector{failed(8), failed(4)}), "8 is even");
}

TEST(Diagnosis, SaysHowManyCasesAMistakeExplains) {
  EXPECT_EQ(text_of_all(std::vector{failed(4), failed(8), failed(5)}),
            "4 is even (this explains 2 of the 3 failed cases)");
  EXPECT_EQ(text_of_all(std::vector{failed(5), failed(4), failed(8)}),
            "in case case_4: 4 is even (this explains 2 of the 3 failed cases)");
}

TEST(Diagnosis, SaysNothingWhenDifferentCasesPointElsewhere) {
  EXPECT_EQ(text_of_all(std::vector{failed(5), failed(4)}), "");
  EXPECT_EQ(text_of_all(std::vector{failed(4), failed(9)}), "");
}

TEST(Diagnosis, TooManyMistakesSayNothing) {
  std::vector<Cause> four;
  for (const char* name : {"a", "b", "c", "d"}) four.push_back({name, name});
  EXPECT_EQ(describe_causes(four), "");
}

TEST(Diagnosis, TooManyMistakesLeaveTheSigns) {
  std::vector<Cause> causes{{"sign", "it is large", true}};
  for (const char* name : {"a", "b", "c", "d"}) causes.push_back({name, name});
  EXPECT_EQ(describe_causes(causes), "it is large");
}

TEST(Diagnosis, SaysWhatAllCasesShareWhenNoMistakeExplainsThem) {
  const FailedCase sign{"c1", {{"few", "5 too few", true}, {"odd", "odd", true}}};
  const FailedCase other{"c2", {{"few", "7 too few", true}, {"dropped", "the last one was dropped"}}};
  EXPECT_EQ(text_of_all(std::vector{sign, other, sign}), "5 too few");
  const FailedCase ambiguous{"c3", {{"few", "9 too few", true}, {"a", "a"}, {"b", "b"}}};
  EXPECT_EQ(text_of_all(std::vector{ambiguous, sign, sign}), "9 too few");
}

TEST(Diagnosis, MembersOfAFamilyAreOneMistakeWithDifferentNumbers) {
  const FailedCase many{"c1", {{"runs 2", "runs of 2"}, {"runs 4", "runs of 4"}, {"runs 8", "runs of 8"}}};
  EXPECT_EQ(describe_causes(many.causes), "runs of 2");
  EXPECT_FALSE(is_ambiguous(std::vector{many}));
  const FailedCase four{"c2", {{"runs 4", "runs of 4"}}}, eight{"c3", {{"runs 8", "runs of 8"}}};
  EXPECT_EQ(text_of_all(std::vector{many, four}), "runs of 4");
  EXPECT_EQ(text_of_all(std::vector{four, four, eight}), "runs of 4 (this explains 2 of the 3 failed cases)");
  EXPECT_EQ(text_of_all(std::vector{four, eight}), "");  // half of the cases refute it
}

TEST(Diagnosis, DropsMistakesThatExplainNoOtherCase) {
  const FailedCase known{"c1", {{"runs 4", "runs of 4"}, {"odd", "odd", true}}};
  std::vector<Cause> causes{{"runs 2", "runs of 2"}, {"dropped", "one was dropped"}, {"few", "few", true}};
  drop_unlikely(causes, {});
  EXPECT_EQ(causes.size(), 3u);
  drop_unlikely(causes, std::vector{known});
  EXPECT_EQ(describe_causes(causes), "runs of 2");
  EXPECT_EQ(causes.size(), 2u);
}

TEST(Diagnosis, KeepsWhatAnyOutputCanShow) {
  Mismatch mismatch;
  mismatch.causes = {{"all_bytes", "all bytes are equal"}};
  diagnose<int>(mismatch, kRules, 6);
  EXPECT_EQ(mismatch.hint(), "all bytes are equal");
}

// What was never written may follow from a mistake that a lab knows.
TEST(Diagnosis, PutsALabsMistakeInThePlaceOfWhatWasNeverWritten) {
  Mismatch mismatch, unknown;
  mismatch.causes = unknown.causes = {{"never_written", "never written"}};
  diagnose<int>(mismatch, kRules, 6);
  EXPECT_NE(mismatch.hint(), "never written");
  EXPECT_NE(mismatch.hint(), "");
  diagnose<int>(unknown, kRules, 35);
  EXPECT_EQ(unknown.hint(), "never written");
}

}  // namespace
}  // namespace course::lab
