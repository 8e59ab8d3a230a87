// SPDX-License-Identifier: MIT
// From the simulator's rows to tables and text. The rows may come from a student's process: nothing in them may break anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scripted.hpp"
#include "trace/tables.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReport = R"json({
 "device": "Simulated H200", "modelled_us": 1, "findings": [],
 "launches": [{"kernel": "void fake::k01_fold<int>(int const*)"}],
 "trace": {"truncated": false, "rows": [
  {"launch": 0, "block": null, "after": "start", "object": "d_in", "width": 4, "contents": "0300000001000000", "writes": []},
  {"launch": 0, "block": 0, "after": "barrier", "file": "/x/fold.cu", "line": 31, "object": "s_data", "width": 4,
   "contents": "0300000001000000a5a5a5a5", "writes": [[0, 0, 0, 30, [["d_in", 0]]], [1, 0, 1, 30, [["d_in", 1]]]]},
  {"launch": 0, "block": 0, "after": "barrier", "file": "/x/fold.cu", "line": 31, "object": "s_data", "width": 4,
   "contents": "0300000001000000a5a5a5a5", "writes": [[0, 0, 0, 30, []]]},
  {"launch": 0, "block": null, "after": "launch", "object": "d_out", "width": 4, "contents": "04000000",
   "writes": [[0, 0, 0, 33, [["s_data", 0], ["s_data", 1]]]]}]}})json";

TraceView view_of(std::string_view report, std::uint64_t columns = 3) {
  static const testing::FakeProblem problem;
  return trace_view(problem, testing::kTasks[0], problem.example(testing::kTasks[0], 2), report, columns);
}

TEST(TraceView, HasATableForTheInputsTheBlockAndTheGrid) {
  const TraceView view = view_of(kReport);
  ASSERT_EQ(view.tables.size(), 3u);
  EXPECT_EQ(view.tables[1].kernel, "k01_fold");
  EXPECT_EQ(view.tables[1].block, 0u);
  ASSERT_EQ(view.tables[1].steps.size(), 1u) << "the second barrier changed nothing";
  EXPECT_EQ(view.tables[1].steps[0].times, 2);
  EXPECT_EQ(view.tables[1].steps[0].file, "fold.cu");
  const auto& cells = view.tables[1].steps[0].cells;
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1].text, "1");
  EXPECT_TRUE(cells[1].written);
  EXPECT_EQ(cells[2].text, "") << "nothing was put there yet";
  EXPECT_EQ(view.tables[2].steps[0].stores[0].from.size(), 2u);
}

TEST(TraceText, MarksWhatWasWrittenAndFitsATerminal) {
  const std::string text = trace_text(view_of(kReport), true, false);
  EXPECT_THAT(text, HasSubstr("barrier, line 31 (2 times)"));
  EXPECT_THAT(text, HasSubstr("*3"));
  EXPECT_THAT(text, HasSubstr("d_out[0] by thread 0 of block 0, line 33, having read s_data[0], s_data[1]"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(trace_text(view_of(kReport), false, true), HasSubstr("\x1b[1;32m"));
}

TEST(TraceMarkdown, HasNoLineNumbersThatWouldDrift) {
  const std::string text = trace_markdown(view_of(kReport));
  EXPECT_THAT(text, HasSubstr("| barrier (2×) | 0 1 | `s_data` | **3** | **1** | |"));
  EXPECT_THAT(text, Not(HasSubstr("31")));
}

TEST(TraceView, SurvivesAnyReport) {
  for (
      const char* report :
      {"", "[]", "{}", R"({"trace": 3})", R"({"trace": {"rows": 3}})",
       R"({"trace": {"rows": [3, {}, {"writes": 3}]}})",
       R"({"trace": {"rows": [{"width": 3, "contents": "zz", "writes": [[], 3, [1, 2, 3, 4, 5], [-1]]}]}})",
       R"({"launches": [3], "trace": {"rows": [{"after": "vote", "width": 99, "lanes": 4294967295, "contents": "0"}]}})",
       R"({"trace": {"rows": [{"object": "\u001b[2J", "writes": [[0]], "contents": "00000000"}]}})"}) {
    const TraceView view = view_of(report);
    EXPECT_THAT(trace_text(view, true, false), Not(HasSubstr("\x1b"))) << report;
    trace_markdown(view);
  }
}

}  // namespace
}  // namespace course::grader
