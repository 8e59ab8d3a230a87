// SPDX-License-Identifier: MIT
#include "sim/observation/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace course::sim {
namespace {

using Json = nlohmann::json;

Report::Launch launch_of(std::string kernel, std::uint64_t barriers = 1) {
  Report::Launch one;
  one.kernel = std::move(kernel);
  one.modelled_us = 2;
  one.counters.launches = 1;
  one.counters.barriers = barriers;
  return one;
}

TEST(Report, AddsManyLaunchesToEarlierOnes) {
  Report report;
  for (int k = 0; k < 20000; ++k) report.add(launch_of(k % 2 == 0 ? "nothing" : "something", 3));
  report.add(launch_of("never before"));
  const std::string text = to_json(report, kCounters);
  EXPECT_LT(text.size(), kMaxReportBytes);
  const Json j = Json::parse(text);
  EXPECT_EQ(j["launches"].size(), Report::kMaxLaunches);
  EXPECT_EQ(j["launches_left_out"], 1);
  EXPECT_EQ(j["totals"]["launches"], 20001);
  EXPECT_EQ(j["totals"]["barriers"], 60001);
  std::uint64_t launches = 0, barriers = 0;
  double us = 0;
  for (const Json& one : j["launches"]) {
    launches += one["times"].get<std::uint64_t>();
    barriers += one["counters"]["barriers"].get<std::uint64_t>();
    us += one["modelled_us"].get<double>();
  }
  EXPECT_EQ(launches, 20000u);
  EXPECT_EQ(barriers, 60000u);
  EXPECT_EQ(us, 40000);
}

TEST(Report, FitsWhateverItsTextsAre) {
  Report report;
  const std::string lengthy(1 << 20, '\x01');
  for (std::size_t k = 0; k < 2 * Report::kMaxLaunches; ++k)
    report.add(launch_of(std::to_string(k) + lengthy.substr(0, 4096)));
  for (std::uint32_t k = 0; k < 100; ++k) {
    Finding f;
    f.kernel = f.message = f.object = f.kind = lengthy;
    f.where = f.other_where = {{lengthy, k, lengthy}};
    add_finding(report.findings, f);
  }
  report.lines.resize(100000);
  for (std::uint32_t k = 0; k < report.lines.size(); ++k) {
    report.lines[k].file = lengthy.substr(0, 4096);
    report.lines[k].warp_instructions = report.lines[k].line = k;
  }
  const std::string text = to_json(report, kCounters | kProfile);
  EXPECT_LE(text.size(), kMaxReportBytes);
  EXPECT_EQ(Json::parse(text)["totals"]["launches"], 2 * Report::kMaxLaunches);
}

TEST(Report, HintsLeaveRoomForErrors) {
  Report report;
  Finding f;
  f.severity = Severity::hint;
  for (std::uint32_t k = 0; k < 100; ++k) {
    f.where = {{"file", k, ""}};
    add_finding(report.findings, f);
  }
  f.severity = Severity::error;
  add_finding(report.findings, f);
  EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(),
                          [](const Finding& one) { return one.severity == Severity::error; }));
}

TEST(Report, AnErrorAtThePlaceOfAHintIsReportedAsAnError) {
  const auto found = [](Severity severity, const char* message) {
    Finding f;
    f.severity = severity;
    f.message = message;
    f.where = {{"file", 7, ""}};
    return f;
  };
  for (const bool hint_first : {true, false}) {
    Report report;
    add_finding(report.findings, hint_first ? found(Severity::hint, "h") : found(Severity::error, "e"));
    add_finding(report.findings, hint_first ? found(Severity::error, "e") : found(Severity::hint, "h"));
    add_finding(report.findings, found(Severity::hint, "h"));
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].severity, Severity::error);
    EXPECT_EQ(report.findings[0].message, "e");
    EXPECT_EQ(report.findings[0].times, 3u);
  }
}

TEST(Report, IsBriefAboutParametersAndInlinedFunctions) {
  Finding f;
  f.kernel = "void (anonymous namespace)::sort<int>(int*, int const*)";
  f.kind = "shared-race";
  f.where = {{"own.cu", 3, ""}, {"own.cu", 9, ""}};
  f.message =
      "thread 0 reads s at own.cu:3 (called at line 9) while thread 1 writes it at own.cu:5 (called at line "
      "12)";
  const FindingsText text = to_text({f});
  EXPECT_NE(text.text.find(f.kernel), std::string::npos) << text.text;
  ASSERT_EQ(text.brief.size(), 1u);
  EXPECT_NE(text.brief[0].find(" in sort<int>, own.cu:3\n"), std::string::npos) << text.brief[0];
  EXPECT_NE(text.brief[0].find("reads s while thread 1 writes it at line 5"), std::string::npos)
      << text.brief[0];
}

TEST(Report, KeepsAnEnumerationAmongTheArguments) {
  Finding f;
  f.kernel = "void dilate<(Kind)0>(int*, int)";
  const std::string brief = to_text({f}).brief.at(0);
  EXPECT_TRUE(brief.ends_with(" in dilate<(Kind)0>\n  \n")) << brief;
}

TEST(Report, KeepsTheLinesWithMostInstructions) {
  Report report;
  report.lines.resize(5000);
  for (std::uint32_t k = 0; k < report.lines.size(); ++k) report.lines[k].warp_instructions = k;
  const Json j = Json::parse(to_json(report, kCounters | kProfile));
  EXPECT_LE(j["lines"].size(), 2000u);
  EXPECT_EQ(j["lines"].back()["warp_instructions"], 4999);
}

TEST(Report, ShortensATraceThatDoesNotFit) {
  Report report;
  report.trace.rows.resize(64);
  for (TraceRow& row : report.trace.rows) row.contents.resize(1 << 17);
  const std::string text = to_json(report, kTrace);
  EXPECT_LE(text.size(), kMaxReportBytes);
  const Json j = Json::parse(text);
  EXPECT_EQ(j["trace"]["truncated"], true);
  EXPECT_GT(j["trace"]["rows"].size(), 4u);
}

}  // namespace
}  // namespace course::sim
