// SPDX-License-Identifier: MIT
#include "report/formats.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "compile/diagnostics.hpp"
#include "report/edition.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"
#include "testing/sample_result.hpp"

namespace course::grader {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The values that the students' edition must not contain in any format.
void expect_no_secret(const std::string& text) {
  for (const char* secret : {"fedcba9876543210", "31337", "271828", "4711", "--seed"})
    EXPECT_THAT(text, Not(HasSubstr(secret)));
}

TEST(StudentEdition, OmitsSeedAndValuesInEveryFormat) {
  const RunResult shown = for_students(testing::sample_result());
  for (const std::string& text :
       {json_text(shown), to_html(shown), to_junit(shown), to_csv(shown), to_table(shown, {})}) {
    expect_no_secret(text);
    EXPECT_THAT(text, HasSubstr("5 of 33 elements are wrong"));
    EXPECT_THAT(text, HasSubstr("reduction.cu:42"));
    EXPECT_THAT(text, HasSubstr("d_out[0] is wrong"));
  }
}

TEST(Github, AnnotatesLineOfCompilerError) {
  RunResult result = testing::sample_result();
  result.labs[0].tasks[1].cases.clear();
  result.labs[0].tasks[1].message =
      compile_message("labs/reduction/reduction.cu", "labs/reduction/reduction.cu(37): error: no");
  EXPECT_THAT(to_annotations(result), HasSubstr("file=labs/reduction/reduction.cu,line=37,"));
}

TEST(StudentEdition, KeepsCompilerMessages) {
  RunResult result = testing::sample_result();
  result.labs[0].tasks[1].cases.clear();
  result.labs[0].tasks[1].verdict = lab::Verdict::compile_error;
  result.labs[0].tasks[1].message = "reduction.cu(3): error: expected a \";\"\n  x: expected y";
  EXPECT_EQ(for_students(result).labs[0].tasks[1].message, result.labs[0].tasks[1].message);
}

TEST(StudentEdition, HasNoTraceOfAnInput) {
  RunResult result = testing::sample_result();
  result.labs[0].tasks[1].small_input = "<svg>d_in[0] is 7</svg>";
  EXPECT_THAT(to_html(result), HasSubstr("d_in[0] is 7"));
  EXPECT_EQ(for_students(result).labs[0].tasks[1].small_input, "");
}

TEST(Gradescope, HasTheDocumentedFields) {
  const json out = json::parse(to_gradescope(testing::sample_result()));
  EXPECT_EQ(out.at("score"), 45);
  EXPECT_EQ(out.at("execution_time"), 13);
  EXPECT_EQ(out.at("visibility"), "visible");
  EXPECT_EQ(out.at("stdout_visibility"), "hidden");
  const json& tests = out.at("tests");
  ASSERT_EQ(tests.size(), 4u);
  EXPECT_EQ(tests[0].at("name"), "Reduction: Task good");
  EXPECT_EQ(tests[0].at("number"), "1.1");
  EXPECT_EQ(tests[0].at("score"), 45);
  EXPECT_EQ(tests[0].at("max_score"), 50);
  EXPECT_EQ(tests[0].at("status"), "passed");
  EXPECT_EQ(tests[1].at("status"), "failed");
  EXPECT_THAT(tests[1].at("output").get<std::string>(), HasSubstr("race on s_data"));
  EXPECT_EQ(tests[3].at("visibility"), "hidden");
  EXPECT_THAT(tests[3].at("output").get<std::string>(), HasSubstr("0xfedcba9876543210"));
  EXPECT_THAT(tests[3].at("output").get<std::string>(), HasSubstr("expected 31337"));
}

TEST(Gradescope, HasNoScoreAfterAMachineFault) {
  RunResult result = testing::sample_result();
  result.labs[0].tasks[1].verdict = lab::Verdict::infra;
  const json out = json::parse(to_gradescope(result));
  EXPECT_FALSE(out.contains("score"));
  EXPECT_THAT(out.at("output").get<std::string>(), HasSubstr("There is no score"));
  ASSERT_EQ(out.at("tests").size(), 4u);
  for (const json& test : out.at("tests"))
    EXPECT_FALSE(test.contains("score") || test.contains("max_score")) << test;
}

TEST(StepSummary, HasNoPointsAfterAMachineFault) {
  RunResult result = testing::sample_result();
  EXPECT_THAT(to_step_summary(result), HasSubstr("of 100 points"));
  result.labs[0].tasks[1].verdict = lab::Verdict::infra;
  const std::string text = to_step_summary(result);
  EXPECT_THAT(text, HasSubstr("<td>INFRA</td><td>no points</td>"));
  EXPECT_THAT(text, HasSubstr("not graded completely"));
  EXPECT_THAT(text, Not(HasSubstr("of 100 points")));
}

TEST(Annotations, AreAtLinesThatMessagesName) {
  const std::string text = to_annotations(testing::sample_result());
  EXPECT_THAT(
      text, HasSubstr("::error file=labs/reduction/reduction.cu,line=42,title=Task wrong%3A WRONG_ANSWER::"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            1);  // none for tasks that are right or not implemented
}

TEST(Csv, HasOneLinePerTask) {
  const std::string text = to_csv(testing::sample_result());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, HasSubstr("\"reduction\",\"good\",\"Task good\",0,OK,45,50,45,85.25,"));
}

TEST(Csv, LeavesPointsEmptyAfterAMachineFault) {
  RunResult result = testing::sample_result();
  result.labs[0].tasks[1].verdict = lab::Verdict::infra;
  const int max_points = result.labs[0].tasks[1].max_points;
  EXPECT_THAT(to_csv(result), HasSubstr(fmt::format(",INFRA,,{},,", max_points)));
}

// Texts that a submission can influence.
TEST(Formats, EscapeTextOfSubmissions) {
  for (const std::string attack :
       {"=cmd|' /C calc'!A0", "\",\"x", "\r\n::set-output name=result::x", "</pre><script>alert(1)</script>",
        "\n\n# heading", "@SUM(1)", "  =1+1", "\n=1+1", "\t@x", "\x1b[2J", "\xff\xfe"}) {
    RunResult result = testing::sample_result();
    result.device = attack;
    for (TaskResult& task : result.labs[0].tasks) task.cases.clear(), task.title = task.message = attack;
    const std::string csv = to_csv(result);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4) << attack;
    for (const char* formula : {",\"=", ",\"@", ",=", ",@", ",\" =", ",\"  =", ",\"\t"})
      EXPECT_THAT(csv, Not(HasSubstr(formula)));
    const std::string annotations = to_annotations(result);
    EXPECT_EQ(std::count(annotations.begin(), annotations.end(), '\n'), 1) << attack;
    EXPECT_THAT(to_step_summary(result), Not(HasSubstr("<script")));
    EXPECT_THAT(to_step_summary(result), Not(HasSubstr("\n# heading")));
    for (const std::string& text : {csv, annotations, to_step_summary(result)})
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_TRUE(json::accept(to_gradescope(result)));
  }
}

}  // namespace
}  // namespace course::grader
