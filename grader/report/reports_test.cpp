// SPDX-License-Identifier: MIT
// The reports made from one result: JSON, table, JUnit, HTML.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "page/markup.hpp"
#include "report/formats.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"
#include "testing/sample_result.hpp"
#include "testing/well_formed.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::kVoidElements;
using ::testing::Not;
using testing::why_malformed;

RunResult example() {
  RunResult result = testing::sample_result();
  TaskResult &good = result.labs[0].tasks[0], &wrong = result.labs[0].tasks[1];
  good.goals = {{lab::Metric::bank_conflicts, 1.05, "row", 3.2, 0, 5, ""},
                {lab::Metric::launches, 1.0, "", 1.0, 5, 5, ""}};
  good.speedup = 85.2;
  good.metrics = {{"bank_conflicts", 3.2}, {"launches", 1.0}};
  good.timing->cpu_us = 852;
  CaseRecord record;
  record.name = "sum_i32_n33";
  record.verdict = Verdict::ok;
  good.cases = {record};
  wrong.message =
      "d_out[0]: expected 7, got 8\nagain: ./lab grade reduction --device sim --task wrong --case n33 --seed "
      "0x1";
  wrong.cases.clear();
  return result;
}

// A result with `text` in every place that a hostile submission could influence.
RunResult hostile(const std::string& text) {
  RunResult result = example();
  result.device = text;
  result.commit = text;
  LabResult& lab = result.labs[0];
  for (TaskResult& task : lab.tasks) {
    task.message = fmt::format("{}\n{}", text, text);
    task.title = text;
    for (CaseRecord& record : task.cases) record.name = record.message = text;
    for (GoalScore& goal : task.goals) goal.note = text, goal.measured.reset();
  }
  return result;
}

// The length of the longest line in columns, without colour codes.
std::size_t widest(std::string text) {
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at)) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  std::size_t widest = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

TEST(ResultJson, HasDocumentedKeys) {
  const json document = json::parse(json_text(example()));
  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ(document.at("device"), "Simulated H200");
  EXPECT_EQ(document.at("isolation"), "full");
  EXPECT_EQ(document.at("isolation_parts"), json({"namespaces", "limits"}));
  EXPECT_EQ(document.at("graded"), true);
  EXPECT_EQ(document.at("commit"), std::string(40, 'a'));
  const json& lab = document.at("labs").at(0);
  EXPECT_EQ(lab.at("id"), "reduction");
  EXPECT_EQ(lab.at("points"), 45);
  EXPECT_EQ(lab.at("max_points"), 100);
  const json& task = lab.at("tasks").at(0);
  for (const char* key :
       {"id", "title", "points", "max_points", "verdict", "message", "speedup", "metrics"}) {
    EXPECT_TRUE(task.contains(key)) << key;
  }
  EXPECT_EQ(task.at("verdict"), "OK");
  EXPECT_DOUBLE_EQ(task.at("speedup").get<double>(), 85.2);
  EXPECT_DOUBLE_EQ(task.at("metrics").at("bank_conflicts").get<double>(), 3.2);
  EXPECT_EQ(task.at("timing").at("modelled"), true);
  EXPECT_DOUBLE_EQ(task.at("timing").at("speedup_one_thread").get<double>(), 85.2);
  EXPECT_TRUE(lab.at("tasks").at(1).at("speedup").is_null());
}

TEST(ResultJson, KeepsAllBitsOfTheSeed) {
  EXPECT_EQ(json::parse(json_text(example())).at("seed"), "0xfedcba9876543210");
}

TEST(ResultJson, KeepsBonusPointsSeparate) {
  const json lab = json::parse(json_text(example())).at("labs").at(0);
  EXPECT_EQ(lab.at("bonus_points"), 0);
  EXPECT_EQ(lab.at("max_bonus_points"), 10);
  EXPECT_EQ(lab.at("tasks").at(2).at("bonus"), true);
}

