// SPDX-License-Identifier: MIT
#include "smallest/search.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lab/compare.hpp"
#include "lab/derived_cases.hpp"
#include "lab/poison.hpp"
#include "smallest/message.hpp"
#include "testing/scripted.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Case;
using lab::Pattern;
using lab::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Copies its items. Cases: op 0 and 1, called sum and max.
class CopyProblem : public testing::FakeProblem {
 public:
  std::vector<Case> cases(const lab::Task&) const override {
    return {make(0, 1000), make(0, 33), make(1, 1000)};
  }
  lab::Shape shape(const lab::Task&, const Case& c) const override {
    return {{{"d_in", lab::DType::i32, c.n}}, {{"d_out", lab::DType::i32, c.n}}, {}};
  }
  void fill(const lab::Task&, const Case& c, std::uint64_t,
            std::span<lab::HostBuffer> inputs) const override {
    for (std::uint64_t i = 0; i < c.n; ++i) {
      const auto item = static_cast<std::int32_t>(10 + i);
      std::memcpy(inputs[0].bytes.data() + 4 * i, &item, sizeof item);
    }
  }
  void baseline(const lab::Task&, const Case&, std::span<const lab::HostBuffer> inputs,
                std::span<lab::HostBuffer> outputs) const override {
    outputs[0].bytes = inputs[0].bytes;
  }
  static Case make(std::uint32_t op, std::uint64_t n) {
    Case c;
    c.words.variant = op == 0 ? "sum_i32" : "max_i32";
    c.op = op;
    c.n = n;
    return lab::with_name(c);
  }
};

const CopyProblem kProblem;
const lab::Task& kTask = testing::kTasks[0];

// A runner of a submission that fails as `fails` says: the last element of the output is 99.
testing::Script::Answer failing_where(std::function<bool(const Case&)> fails) {
  return [fails = std::move(fails)](const lab::Task&, const Case& c,
                                    const lab::Measure&) -> std::optional<lab::Outcome> {
    if (!fails(c)) return std::nullopt;
    lab::Outcome outcome = testing::failing(Verdict::wrong_answer);
    outcome.failure.headline = "is wrong";
    lab::HostBuffer out{{"d_out", lab::DType::i32, c.n}, std::vector<std::byte>(4 * c.n)};
    for (std::uint64_t i = 0; i < c.n; ++i) {
      const auto item = static_cast<std::int32_t>(i + 1 == c.n ? 99 : 10 + i);
      std::memcpy(out.bytes.data() + 4 * i, &item, sizeof item);
    }
    outcome.outputs = {out};
    outcome.failure.mismatch = lab::Mismatch{"d_out", c.n - 1, "12", "99", 1, c.n, "", {}, ""};
    return outcome;
  };
}

// What is found with that runner, or with one that fails as `fails` says.
SmallestFailure found_by(testing::Script& script, const Case& c = CopyProblem::make(0, 1000),
                         const lab::Problem& problem = kProblem) {
  const auto found = find_smallest(problem, kTask, c, *script.runner(lab::DeviceKind::sim));
  EXPECT_TRUE(found);
  return found.value_or(SmallestFailure{});
}
SmallestFailure found_where(std::function<bool(const Case&)> fails,
                            const Case& c = CopyProblem::make(0, 1000),
                            const lab::Problem& problem = kProblem) {
  testing::Script script(failing_where(std::move(fails)));
  return found_by(script, c, problem);
}
bool has_three_items(const Case& c) {
  return c.n >= 3;
}
// One of three items whose trace is wrong, too.
SmallestFailure traced(const lab::Problem& problem = kProblem) {
  SmallestFailure found = found_where(has_three_items, CopyProblem::make(0, 1000), problem);
  found.is_traced = true;
  found.trace_is_right = false;
  return found;
}

TEST(Smallest, FindsTheShortestLengthThatFails) {
  testing::Script script(failing_where([](const Case& c) { return c.n >= 5; }));
  const auto found = found_by(script);
  EXPECT_EQ(found.c.n, 5u);
  EXPECT_EQ(found.c.pattern, Pattern::example);  // the simplest items
  EXPECT_THAT(found.wrong, ElementsAre("sum_i32", "max_i32"));
  EXPECT_TRUE(lab::find_case(kProblem, kTask, found.c.name)) << found.c.name;
  for (const testing::Asked& asked : script.asked()) EXPECT_EQ(asked.seed, kSmallestSeed);
}

