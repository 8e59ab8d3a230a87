// SPDX-License-Identifier: MIT
// Traces from the simulator's rows to tables and text. The rows may come from a student's process, so no
// input may break the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>

#include "testing/scripted.hpp"
#include "testing/well_formed.hpp"
#include "text.hpp"
#include "trace/html.hpp"
#include "trace/picture.hpp"
#include "trace/print.hpp"
#include "trace/words.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReport = R"json({
 "device": "Simulated H200", "modelled_us": 1, "findings": [],
 "launches": [{"kernel": "void fake::k01_fold<int>(int const*)"}],
 "trace": {"truncated": false, "rows": [
  {"launch": 0, "block": null, "after": "start", "object": "d_in", "width": 4,
   "contents": "0300000001000000", "writes": []},
  {"launch": 0, "block": 0, "after": "barrier", "file": "/x/fold.cu", "line": 31,
   "object": "s_data", "width": 4, "contents": "0300000001000000a5a5a5a5",
   "writes": [[0, 0, 0, 30, [["d_in", 0]]], [1, 0, 1, 30, [["d_in", 1]]]],
   "accesses": [[0, 0, 30, 3, 255, 0, 0], [0, 1, 30, 4294967295, 4294967295, 4, 1],
                [0, 2, 30, 4294967295, 4294967295, 4, 1], [0, 1, 31, 4294967295, 4294967295, 4, 1],
                [0, 2, 31, 4294967295, 4294967295, 4, 1]]},
  {"launch": 0, "block": 0, "after": "barrier", "file": "/x/fold.cu", "line": 31,
   "object": "s_data", "width": 4, "contents": "0300000001000000a5a5a5a5", "writes": [[0, 0, 0, 30, []]]},
  {"launch": 0, "block": null, "after": "launch", "object": "d_out", "width": 4, "contents": "04000000",
   "writes": [[0, 0, 0, 33, [["s_data", 0], ["s_data", 1]]]]}]}})json";

TraceView view_of(std::string_view report, std::uint64_t columns = 3) {
  static const testing::FakeProblem kProblem;
  return trace_view(kProblem, testing::kTasks[0], kProblem.example(testing::kTasks[0], 2), report, columns);
}

TEST(TraceView, HasTablesForInputsBlockAndGrid) {
  const TraceView view = view_of(kReport);
  ASSERT_EQ(view.tables.size(), 3u);
  EXPECT_EQ(view.tables[1].kernel, "k01_fold");
  EXPECT_EQ(view.tables[1].block, 0u);
  ASSERT_EQ(view.tables[1].steps.size(), 1u) << "the second barrier changed nothing";
  EXPECT_EQ(view.tables[1].steps[0].times, 2);
  ASSERT_EQ(view.tables[1].steps[0].repeated.size(), 1u) << "and stored a value once more";
  EXPECT_EQ(view.tables[1].steps[0].file, "fold.cu");
  const auto& cells = view.tables[1].steps[0].cells;
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1].text, "1");
  EXPECT_TRUE(cells[1].written);
  EXPECT_EQ(cells[2].text, "") << "nothing was put there yet";
  EXPECT_EQ(view.tables[2].steps[0].stores[0].from.size(), 2u);
}

// A trace that ends with a race.
constexpr const char* kFaulty = R"json({
 "findings": [{"checker": "racecheck", "severity": "error", "kind": "shared-race",
               "message": "thread 0 reads s_data[1]", "file": "fold.cu", "line": 31}],
 "launches": [{"kernel": "void fake::k01_fold<int>(int const*)"}],
 "trace": {"rows": [
  {"launch": 0, "block": 0, "after": "fault", "file": "/x/fold.cu", "line": 31,
   "object": "s_data", "width": 4, "contents": "0300000001000000",
   "writes": [[0, 0, 0, 30, []]], "fault": "thread 0 reads s_data[1] <at once>"}]}})json";

const SourceLine kNoSource = [](const std::string&, std::uint32_t) { return ""; };
const SourceLine kSource = [](const std::string&, std::uint32_t line) {
  return line == 30 ? "  s_data[tid] = <d_in>[tid];" : "  more();";
};