TEST(ResultJson, IsValidForAnyBytesAndNumbers) {
  RunResult result = hostile("\xff\xfe\"\\\x01</script>");
  result.labs[0].tasks[0].speedup = std::numeric_limits<double>::infinity();
  result.labs[0].tasks[0].metrics["launches"] = std::numeric_limits<double>::quiet_NaN();
  const json task = json::parse(json_text(result)).at("labs").at(0).at("tasks").at(0);
  EXPECT_TRUE(task.at("speedup").is_null());
  EXPECT_TRUE(task.at("metrics").at("launches").is_null());
}

TEST(ResultJson, HasAtMostOneMebibyte) {
  for (const char* piece : {"\x01", "x", "\xff", "\n", "é", "\""}) {
    std::string text;
    while (text.size() < 1 << 18) text += piece;
    CaseRecord record;
    record.message = text;
    TaskResult task = example().labs[0].tasks[1];
    task.message = text;
    task.cases.assign(100, record);
    cut_messages(task);
    EXPECT_THAT(task.message, HasSubstr("was cut"));
    RunResult result = example();
    result.labs[0].tasks.assign(9, task);
    EXPECT_LT(to_json(result).dump(2, ' ', false, json::error_handler_t::replace).size(), 1u << 20) << piece;
  }
  TaskResult task = example().labs[0].tasks[1];
  const std::string message = task.message;
  cut_messages(task);
  EXPECT_EQ(task.message, message);
}

TEST(Table, ShowsVerdictPointsSpeedupAndLosses) {
  const std::string table = to_table(example(), {});
  EXPECT_THAT(table, HasSubstr("  good "));  // the word that --task takes
  EXPECT_THAT(table, HasSubstr("Task wrong (wrong): WRONG_ANSWER"));
  EXPECT_THAT(table, HasSubstr("45/50"));
  EXPECT_THAT(table, HasSubstr("85.2x"));
  EXPECT_THAT(table, HasSubstr("bank_conflicts per row is 3.2, at most 1.05 is required"));
  EXPECT_THAT(table, Not(HasSubstr("launches")));
  EXPECT_THAT(table, HasSubstr("45/100"));
  EXPECT_THAT(table, HasSubstr("modelled"));
  EXPECT_THAT(table, HasSubstr("expected 7, got 8"));
  EXPECT_THAT(table, HasSubstr("0xfedcba9876543210"));
}

TEST(Table, DistinguishesMeasuredFromAskedFor) {
  RunResult result = example();
  TaskResult& task = result.labs[0].tasks[0];
  ASSERT_FALSE(task.tiers.empty());
  task.goals[0].limit = 1.01;
  task.goals[0].measured = 1.01004;
  task.tiers[0] = {30, 0, 2};
  task.speedup = 29.998;
  const std::string table = to_table(result, {});
  EXPECT_THAT(table, HasSubstr("bank_conflicts per row is 1.01004, at most 1.01 is required"));
  EXPECT_THAT(table, HasSubstr("speedup is 29.998, 30 is required (2 points lost)"));
  EXPECT_EQ(beside(1.5, 1.5), "1.5");
  EXPECT_EQ(beside(3.21987, 1.01), "3.22");
}

TEST(Table, DoesNotCallMeasuredTimesModelled) {
  RunResult result = example();
  result.modelled = false;
  EXPECT_THAT(to_table(result, {}), Not(HasSubstr("modelled")));
}

TEST(Table, UsesColourOnlyWhenAsked) {
  EXPECT_THAT(to_table(example(), {}), Not(HasSubstr("\x1b")));
  TableStyle colour;
  colour.colour = true;
  EXPECT_THAT(to_table(example(), colour), HasSubstr("\x1b["));
}

TEST(Table, StaysWithinEightyColumns) {
  std::mt19937 random(11);
  for (const bool colour : {false, true}) {
    TableStyle style;
    style.colour = colour;
    EXPECT_LE(widest(to_table(example(), style)), kTableColumns);
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (std::uint64_t i = random() % 300; i > 0; --i) text += static_cast<char>(random() & 0xff);
      RunResult result = hostile(text);
      result.labs[0].tasks[1].message = "again: ./lab " + text;
      const std::string table = to_table(result, style);
      ASSERT_LE(widest(table), kTableColumns) << table;
    }
    EXPECT_LE(widest(to_table(hostile(std::string(500, 'x')), style)), kTableColumns);
    EXPECT_LE(
        widest(to_table(
            hostile("归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约归约"),
            style)),
        kTableColumns);
  }
}

