// SPDX-License-Identifier: MIT
// With any content, a page is one well-formed document in which only its own script can run. Its look is
// tested in a browser: grader/page/browser/browser_test.py.
#include "page/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
  return section(s, paragraph(text(s), Tone::fair) + code_block(s, s) + details(text(s), table(t)),
                 toned(Tone::good, text(s))) +
         subsection(s, meter(0.5));
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

TEST(Meter, SurvivesAnyNumber) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double share : {-1.0, 0.0, 0.5, 3.0, inf, std::nan("")})
    EXPECT_EQ(why_malformed(meter(share).markup), "") << share;
  EXPECT_THAT(meter(0.5).markup, HasSubstr("<rect width=\"30.0\""));
}

}  // namespace
}  // namespace course::grader::page