TEST(TraceText, MarksWrittenElements) {
  const std::string text = trace_text(view_of(kReport), false);
  EXPECT_THAT(text, HasSubstr("barrier, line 31 (2 times)"));
  EXPECT_THAT(text, HasSubstr("*3"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(trace_text(view_of(kReport), true), HasSubstr("\x1b[1;32m"));
}

TEST(TraceText, FitsATerminalOf80Columns) {
  std::string contents, writes;
  for (int i = 0; i < 64; ++i) {
    contents += "40420f00";  // 1,000,000
    writes += (i > 0 ? ", [" : "[") + std::to_string(i) + ", 0, 0, 30, []]";
  }
  const std::string report =
      R"({"launches": [{"kernel": "k"}], "trace": {"rows": [{"launch": 0, "block": 0, "after": "barrier", )"
      R"("line": 7, "object": "s_data", "width": 4, "contents": ")" +
      contents + R"(", "writes": [)" + writes + "]}]}}";
  const TraceView view = view_of(report, 64);
  const std::string all = trace_text(view, false);
  std::size_t n_values = 0;
  for (std::size_t from = 0, to = 0; from < all.size(); from = to + 1) {
    to = std::min(all.find('\n', from), all.size());
    EXPECT_LE(display_width(all.substr(from, to - from)), 80u) << all.substr(from, to - from);
  }
  for (std::size_t at = 0; (at = all.find("1000000", at)) != std::string::npos; ++at) ++n_values;
  EXPECT_EQ(n_values, 64u) << "none is left out";
}

TEST(TraceSteps, EndAtAFault) {
  const TraceView view = view_of(kFaulty);
  EXPECT_THAT(trace_text(view, false),
              HasSubstr("! The trace stops here: thread 0 reads s_data[1] <at once>"));
  EXPECT_THAT(trace_svg(view, "t"), HasSubstr("s_data[1] &lt;at once&gt;"));
  EXPECT_THAT(trace_html(view, kNoSource, ""),
              HasSubstr("The trace stops here: thread 0 reads s_data[1] &lt;at once&gt;"));
}

TEST(TraceChoice, KeepsRequestedArraysAndSteps) {
  TraceView view = view_of(kReport);
  choose(view, {{"s_data", "d_out"}, 1, 2});
  ASSERT_EQ(view.tables.size(), 1u);
  EXPECT_EQ(view.tables[0].steps[0].number, 2);
  EXPECT_THAT(trace_html(view, kNoSource, ""), HasSubstr("<p class=\"moment\">2. "));
}

// The start and end points of the drawn arrows, in the order of the file.
std::vector<std::array<double, 4>> arrows(const std::string& svg) {
  std::vector<std::array<double, 4>> all;
  for (std::size_t at = 0; (at = svg.find("<path class=\"arrow", at)) != std::string::npos; ++at) {
    std::array<double, 4> a{};
    const char* d = svg.c_str() + svg.find(" d=\"", at);
    if (std::sscanf(d, " d=\"M%lf %lfL%lf %lf", &a[0], &a[1], &a[2], &a[3]) == 4) all.push_back(a);
  }
  return all;
}

TEST(TracePicture, DrawsArrowsFromSourcesToValues) {
  const std::string svg = trace_svg(view_of(kReport), "What it <shows>");
  EXPECT_EQ(testing::why_malformed(svg), "");
  EXPECT_THAT(svg, HasSubstr("<title id=\"title\">What it &lt;shows&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr("class=\"card\"")) << "a ground of its own, for dark pages";
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(svg, Not(HasSubstr("line 3"))) << "line numbers would make it drift";
  const auto drawn = arrows(svg);
  ASSERT_EQ(drawn.size(), 4u) << "two from d_in into s_data, two from s_data into d_out";
  for (const auto& [x1, y1, x2, y2] : drawn) EXPECT_LT(y1, y2) << "downwards";
  EXPECT_EQ(drawn[0][0], drawn[0][2]) << "d_in[0] stands above s_data[0]";
  EXPECT_GT(drawn[3][0], drawn[3][2]) << "s_data[1] stands to the right of d_out[0]";
}

TEST(TracePicture, ArrowsKeepOffLabelsOnATelephone) {
  const std::string page = trace_html(view_of(kReport), kNoSource, "");
  const std::regex arrow("class=\"arrow [a-z]*\" d=\"M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)\"");
  const std::regex label("<text x=\"[0-9.]+\" y=\"([0-9.]+)\" class=\"[a-z ]*over\"");
  const std::string narrow = "narrow\"";
  int n_arrows = 0;
  for (std::size_t at = 0; (at = page.find(narrow, at)) != std::string::npos; at += narrow.size()) {
    const std::string picture = page.substr(at, page.find("</svg>", at) - at);
    const std::sregex_iterator end;
    for (std::sregex_iterator a(picture.begin(), picture.end(), arrow); a != end; ++a, ++n_arrows)
      for (std::sregex_iterator l(picture.begin(), picture.end(), label); l != end; ++l) {
        const double y = std::stod((*l)[1]);
        EXPECT_TRUE(y < std::stod((*a)[1]) || y - 11 > std::stod((*a)[2])) << (*a)[0] << "\n" << (*l)[0];
      }
  }
  EXPECT_GT(n_arrows, 2);
}

TEST(TracePicture, FitsOnATelephone) {
  const std::string svg = trace_svg(view_of(kReport), "t");
  int width = 0;
  ASSERT_EQ(std::sscanf(svg.c_str() + svg.find(" width="), " width=\"%d\"", &width), 1);
  EXPECT_LE(width, 360) << "two columns, and labels as wide as their words";
}