TEST(Table, EscapesTerminalControls) {
  EXPECT_THAT(to_table(hostile("\x1b]0;owned\x07\x1b[2J\r\x08\xc2\x9b"), {}),
              Not(::testing::ContainsRegex("[\x01-\x08\x0b-\x1f]")));
}

TEST(Table, ShowsOneScreenOfMessages) {
  RunResult result = example();
  LabResult& lab = result.labs[0];
  for (int i = 0; i < 10; ++i) {
    TaskResult task = testing::sample_task("t" + std::to_string(i), Verdict::crash, 0, 1);
    task.message = "message " + std::to_string(i);
    lab.tasks.push_back(task);
  }
  const std::string table = to_table(result, {});
  EXPECT_THAT(table, HasSubstr("message 1"));
  EXPECT_THAT(table, Not(HasSubstr("message 7")));
  EXPECT_THAT(table, HasSubstr("8 more tasks failed"));
}

TEST(Table, ShowsAFailureInFewLinesTheCauseFirst) {
  RunResult result = testing::sample_result();
  TaskResult& wrong = result.labs[0].tasks[1];
  lab::Failure failure = *wrong.cases[0].failure;
  for (int i = 0; i < 40; ++i) failure.findings[0].message += " and a long sentence about what happened";
  failure.notes.assign(5, "a note");
  failure.printed.assign(8, "some output");
  set_failure(wrong.cases[0], failure);
  wrong.message = wrong.cases[0].message;
  TableStyle style;
  const std::string text = failure_head(wrong, style) + failure_end(wrong, style);
  EXPECT_LE(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(kFailureLines) + 1)
      << text;  // one is empty
  EXPECT_LT(text.find("cause: "), text.find("expected 31337")) << text;
  EXPECT_LT(text.find("expected 31337"), text.find("./lab grade")) << text;
  EXPECT_THAT(text, Not(HasSubstr("some output")));
  style.whole = true;
  EXPECT_THAT(failure_head(wrong, style), HasSubstr("some output"));
}

TEST(Table, ShowsACompileErrorOnce) {
  RunResult result = example();
  for (TaskResult& task : result.labs[0].tasks) {
    task.verdict = Verdict::compile_error;
    task.message = "reduction.cu(3): error: expected a \";\"";
  }
  const std::string table = to_table(result, {});
  EXPECT_EQ(table.find("expected a"), table.rfind("expected a"));
}

TEST(Junit, IsWellFormedAndCounts) {
  const std::string xml = to_junit(example());
  EXPECT_EQ(why_malformed(xml), "");
  EXPECT_THAT(xml, HasSubstr(R"(tests="3" failures="2" errors="0")"));
  EXPECT_THAT(xml, HasSubstr(R"(<failure type="WRONG_ANSWER" message="d_out[0]: expected 7, got 8">)"));
}

TEST(Junit, DistinguishesInfrastructureFromFailure) {
  RunResult result = example();
  result.labs[0].tasks[1].verdict = Verdict::infra;
  const std::string xml = to_junit(result);
  EXPECT_THAT(xml, HasSubstr(R"(failures="1" errors="1")"));
  EXPECT_THAT(xml, HasSubstr("<error type=\"INFRA\""));
}

