// SPDX-License-Identifier: MIT
// Reading ninja's and the compilers' words. (That runners are really built is seen by the grading tests.)
#include "build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace course::grader {
namespace {

using lab::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

const Layout kLayout{"/home/x/course", "/home/x/course/build", ""};

constexpr const char* kTwoFailures = R"(ninja: Entering directory `/home/x/course/build'
[1/4] Compiling Cuda object labs/reduction/runner_reduction.p/reduction.cu.o
FAILED: labs/reduction/runner_reduction.p/reduction.cu.o 
/usr/local/cuda/bin/nvcc -Ilabs -c ../labs/reduction/reduction.cu
../labs/reduction/reduction.cu(41): warning #177-D: variable "x" was declared but never referenced
      int x;
          ^

../labs/reduction/reduction.cu(52): error: identifier "blockIndx" is undefined
      const int gid = blockIndx.x * blockDim.x;
                      ^

../labs/reduction/reduction.cu(60): error: expected a ";"
2 errors detected in the compilation of "../labs/reduction/reduction.cu".
[2/4] Compiling Cuda object labs/scan/runner_scan.p/scan.cu.o
[3/4] Linking target labs/scan/runner_scan
FAILED: [code=1] labs/sat/runner_sat 
c++ -o labs/sat/runner_sat
/usr/bin/ld: sat.cu.o: undefined reference to `helper(int)'
collect2: error: ld returned 1 exit status
ninja: build stopped: cannot make progress due to previous errors.
)";

TEST(FailedEdges, AreCutOutOfNinjasOutput) {
  const auto edges = failed_edges(kTwoFailures);
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].target, "labs/reduction/runner_reduction.p/reduction.cu.o");
  EXPECT_THAT(edges[0].output, HasSubstr("blockIndx"));
  EXPECT_THAT(edges[0].output, Not(HasSubstr("nvcc -I")));
  EXPECT_THAT(edges[0].output, Not(HasSubstr("runner_scan")));
  EXPECT_EQ(edges[1].target, "labs/sat/runner_sat");
  EXPECT_THAT(edges[1].output, HasSubstr("helper(int)"));
  EXPECT_THAT(edges[1].output, Not(HasSubstr("ninja:")));
}

TEST(JudgeBuild, BlamesEachLabForItsOwnErrorsOnly) {
  const std::string labs[] = {"reduction", "scan", "sat"};
  const auto outcomes = judge_build(labs, false, 1, kTwoFailures, kLayout);
  EXPECT_EQ(outcomes.at("reduction").verdict, Verdict::compile_error);
  EXPECT_THAT(outcomes.at("reduction").message,
              HasSubstr("labs/reduction/reduction.cu(52): error: identifier \"blockIndx\" is undefined"));
  EXPECT_THAT(outcomes.at("reduction").message, Not(HasSubstr("../")));
  EXPECT_THAT(outcomes.at("reduction").message, Not(HasSubstr("never referenced")));
  EXPECT_EQ(outcomes.at("scan").verdict, Verdict::ok);
  EXPECT_EQ(outcomes.at("sat").verdict, Verdict::compile_error);
  EXPECT_THAT(outcomes.at("sat").message, HasSubstr("helper(int)"));
}

TEST(JudgeBuild, DoesNotBlameALabForTheSolutionsOrForTheCourse) {
  const std::string labs[] = {"reduction"};
  EXPECT_EQ(judge_build(labs, true, 1, kTwoFailures, kLayout).at("reduction").verdict, Verdict::infra);
  const auto outcomes = judge_build(labs, false, 1,
                                    "[1/2] Compiling\nFAILED: common/lab/lab.a.p/session.o\ng++ x\n"
                                    "session.cpp:3:1: error: no\nninja: build stopped\n",
                                    kLayout);
  EXPECT_EQ(outcomes.at("reduction").verdict, Verdict::infra);
  EXPECT_THAT(outcomes.at("reduction").message, HasSubstr("session.cpp:3:1: error: no"));
}

TEST(JudgeBuild, TakesNinjasOwnTroubleForTheCourses) {
  const std::string labs[] = {"reduction"};
  const auto outcome = judge_build(
      labs, false, 1, "ninja: error: unknown target 'labs/reduction/runner_reduction'\n", kLayout);
  EXPECT_EQ(outcome.at("reduction").verdict, Verdict::infra);
  EXPECT_THAT(outcome.at("reduction").message, HasSubstr("unknown target"));
}

TEST(JudgeBuild, IsOkWhenNinjaIs) {
  const std::string labs[] = {"reduction", "scan"};
  for (const auto& [lab, outcome] : judge_build(labs, false, 0, "[1/1] Linking", kLayout)) {
    EXPECT_EQ(outcome.verdict, Verdict::ok) << lab;
  }
}

TEST(JudgeBuild, LetsNoCompilerOutputControlTheTerminal) {
  const std::string labs[] = {"reduction"};
  const std::string output = "FAILED: labs/reduction/x.o\nnvcc\nx.cu(1): error: \x1b[2J\x07 bad\n";
  EXPECT_THAT(judge_build(labs, false, 1, output, kLayout).at("reduction").message, Not(HasSubstr("\x1b")));
}

TEST(FirstErrors, AreLimited) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "x.cu(" + std::to_string(i) + "): error: no\n   detail\n";
  const std::string shown = first_errors(many, 3);
  EXPECT_THAT(shown, HasSubstr("x.cu(2)"));
  EXPECT_THAT(shown, Not(HasSubstr("x.cu(3)")));
  EXPECT_EQ(first_errors("Killed\n", 3), "Killed");
}

TEST(FailedEdges, SurviveAnyOutput) {
  std::mt19937 random(17);
  const std::string text = kTwoFailures;
  const std::string labs[] = {"reduction", "sat"};
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 5; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
    damaged.resize(random() % damaged.size());
    const auto outcomes = judge_build(labs, false, 1, damaged, kLayout);
    ASSERT_EQ(outcomes.size(), 2U);
  }
}

}  // namespace
}  // namespace course::grader