TEST(Smallest, BeginsWithOneItem) {
  const auto found = found_where([](const Case& c) { return c.n >= 1; });
  EXPECT_EQ(found.c.n, 1u);
}

TEST(Smallest, FindsTheShortestRunWithoutAnEnd) {
  testing::Script script([](const lab::Task&, const Case& c, auto&) -> std::optional<lab::Outcome> {
    if (c.n < 4) return std::nullopt;
    return testing::failing(Verdict::time_limit, "does not end");
  });
  const auto found = found_by(script);
  EXPECT_EQ(found.c.n, 4u);
  const std::string text = smallest_text(kProblem, kTask, found, "");
  EXPECT_THAT(text, HasSubstr("./lab debug fake first --case sum_i32_n4_example\n"));
  EXPECT_THAT(text, Not(HasSubstr("./lab trace")));
}

TEST(Smallest, GivesNoMistakeThatLongerInputsRefute) {
  const lab::Cause reversed{"reversed", "reversed"}, doubled{"doubled", "doubled"};
  const auto in_order = failing_where([](const Case& c) { return c.n >= 2; });
  testing::Script script([&](const lab::Task& task, const Case& c, const lab::Measure& measure) {
    auto outcome = in_order(task, c, measure);
    if (outcome) outcome->failure.diagnosis = {{reversed, doubled}};
    return outcome;
  });
  const std::vector<lab::FailedCase> failed{{"sum_i32_n1000", {doubled}}};
  const auto found = find_smallest(kProblem, kTask, CopyProblem::make(0, 1000),
                                   *script.runner(lab::DeviceKind::sim), {}, failed);
  ASSERT_TRUE(found);
  EXPECT_THAT(smallest_text(kProblem, kTask, *found, ""), HasSubstr("likely cause: doubled\n"));
}

TEST(Smallest, SaysWhichOperatorsAreRight) {
  const auto found =
      found_where([](const Case& c) { return c.op == 1 && c.n >= 3; }, CopyProblem::make(1, 1000));
  EXPECT_EQ(found.c.n, 3u);
  EXPECT_THAT(found.right, ElementsAre("sum_i32"));
  EXPECT_THAT(found.wrong, ElementsAre("max_i32"));
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""),
              HasSubstr("wrong with this length: max; right: sum\n"));
}

TEST(Smallest, PrefersTheFirstOperatorThatFailsAsWell) {
  const auto found = found_where(has_three_items, CopyProblem::make(1, 1000));
  EXPECT_EQ(found.c.name, "sum_i32_n3_example");
}

TEST(Smallest, KeepsTheItemsWhenSimplerOnesAreRight) {
  const auto found = found_where([](const Case& c) { return c.pattern == Pattern::random && c.n > 40; });
  EXPECT_EQ(found.c.name, "sum_i32_n63_random");
}

TEST(Smallest, FindsNothingWhereNothingFailsAlone) {
  testing::Script right;
  EXPECT_FALSE(
      find_smallest(kProblem, kTask, CopyProblem::make(0, 1000), *right.runner(lab::DeviceKind::sim)));
  // Wrong only in a process that has run another case before.
  testing::Script stale(
      [](const lab::Task&, const Case& c, const lab::Measure& m) -> std::optional<lab::Outcome> {
        if (m.fresh || c.n < 4) return std::nullopt;
        return testing::failing(Verdict::wrong_answer);
      });
  EXPECT_FALSE(
      find_smallest(kProblem, kTask, CopyProblem::make(0, 1000), *stale.runner(lab::DeviceKind::sim)));
}

TEST(Smallest, EndsAtItsLimitOfRuns) {
  testing::Script script(failing_where([](const Case& c) { return c.n >= 1000; }));
  SmallestLimits limits;
  limits.runs = 20;
  EXPECT_FALSE(find_smallest(kProblem, kTask, CopyProblem::make(0, 1000),
                             *script.runner(lab::DeviceKind::sim), limits));
  EXPECT_LE(script.asked().size(), 21u);
}

