// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace course::grader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Größe"), 5U);
  EXPECT_EQ(display_width("归约"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // "e" and a combining accent
  EXPECT_EQ(display_width("\xff\xfe"), 2U);   // not UTF-8: one column per byte
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Paths, BelowTheCheckoutBecomeRelative) {
  const auto told = [](std::string_view text) { return paths_from("/a b/lab", text); };
  EXPECT_EQ(told("at /a b/lab/build/../solutions/x/x.cu:7 (in /a b/lab/labs/y.hpp:3)"),
            "at solutions/x/x.cu:7 (in labs/y.hpp:3)");
  EXPECT_EQ(told(R"({"file":"/a b/lab/build/runs/7/x.cu","line":1})"),
            R"({"file":"build/runs/7/x.cu","line":1})");
  EXPECT_EQ(paths_from("/lab", "/tmp/build/../../lab/x.cu:1"), "x.cu:1");
}

TEST(Paths, OutsideTheCheckoutStayUnchanged) {
  for (const char* text : {"/usr/include/x.h:1", "/a b/lab2/x.cu:1", "/a b/lab/../other/x.cu",
                           "x/a b/lab/y.cu", "1/2 of a/b", "/", "", "//", "/a b/lab"})
    EXPECT_EQ(paths_from("/a b/lab", text), text);
  EXPECT_EQ(paths_from("", "/x/y"), "/x/y");
}

TEST(Fit, PadsAndCutsToTheColumn) {
  EXPECT_EQ(fit_left("ab", 4), "ab  ");
  EXPECT_EQ(fit_right("ab", 4), "  ab");
  EXPECT_EQ(fit_left("abcdef", 4), "abc…");
  EXPECT_EQ(fit_left("归约归约", 4), "归… ");  // a wide character needs two columns
  EXPECT_EQ(fit_left("abc", 0), "");
}

TEST(Fit, IsExactForAnyBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::uint64_t i = random() % 30; i > 0; --i) text += static_cast<char>(random() & 0xff);
    text = tame(text);
    for (const std::size_t width : {1U, 2U, 7U, 40U}) {
      ASSERT_EQ(display_width(fit_left(text, width)), width);
      ASSERT_EQ(display_width(fit_right(text, width)), width);
    }
  }
}

TEST(Wrap, BreaksAtSpacesAndKeepsLines) {
  EXPECT_EQ(wrap("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrap("a\n\nb", 10, 2), "  a\n\n  b");
  EXPECT_EQ(wrap("  listed", 20), "  listed");
  EXPECT_EQ(wrap("  one two", 7), "  one\n  two");
  EXPECT_EQ(with_folder("at fold.cu:3 (fold.cu:4), x/fold.cu:5, unfold.cu:6", "labs/fold", "fold.cu"),
            "at labs/fold/fold.cu:3 (labs/fold/fold.cu:4), x/fold.cu:5, unfold.cu:6");
  EXPECT_EQ(wrap_beside(" · ", "one two three", 10), " · one two\n   three");
}

TEST(Wrap, NeverExceedsTheWidth) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t i = random() % 200; i > 0; --i) text += " abc归\n"[random() % 8];
    const std::string wrapped = wrap(tame(text), 20, 2);
    std::size_t at = 0;
    while (at <= wrapped.size()) {
      const std::size_t end = std::min(wrapped.find('\n', at), wrapped.size());
      ASSERT_LE(display_width(std::string_view(wrapped).substr(at, end - at)), 20U) << wrapped;
      at = end + 1;
    }
  }
}

TEST(Tame, MakesControlCharactersVisible) {
  EXPECT_EQ(tame("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(tame("line\n\ttab"), "line\n\ttab");
  EXPECT_EQ(tame("\xc2\x9b"), "\\x9b");  // the one-character form of ESC [
  EXPECT_EQ(tame("\xff"), "\\xff");
  EXPECT_EQ(tame("abc\xe2\x80\xae"), "abc\\u202e");  // right-to-left override
  EXPECT_EQ(tame(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(tame("\xef\xbf\xbf"), "\\uffff");  // not a character, and not allowed in XML
  EXPECT_EQ(tame("归约 ×"), "归约 ×");
}

TEST(FirstLines, StatesHowManyLinesAreLeftOut) {
  EXPECT_EQ(first_lines("a\nb\nc\n", 2), "a\nb\n… 1 more line");
  EXPECT_EQ(first_lines("a\nb\nc\nd", 1), "a\n… 3 more lines");
  EXPECT_EQ(first_lines("a\nb", 2), "a\nb");
  EXPECT_EQ(first_lines("a\nb\n", 2), "a\nb\n");
}

TEST(CloseMatches, FindTypingErrorsAndParts) {
  const std::string labs[] = {"reduction", "scan", "compaction",       "radix_sort",
                              "histogram", "sat",  "hierarchical_scan"};
  EXPECT_THAT(close_matches("redcution", labs), ElementsAre("reduction"));
  EXPECT_THAT(close_matches("scna", labs), ElementsAre("scan"));
  EXPECT_THAT(close_matches("Scan", labs), ElementsAre("scan", "hierarchical_scan"));
  EXPECT_THAT(close_matches("radix", labs), ElementsAre("radix_sort"));
  EXPECT_THAT(close_matches("matmul", labs), IsEmpty());
  EXPECT_THAT(close_matches("", labs), IsEmpty());
}

TEST(DidYouMean, OffersNearestCandidatesOrShortList) {
  const std::string labs[] = {"reduction", "scan"};
  EXPECT_EQ(did_you_mean("reducton", labs), "; did you mean reduction?");
  EXPECT_EQ(did_you_mean("matmul", labs), "; there is: reduction, scan");
  EXPECT_EQ(did_you_mean("x", std::span<const std::string>{}), "");
}

TEST(WrapMessage, BreaksTextAndShellCommands) {
  EXPECT_EQ(wrap_message("", 20), "");
  EXPECT_EQ(wrap_message("one two three four five", 12), "one two\nthree four\nfive\n");
  EXPECT_EQ(wrap_message("run: ./lab grade scan --task blelloch", 24),
            "run: ./lab grade \\\n  scan --task blelloch\n");
  EXPECT_EQ(wrap_message("a\x1b\n\n", 20), "a\\x1b\n\n");
}

}  // namespace
}  // namespace course::grader