TEST(TracePicture, RepeatsAnArrayWhereItIsUsedLater) {
  const std::string report = R"json({"launches": [{"kernel": "a"}, {"kernel": "b"}], "trace": {"rows": [
    {"launch": 0, "block": null, "after": "start", "object": "d_in", "width": 4,
     "contents": "0300000001000000"},
    {"launch": 0, "block": null, "after": "launch", "object": "d_flags", "width": 4,
     "contents": "0100000000000000", "writes": [[0, 0, 0, 9, [["d_in", 0]]], [1, 0, 1, 9, [["d_in", 1]]]]},
    {"launch": 1, "block": null, "after": "launch", "object": "d_out", "width": 4,
     "contents": "03000000", "writes": [[0, 0, 0, 9, [["d_in", 0]]]]}]}})json";
  EXPECT_THAT(trace_svg(view_of(report), "t"), HasSubstr("as above"));
  EXPECT_EQ(arrows(trace_svg(view_of(report), "t")).size(), 3u);
}

TEST(TraceHtml, HasStepsSourceLinesAndActiveLanes) {
  const std::string page = trace_html(view_of(kReport), kSource, "./lab trace x");
  EXPECT_EQ(testing::why_malformed(page, testing::kVoidElements), "");
  EXPECT_THAT(page, HasSubstr("id=\"step-3\""));
  EXPECT_THAT(page, HasSubstr("s_data[tid] = &lt;d_in&gt;[tid];"));
  EXPECT_THAT(page, HasSubstr("2 of 8 lanes"));
  EXPECT_THAT(page, HasSubstr("bank conflicts: 4 passes"));
  EXPECT_THAT(page, HasSubstr("<ol class=\"steps\">"));
  EXPECT_THAT(page, HasSubstr("<span>lines 30 31, warps 1 2</span>")) << "equal rows are one";
}

TEST(TraceHtml, LeavesOutMarksOfAuthors) {
  const SourceLine source = [](const std::string&, std::uint32_t line) {
    return line == 29 ? "  //@how Wait." : "  more();";
  };
  EXPECT_THAT(trace_html(view_of(kReport), source, "x"), Not(HasSubstr("Wait.")));
}

TEST(TraceHtml, KeepsValuesInTheirColumnsFromStepToStep) {
  const std::string page = trace_html(view_of(kReport), kNoSource, "x");
  const std::string steps = page.substr(0, page.rfind(">All steps<"));
  std::set<std::string> lefts;
  for (std::size_t at = 0; (at = steps.find("wide roomy", at)) != std::string::npos; ++at) {
    const std::size_t x = steps.find(" x=\"", steps.find("<rect class=\"box", at));
    lefts.insert(steps.substr(x, steps.find('"', x + 4) - x));
  }
  EXPECT_THAT(lefts, ::testing::SizeIs(1));
  EXPECT_THAT(steps, Not(HasSubstr("as above"))) << "nothing else is on show";
}

TEST(TraceMarkdown, HasNoLineNumbers) {
  const std::string text = trace_markdown(view_of(kReport));
  EXPECT_THAT(text, HasSubstr("| barrier (2×) | 0 1 | `s_data` | **3** | **1** | |"));
  EXPECT_THAT(text, Not(HasSubstr("31")));
}

TEST(TraceView, SurvivesAnyReport) {
  for (const char* report :
       {"", "[]", "{}", R"({"trace": 3})", R"({"trace": {"rows": 3}})",
        R"({"trace": {"rows": [3, {}, {"writes": 3}]}})",
        R"({"trace": {"rows": [{"width": 3, "contents": "zz", "writes": [[], 3, [1, 2, 3, 4, 5], [-1]]}]}})",
        R"({"launches": [3], "trace": {"rows": [
          {"after": "vote", "width": 99, "lanes": 4294967295, "contents": "0"}]}})",
        R"({"trace": {"rows": [{"after": "fault"}, {"after": "publish", "accesses": [3, [], ["x"]],
          "writes": [[9, 9, 9, 9, [["<b>", 3], [3]]]]}]}})",
        R"({"trace": {"rows": [{"object": "\u001b[2J", "writes": [[0]], "contents": "00000000"}]}})"}) {
    const TraceView view = view_of(report);
    EXPECT_THAT(trace_text(view, false), Not(HasSubstr("\x1b"))) << report;
    trace_markdown(view);
    EXPECT_THAT(trace_text(view, false), Not(HasSubstr("\x1b")));
    EXPECT_EQ(testing::why_malformed(trace_svg(view, report)), "") << report;
    EXPECT_EQ(testing::why_malformed(trace_html(view, kNoSource, report), testing::kVoidElements), "")
        << report;
  }
}

}  // namespace
}  // namespace course::grader