// As CopyProblem, but in rows: those of sums are as long as the array, those of maxima shorter.
class RowProblem : public CopyProblem {
 public:
  std::vector<Case> cases(const lab::Task&) const override {
    return {make_rows(0, 1000), make_rows(1, 1000)};
  }
  std::optional<Case> with_items(const lab::Task&, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override {
    if (pattern != Pattern::random) return std::nullopt;
    return make_rows(like.op, n);
  }
  static Case make_rows(std::uint32_t op, std::uint64_t n) {
    Case c = make(op, n);
    c.params[0] = static_cast<std::int64_t>(op == 0 ? n : 1);
    c.words.shape += "_row" + std::to_string(c.params[0]);
    return lab::with_name(c);
  }
};

TEST(Smallest, CallsNothingRightThatHasShorterRows) {
  const RowProblem problem;
  const auto found =
      found_where([](const Case& c) { return c.params[0] > 1; }, RowProblem::make_rows(0, 1000), problem);
  EXPECT_THAT(found.wrong, ElementsAre("sum_i32"));
  EXPECT_TRUE(found.right.empty());
  EXPECT_EQ(found.n_untried, 1u);
  EXPECT_THAT(smallest_text(problem, kTask, found, ""), Not(HasSubstr("every operator")));
}

// d_out is cleared by a launch, and then changed by atomic operations, which a trace shows as no stores.
std::string report_with(const std::string& writes) {
  return R"json({"findings": [], "launches": [{"kernel": "void fake::k00_clear(int*)"}], "trace": {"rows": [
  {"launch": 0, "block": null, "after": "launch", "object": "d_out", "width": 4,
   "contents": "000000000000000000000000", "writes": [)json" +
         writes + "]}]}}";
}

TEST(SmallestText, BlamesNoStoreThatSomethingElseOverwrote) {
  auto found = traced();
  for (const char* writes :
       {"[0, 0, 0, 32, []], [1, 0, 1, 32, []], [2, 0, 2, 32, []]", "[0, 0, 0, 32, []]"}) {
    found.outcome.sim_report = report_with(writes);
    const std::string text = smallest_text(kProblem, kTask, found, "");
    EXPECT_THAT(text, Not(HasSubstr("first wrong value"))) << writes;
    EXPECT_THAT(text, Not(HasSubstr("no thread reaches it"))) << writes;
  }
}

TEST(SmallestText, GivesOperandsTheValuesThatWereRead) {
  auto found = traced();
  // s_data holds 0 at the end of its step; 4 and 95 were read in between.
  found.outcome.sim_report = R"json({"findings": [], "launches": [{"kernel": "void fake::k00(int*)"}],
   "trace": {"rows": [
    {"launch": 0, "block": 0, "after": "barrier", "object": "s_data", "width": 4,
     "contents": "0000000000000000", "writes": [[0, 0, 0, 30, []], [1, 0, 1, 30, []]]},
    {"launch": 0, "block": null, "after": "launch", "object": "d_out", "width": 4,
     "contents": "0a0000000b00000063000000",
     "writes": [[2, 0, 2, 32, [["s_data", 0], ["s_data", 1]], "63000000", ["04000000", "5f000000"]]]}]}})json";
  std::string text = smallest_text(kProblem, kTask, found, "");
  replace_all(text, "\n  ", " ");
  EXPECT_THAT(text, HasSubstr("thread 2 of block 0 stores 99 in d_out[2]; right is 12."));
  EXPECT_THAT(text, HasSubstr("computed from s_data[0] = 4 and s_data[1] = 95."));
  // Without values, none is made up.
  replace_all(found.outcome.sim_report, R"(, ["04000000", "5f000000"])", "");
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""), HasSubstr("computed from s_data[0] and s_data[1]."));
}