TEST(Html, IsWellFormedSelfContainedAndComplete) {
  const std::string page = to_html(example());
  EXPECT_EQ(why_malformed(page, kVoidElements), "");
  EXPECT_THAT(page, HasSubstr("45/100"));
  EXPECT_THAT(page, HasSubstr("85.2×"));
  EXPECT_THAT(page, HasSubstr("modelled"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  for (const char* outside :
       {"<script", "http://", "https://", " src=", "<link", "@import", "url(h", "url(\"", "url('"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Html, ShowsSpeedupsOnlyWhereTheyAreKnown) {
  RunResult result = example();
  EXPECT_THAT(to_html(result), HasSubstr("odelled speedup over"));
  for (TaskResult& task : result.labs[0].tasks) task.speedup.reset();
  EXPECT_THAT(to_html(result), Not(HasSubstr("peedup over")));
}

TEST(Html, MarksTheFirstDifferenceAndLinksTheSection) {
  RunResult result = testing::sample_result();
  CaseRecord& record = result.labs[0].tasks[1].cases[0];
  lab::Failure failure = *record.failure;
  failure.mismatch->index = 3;
  failure.mismatch->near_expected = {"10", "11", "12"};
  failure.mismatch->near_got = {"10", "99", "12"};
  set_failure(record, failure);
  const std::string page = to_html(result);
  EXPECT_THAT(page, HasSubstr("href=\"handouts/01-reduction.md#wrong\""));
  EXPECT_THAT(page, Not(HasSubstr("→ 2")));
  EXPECT_THAT(page, HasSubstr("→ 3"));
  EXPECT_THAT(page, Not(HasSubstr("expected "))) << "said once";
  EXPECT_GT(page.find("seed 0xfedcba9876543210"), page.find("→ 3"));
  EXPECT_EQ(why_malformed(page, kVoidElements), "");
}

TEST(Html, ACaseHasTheToneOfItsVerdict) {
  for (const auto& [verdict, tone] : {std::pair(Verdict::ok, "good"),
                                      {Verdict::infra, "fair"},
                                      {Verdict::suspect, "fair"},
                                      {Verdict::not_implemented, "quiet"},
                                      {Verdict::wrong_answer, "bad"}}) {
    RunResult result = example();
    result.labs[0].tasks[0].cases[0].verdict = verdict;
    const std::string page = to_html(result), end = fmt::format(">{}<", lab::name_of(verdict));
    const std::string cell = page.substr(page.rfind("<td", page.rfind(end)));
    EXPECT_THAT(cell.substr(0, cell.find(end)), HasSubstr(tone)) << lab::name_of(verdict);
  }
}

TEST(Markup, EscapesTextAndAttributes) {
  EXPECT_EQ(escape_markup("<a href=\"x\" id='y'>&\x1b"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\\x1b");
}

TEST(Markup, EscapesHostileInputInReports) {
  const std::string attacks[] = {"<script>alert(1)</script>",
                                 "\"><img src=x onerror=alert(1)>",
                                 "' onmouseover='alert(1)",
                                 "]]>",
                                 "<!--",
                                 "-->",
                                 "</pre></main></body>",
                                 "&lt;script&gt;",
                                 "&#60;script&#62;",
                                 "</testcase>",
                                 "\x01\x02\x0b\xff",
                                 "<![CDATA["};
  for (const std::string& attack : attacks) {
    const std::string page = to_html(hostile(attack));
    EXPECT_EQ(why_malformed(page, kVoidElements), "") << attack;
    EXPECT_THAT(page, Not(HasSubstr("<script"))) << attack;
    EXPECT_THAT(page, Not(HasSubstr("<img"))) << attack;
    EXPECT_EQ(why_malformed(to_junit(hostile(attack))), "") << attack;
  }
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::uint64_t i = random() % 60; i > 0; --i) text += "<>&\"'/=- a\x01\xff!]"[random() % 14];
    ASSERT_EQ(why_malformed(to_html(hostile(text)), kVoidElements), "") << text;
    ASSERT_EQ(why_malformed(to_junit(hostile(text))), "") << text;
  }
}

// The tests above rely on this checker.
TEST(WellFormed, DetectsMalformedText) {
  EXPECT_EQ(why_malformed("<a b=\"c\"><d/>x &amp; y</a>"), "");
  for (const char* bad : {"<a>", "</a>", "<a></b>", "<a>&</a>", "<a>&nbsp;</a>", "<a b=c></a>", "<a b></a>",
                          "<a>\x01</a>", "<a></a><b></b>", "text", "<a>></a>", "<a b=\"<\"></a>"}) {
    EXPECT_NE(why_malformed(bad), "") << bad;
  }
}

}  // namespace
}  // namespace course::grader
