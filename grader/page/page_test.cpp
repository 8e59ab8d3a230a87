// SPDX-License-Identifier: MIT
// With any content, a page is one well-formed document in which only its own script can run. Its look is
// tested in a browser: grader/page/browser/browser_test.py.
#include "page/page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "page/chart.hpp"
#include "page/table.hpp"
#include "testing/well_formed.hpp"

namespace course::grader::page {
namespace {

using grader::testing::kVoidElements;
using grader::testing::why_malformed;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAttacks[] = {"</title><script>alert(1)</script>",
                                    "\" onload=\"x",
                                    "' x='",
                                    "<!--",
                                    "&amp",
                                    "\x1b[2J\xff\x01",
                                    "]]>",
                                    ""};

Html everything(const std::string& s) {
  const Table t{.caption = s,
                .columns = {{text(s)}, {text(s), true}},
                .rows = {{{text(s)}, {text(s), Tone::bad}}},
                .foot = {{{text(s)}}}};
  const LineChart lines{.title = s,
                        .description = s,
                        .x = {s},
                        .y = {s, true},
                        .series = {{s, {{1, 2}, {4, 8}}}, {s, {{1, 5}}, true}}};
  const BarChart bars{.title = s, .description = s, .bars = {{s, 3, s}, {s, 0, s, true}}};
  return section(s, paragraph(text(s), Tone::fair) + code_block(s, s) + details(text(s), table(t)),
                 toned(Tone::good, text(s))) +
         subsection(s, line_chart(lines) + bar_chart(bars) + meter(0.5));
}

TEST(Page, StaysWellFormedWithAnyContent) {
  for (const char* attack : kAttacks) {
    const std::string page = document({.title = attack,
                                       .summary = text(attack),
                                       .body = everything(attack),
                                       .sections = {attack, attack},
                                       .made_by = attack});
    EXPECT_EQ(why_malformed(page, kVoidElements), "") << attack;
    EXPECT_THAT(page, Not(HasSubstr("<script"))) << attack;
    EXPECT_THAT(page, Not(HasSubstr("script-src")));
  }
}

TEST(Page, AllowsOnlyTheScriptWithItsHash) {
  const std::string page = document({.title = "t", .script = "let a = 1;", .script_hash = "sha256-abc="});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("script-src 'sha256-abc='"));
  EXPECT_THAT(page, HasSubstr("<script>let a = 1;</script>"));
}

TEST(Page, LinksToItsSections) {
  EXPECT_EQ(anchor_of("Scan: 80/100 points"), "scan-80-100-points");
  EXPECT_EQ(anchor_of("…"), "section");
  const std::string page = document({.title = "t", .body = section("A b", {}), .sections = {"A b", "C"}});
  EXPECT_THAT(page, HasSubstr("href=\"#a-b\""));
  EXPECT_THAT(page, HasSubstr("id=\"a-b\""));
}

TEST(Page, GivesSectionsWithEqualTitlesUniqueIds) {
  const std::string page =
      document({.title = "t", .body = section("Sum", subsection("Sum", {})) + section("Sum", {})});
  for (const char* id : {"\"sum\"", "\"sum-2\"", "\"sum-3\""}) {
    EXPECT_THAT(page, HasSubstr(std::string("<section aria-labelledby=") + id));
    EXPECT_EQ(page.find(std::string(" id=") + id), page.rfind(std::string(" id=") + id));
    EXPECT_THAT(page, HasSubstr(std::string(" id=") + id));
  }
}

TEST(LineChart, PlacesPointsByValue) {
  const Html chart = line_chart({.title = "t",
                                 .description = "d",
                                 .x = {"n", true},
                                 .y = {"GB/s"},
                                 .series = {{"a", {{1, 10}, {1024, 20}}}}});
  // The second point is to the right of the first and above it.
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  const std::size_t at = chart.markup.find("class=\"line\" d=\"M");
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(std::sscanf(chart.markup.c_str() + at, "class=\"line\" d=\"M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2),
            4);
  EXPECT_LT(x1, x2);
  EXPECT_GT(y1, y2);
  EXPECT_THAT(chart.markup, HasSubstr("a: 20 GB/s at 1024 n"));
}

// The looks differ in colour, dash or mark; otherwise the legend would be ambiguous.
TEST(LineChart, GivesEverySeriesADifferentLook) {
  LineChart chart{.title = "t", .description = "d", .x = {"n"}, .y = {"GB/s"}};
  for (int k = 0; k < 24; ++k) chart.series.push_back({fmt::format("rung {}", k), {{1, k + 1.0}}});
  for (int k = 0; k < 4; ++k) chart.series.push_back({fmt::format("reference {}", k), {{1, k + 30.0}}, true});
  const std::string markup = line_chart(chart).markup;
  std::set<std::string> looks;
  std::size_t n = 0;
  for (std::size_t at = 0; (at = markup.find("<li>", at)) != std::string::npos; ++at, ++n)
    looks.insert(markup.substr(at, markup.find("</svg>", at) - at));
  EXPECT_EQ(n, 28u);
  EXPECT_EQ(looks.size(), n);
}

TEST(LineChart, SurvivesAnyNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true}) {
    for (const std::vector<std::pair<double, double>>& points :
         std::vector<std::vector<std::pair<double, double>>>{{},
                                                             {{0, 0}},
                                                             {{1, 1}},
                                                             {{1, inf}, {2, std::nan("")}},
                                                             {{-1, -5}, {1e300, 1e300}},
                                                             {{1e-300, 1e-300}, {1, 1}}}) {
      const Html chart = line_chart({.title = "t",
                                     .description = "d",
                                     .x = {"x", logarithmic},
                                     .y = {"y", logarithmic},
                                     .series = {{"s", points}}});
      EXPECT_EQ(why_malformed(chart.markup), "");
      EXPECT_THAT(chart.markup, Not(HasSubstr("nan ")));
      EXPECT_LT(chart.markup.size(), 100000u);
    }
  }
  EXPECT_EQ(why_malformed(
                bar_chart({"t", "d", {{"a", inf, "∞"}, {"b", std::nan(""), "?"}, {"c", -1, "-1"}}}).markup),
            "");
}

}  // namespace
}  // namespace course::grader::page