TEST(SmallestText, NamesTheArrayThatHoldsTheRightResults) {
  auto found = traced();
  const std::string report = R"json({"findings": [], "launches": [{"kernel": "void fake::k00(int*)"}],
   "trace": {"rows": [
    {"launch": 0, "block": null, "after": "launch", "object": "d_scratch", "width": 4,
     "contents": "0a0000000b0000000c000000",
     "writes": [[0, 0, 0, 32, [], "0a000000", []], [1, 0, 1, 32, [], "0b000000", []],
                [2, 0, 2, 32, [], "0c000000", []]]}]}})json";
  found.outcome.sim_report = report;
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""), Not(HasSubstr("d_scratch holds")));
  std::ranges::fill(found.outcome.outputs.at(0).bytes, lab::kPoison);
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""), HasSubstr("d_scratch holds the right results"));
  replace_all(found.outcome.sim_report, R"("0c000000", [])", R"("0d000000", [])");
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""), Not(HasSubstr("d_scratch holds")));
}

// The right place of item 0 is 5.
class PlacesProblem : public CopyProblem {
 public:
  std::optional<lab::WrongStore> wrong_store(const lab::Task&, const Case&, std::span<const lab::HostBuffer>,
                                             const lab::TracedRun& run) const override {
    return run.differs("d_places", std::vector<std::uint64_t>{5}, "reason");
  }
};

TEST(SmallestText, NamesTheFirstWrongStoreBeforeTheOutput) {
  const PlacesProblem problem;
  auto found = traced(problem);
  const auto text = [&](const std::string& writes) {
    std::string report = report_with(writes);
    replace_all(report, "d_out", "d_places");
    found.outcome.sim_report = report;
    std::string shown = smallest_text(problem, kTask, found, "", 12, "a cause");
    replace_all(shown, "\n  ", " ");
    return shown;
  };
  EXPECT_THAT(
      text(R"([0, 0, 4, 32, [], "07000000"])"),
      HasSubstr(
          "d_places[0] is 7, stored by thread 4 of block 0 in line 32 of k00_clear; right is 5: reason."));
  EXPECT_THAT(text(R"([0, 0, 4, 32, [], "05000000"], [0, 0, 4, 33, [], "07000000"])"),
              HasSubstr("which line 32 had stored, was overwritten"));
  EXPECT_THAT(text(R"([0, 0, 4, 32, [], "05000000"], [0, 0, 4, 33, [["d_places", 0]], "07000000"])"),
              Not(HasSubstr("overwritten")));
  EXPECT_THAT(text(R"([0, 0, 4, 32, [], "05000000"])"), Not(HasSubstr("reason")));
  // The line has stored in an earlier launch, too: another pass.
  found.outcome.sim_report = R"json({"findings": [], "launches": [{"kernel": "k"}, {"kernel": "k"}],
   "trace": {"rows": [
    {"launch": 0, "block": null, "after": "launch", "object": "d_places", "width": 4,
     "contents": "05000000", "writes": [[0, 0, 4, 32, [], "05000000", []]]},
    {"launch": 1, "block": null, "after": "launch", "object": "d_places", "width": 4,
     "contents": "07000000", "writes": [[0, 0, 4, 32, [], "07000000", []]]}]}})json";
  std::string passes = smallest_text(problem, kTask, found, "", 12, "a cause");
  EXPECT_THAT(passes, HasSubstr("right is 5"));
  EXPECT_THAT(passes, Not(HasSubstr("overwritten")));
  replace_all(found.outcome.sim_report, R"(32, [], "07000000")", R"(33, [], "07000000")");
  EXPECT_THAT(smallest_text(problem, kTask, found, "", 12, "a cause"), HasSubstr("overwritten"));
}

// As CopyProblem, but each of eight ranks has the output.
class RanksProblem : public CopyProblem {
 public:
  static constexpr int kRanks = 8;
  lab::Shape shape(const lab::Task& task, const Case& c) const override {
    lab::Shape shape = CopyProblem::shape(task, c);
    shape.outputs.clear();
    for (int r = 0; r < kRanks; ++r)
      shape.outputs.push_back({"d_out of rank " + std::to_string(r), lab::DType::i32, c.n});
    return shape;
  }
  void baseline(const lab::Task&, const Case&, std::span<const lab::HostBuffer> inputs,
                std::span<lab::HostBuffer> outputs) const override {
    for (lab::HostBuffer& output : outputs) output.bytes = inputs[0].bytes;
  }
};

