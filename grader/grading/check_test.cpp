// SPDX-License-Identifier: MIT
#include "grading/check.hpp"

#include <gmock/gmock.h>

#include "testing/files.hpp"
#include "testing/scripted.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const testing::FakeProblem kProblem;
const RunContext kContext{"fake", 1, false, lab::DeviceKind::sim, false};

std::string no_source(const std::string&, std::uint32_t) {
  return "";
}

lab::Outcome with_findings(const lab::Case& c, const std::string& findings) {
  lab::Outcome outcome = testing::good_outcome(c, {});
  const std::string none = "\"findings\":[]";
  outcome.sim_report.replace(outcome.sim_report.find(none), none.size(), "\"findings\":[" + findings + "]");
  outcome.verdict = lab::Verdict::wrong_answer;
  outcome.failure.headline = "is right by luck";
  return outcome;
}

CheckReport check(testing::Script& script, std::optional<std::string> task = std::nullopt) {
  return check_lab(kProblem, *script.runner(lab::DeviceKind::sim), kContext, task, nullptr);
}

TEST(Check, RunsOnlySmallCasesWithCheckersOn) {
  testing::Script script;
  const CheckReport report = check(script);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_THAT(to_text(report, no_source), HasSubstr("Nothing found."));
  ASSERT_FALSE(script.asked().empty());
  for (const testing::Asked& one : script.asked()) {
    EXPECT_TRUE(one.measure.checks);
    EXPECT_NE(one.case_name, "n200000");
  }
}

TEST(Check, MergesEqualFindingsAndSortsByLine) {
  testing::Script script([](const lab::Task& task, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
    std::string findings =
        R"({"checker":"racecheck","kind":"shared-race","file":"fake.cu","line":40,"times":2})";
    if (task.id == "second")
      findings += R"(,{"checker":"initcheck","kind":"uninitialised","file":"fake.cu","line":7})";
    return with_findings(c, findings);
  });
  const CheckReport report = check(script);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].finding.line, 7U);
  EXPECT_EQ(report.findings[1].finding.line, 40U);
  EXPECT_EQ(report.findings[1].finding.times, 2U * 2U * 3U);  // 2 cases of 3 tasks
  EXPECT_EQ(report.findings[1].tasks, (std::vector<std::string>{"first", "second", "extra"}));
  const std::string text = to_text(report, [](const std::string&, std::uint32_t line) {
    return "    s[tid] += s[tid + " + std::to_string(line) + "];";
  });
  EXPECT_THAT(text, HasSubstr("  40 | s[tid] += s[tid + 40];"));
  EXPECT_THAT(text, HasSubstr("2 findings."));
  EXPECT_THAT(text, HasSubstr("in first, second, extra"));
}

TEST(Check, PrintsPathsFromTheCheckout) {
  testing::Script script([](const lab::Task&, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
    return with_findings(c,
                         R"({"checker":"racecheck","kind":"shared-race","file":"labs/fake/fake.cu","line":40,
      "message":"thread 0 reads s[1] at labs/fake/fake.cu:40 while thread 1 writes it at labs/fake/fake.cu:38",
      "other_file":"labs/fake/fake.cu","other_line":38})");
  });
  const std::string text =
      to_text(check(script), [](auto&&...) { return std::string(120, 'x') + " " + "y"; });
  EXPECT_THAT(text, HasSubstr("labs/fake/fake.cu:40"));
  EXPECT_THAT(text, HasSubstr("labs/fake/fake.cu:38"));
  EXPECT_THAT(text, Not(::testing::ContainsRegex("[^/]fake.cu:")));
  for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(Check, FailedCallsComeBeforeTheirConsequences) {
  testing::Script script([](const lab::Task&, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
    return with_findings(c, R"({"checker":"initcheck","kind":"uninitialised","file":"fake.cu","line":7},
      {"checker":"memcheck","kind":"api-error","severity":"hint","message":"<<<>>> fails","file":"fake.cu","line":40})");
  });
  const CheckReport report = check(script);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].finding.kind, "api-error");
  const std::string text = to_text(report, [](const std::string&, std::uint32_t) { return ""; });
  EXPECT_THAT(text, HasSubstr("api-error (other findings may come of it)"));
  EXPECT_THAT(text, HasSubstr("failed call: labs/fake/fake.cu:40: <<<>>> fails"));
}

TEST(Check, ReportsFailuresWithoutFindings) {
  testing::Script script([](const lab::Task& task, auto&, auto&) -> std::optional<lab::Outcome> {
    if (task.id == "first") return testing::failing(lab::Verdict::wrong_answer, "expected 7, got 8");
    if (task.id == "second") return testing::failing(lab::Verdict::not_implemented, "not yet");
    return std::nullopt;
  });
  const std::string text = to_text(check(script), no_source);
  EXPECT_THAT(text, HasSubstr("first: WRONG_ANSWER"));
  EXPECT_THAT(text, HasSubstr("expected 7, got 8"));
  EXPECT_THAT(text, HasSubstr("second: not implemented yet"));
  EXPECT_THAT(text, Not(HasSubstr("Nothing found.")));
}

TEST(Check, StopsWhenAllCasesGiveTheSame) {
  testing::Script script([](auto&, auto&, auto&) { return testing::failing(lab::Verdict::time_limit); });
  check(script, "first");
  EXPECT_EQ(script.asked().size(), 1U);
}

TEST(SourceLines, ComeFromTheCheckoutOnly) {
  namespace fs = std::filesystem;
  const testing::Folder own;
  const std::string& folder = own.path;
  fs::create_directories(folder + "/root/labs");
  std::ofstream(folder + "/root/labs/a.cu") << "one\ntwo\n";
  std::ofstream(folder + "/secret") << "secret\n";
  fs::create_symlink(folder + "/secret", folder + "/root/labs/link.cu");
  const SourceLine line = source_lines_below(folder + "/root");
  EXPECT_EQ(line("labs/a.cu", 2), "two");
  EXPECT_EQ(line(folder + "/root/labs/a.cu", 1), "one");
  EXPECT_EQ(line("labs/a.cu", 3), "");
  EXPECT_EQ(line("labs/a.cu", 0), "");
  EXPECT_EQ(line("../secret", 1), "");
  EXPECT_EQ(line(folder + "/secret", 1), "");
  EXPECT_EQ(line("labs/link.cu", 1), "");
  EXPECT_EQ(line("labs", 1), "");
}

}  // namespace
}  // namespace course::grader