TEST(SmallestText, ShowsActualValuesOfEveryWrongRank) {
  const RanksProblem problem;
  for (const int n_wrong : {1, 7}) {
    auto found = found_where(has_three_items, CopyProblem::make(0, 1000), problem);
    // The output of one rank, wrong and right.
    const lab::HostBuffer wrong = found.outcome.outputs.at(0);
    lab::HostBuffer right = wrong;
    right.bytes[8] = std::byte{12};
    found.outcome.outputs.clear();
    for (int r = 0; r < RanksProblem::kRanks; ++r) {
      found.outcome.outputs.push_back(r < n_wrong ? wrong : right);
      found.outcome.outputs.back().spec.name = "d_out of rank " + std::to_string(r);
    }
    found.outcome.failure.mismatch->buffer = "d_out of rank 0";
    const std::string text = smallest_text(problem, kTask, found, "");
    for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
    EXPECT_THAT(text, Not(HasSubstr("…")));
    std::size_t n_shown = 0;
    for (std::size_t at = 0; (at = text.find(" 99", at)) != std::string::npos; ++at) ++n_shown;
    EXPECT_EQ(n_shown, static_cast<std::size_t>(n_wrong)) << text;
    EXPECT_THAT(text, HasSubstr("right in these elements: "));
    EXPECT_THAT(text, HasSubstr("d_out of rank 7"));
  }
}

TEST(SmallestText, ShowsItemsExpectedAndActualSideBySide) {
  const auto found = found_where(has_three_items);
  const std::string text = smallest_text(kProblem, kTask, found, "");
  EXPECT_THAT(text, HasSubstr("0    10        10      10\n"));
  EXPECT_THAT(text, HasSubstr("2    12        12      99  <- wrong\n"));
  EXPECT_THAT(text, HasSubstr("./lab trace fake first --case sum_i32_n3_example\n"));
  EXPECT_THAT(text, HasSubstr("./lab debug fake first --case sum_i32_n3_example --wrong\n"));
  EXPECT_THAT(text, HasSubstr("--seed 1"));
}

TEST(SmallestText, ListsNoKindsWhereThereIsOneKind) {
  auto found = found_where(has_three_items);
  found.wrong.resize(1);
  EXPECT_THAT(smallest_text(kProblem, kTask, found, ""), Not(HasSubstr("wrong: ")));
}

TEST(SmallestText, FitsTheLinesThatAreLeft) {
  const auto found = found_where(has_three_items);
  for (const std::size_t lines : {6u, 9u}) {
    const std::string text = smallest_text(kProblem, kTask, found, "", lines, "a cause");
    EXPECT_LE(static_cast<std::size_t>(std::ranges::count(text, '\n')), lines) << text;
    EXPECT_THAT(text, HasSubstr("<- wrong"));
    EXPECT_THAT(text,
                HasSubstr("A small input that fails: ./lab trace fake first --case sum_i32_n3_example\n"));
    EXPECT_THAT(text, Not(HasSubstr("./lab grade")));
  }
}

TEST(SmallerCases, OfAShortCaseReachNineItems) {
  EXPECT_FALSE(lab::find_case(kProblem, kTask, "sum_i32_n8_nonsense"));
  std::uint64_t most = 0;
  for (const Case& c : lab::smaller_cases(kProblem, kTask, CopyProblem::make(0, 1)))
    most = std::max(most, c.n);
  EXPECT_EQ(most, 9u);
}

TEST(SmallerCases, NamesAreComposedOfWords) {
  Case c = CopyProblem::make(0, 8);
  EXPECT_EQ(c.name, "sum_i32_n8_random");
  c.words.more = "_bits0to8";
  c.misalign = 4;
  EXPECT_EQ(lab::with_name(c).name, "sum_i32_n8_random_bits0to8_off4");
  EXPECT_EQ(lab::aligned(c)->name, "sum_i32_n8_random_bits0to8");
}

}  // namespace
}  // namespace course::grader
