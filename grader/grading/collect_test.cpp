// SPDX-License-Identifier: MIT
#include "grading/collect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grading/explain.hpp"
#include "testing/scripted.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using testing::Asked;
using testing::failing;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Script;

const testing::FakeProblem kProblem;

struct Collected {
  Evidence evidence;
  TaskResult result;
  std::vector<Asked> asked;
};

Collected run_first_task(Script::Answer answer, lab::DeviceKind device = lab::DeviceKind::sim,
                         std::uint64_t seed = 5, bool checks = false) {
  Script script(std::move(answer));
  const lab::Task& task = testing::kTasks[0];
  TaskRun run{&kProblem, &task, make_plan(task, kProblem.cases(task), {device, {}, checks}), {}, {}};
  run.context = {"fake", seed, false, device, false};
  std::map<lab::DeviceKind, std::unique_ptr<CaseRunner>> runners;
  CollectHooks hooks;
  hooks.runner = [&](lab::DeviceKind kind) -> CaseRunner& {
    auto& runner = runners[kind];
    if (!runner) runner = script.runner(kind);
    return *runner;
  };
  Collected out;
  collect(run, Share::shared, hooks);
  collect(run, Share::alone, hooks);
  out.evidence = run.evidence;
  out.result = score_task(task, out.evidence);
  out.asked = script.asked();
  return out;
}

Script::Answer report_with(std::string find, std::string replace, Stage only) {
  return
      [=](const lab::Task&, const lab::Case& c, const lab::Measure& measure) -> std::optional<lab::Outcome> {
        const bool efficiency = measure.counters;
        if ((only == Stage::efficiency) != efficiency) return std::nullopt;
        lab::Outcome outcome = testing::good_outcome(c, measure);
        const std::size_t at = outcome.sim_report.find(find);
        if (at != std::string::npos) outcome.sim_report.replace(at, find.size(), replace);
        return outcome;
      };
}

TEST(Collect, RunsEveryStepOfAGoodTask) {
  const Collected all = run_first_task(nullptr);
  EXPECT_TRUE(all.evidence.complete);
  EXPECT_EQ(all.result.verdict, Verdict::ok);
  EXPECT_EQ(all.evidence.cases.size(), 9U);  // 5 correctness, 2 checks, 1 efficiency, 1 speedup
  EXPECT_EQ(all.evidence.timings.size(), 1U);
  EXPECT_DOUBLE_EQ(all.evidence.metrics.at(lab::Metric::launches), 2);
}

TEST(Collect, StopsAfterAFewWrongAnswers) {
  const Collected some = run_first_task([](auto&, auto&, auto&) { return failing(Verdict::wrong_answer); });
  EXPECT_EQ(some.asked.size(), static_cast<std::size_t>(kFailuresShown));
  EXPECT_EQ(some.result.cases_run, kFailuresShown);
  EXPECT_EQ(some.result.cases_planned, 5);
  EXPECT_EQ(some.result.verdict, Verdict::wrong_answer);
}

lab::Outcome wrong_output(const lab::Case& c, std::vector<lab::Cause> causes) {
  lab::Outcome outcome = failing(Verdict::wrong_answer);
  outcome.failure.headline = "is wrong";
  outcome.failure.mismatch = lab::Mismatch{"d_out", c.n, "1", "2", 1, 1, ""};
  outcome.failure.mismatch->causes = std::move(causes);
  return outcome;
}

TEST(Collect, StrayAccessDoesNotHideWhatOutputsShow) {
  const Collected all = run_first_task([](auto&, const lab::Case& c, auto&) {
    if (c.n > 0) return wrong_output(c, {{"late", "every item is one place too late"}});
    lab::Outcome outcome = failing(Verdict::wrong_answer);
    lab::SimFinding stray;
    stray.checker = "memcheck";
    stray.kind = "out-of-bounds";
    stray.message = "d_out, element 1 of 1 (past its end)";
    outcome.failure.explain(stray, true);
    return outcome;
  });
  EXPECT_NE(all.result.message.find("d_out, element 1 of 1"), std::string::npos) << all.result.message;
  EXPECT_NE(all.result.message.find("every item is one place too late"), std::string::npos)
      << all.result.message;
}

TEST(Explain, TellsLengthsApart) {
  const std::vector<std::uint64_t> some{1, 33, 100, 257, 1000};
  EXPECT_THAT(lengths_text(some, {1025, 4000}), HasSubstr("of up to 1000 items are right, those from 1025"));
  EXPECT_EQ(lengths_text(some, {256, 512}), "only lengths that are multiples of 32 are wrong");
  EXPECT_EQ(lengths_text({32, 64, 96, 128, 512}, {33, 100}),
            "only lengths that are no multiples of 32 are wrong");
  EXPECT_EQ(lengths_text(some, {34, 1025}), "");
  EXPECT_EQ(lengths_text({1, 33}, {1025, 4000}), "");
}

SourceLine lines_of_a_kernel() {
  return [](const std::string&, std::uint32_t line) -> std::string {
    constexpr const char* kLines[] = {
        "__device__ void move(Index position) {",
        "  d_out[position + lane] = item;",
        "}",
        "__global__ void __launch_bounds__(kBlock) scatter(const Index* d_starts,",
        "                                                  unsigned n) {",
        "  const unsigned gid = blockIdx.x * kBlock + threadIdx.x;",
        "  const Index position = d_starts[gid];  // of an item",
        "  if (kept) d_out[position] = item;",
        "  d_out[gid] = combine(d_in[2 * gid + first_of_the_tile], d_in[2 * gid + first_of_the_tile + 1]);",
        "}"};
    return line >= 1 && line <= std::size(kLines) ? kLines[line - 1] : "";
  };
}

lab::Failure race_of(const std::string& message, std::uint32_t line,
                     const std::string& kind = "global-race") {
  lab::Failure failure;
  lab::SimFinding race;
  race.checker = kind == "global-race" ? "racecheck" : "memcheck", race.kind = kind;
  race.file = "labs/fake/fake.cu", race.line = line;
  race.message = message;
  failure.explain(race, true);
  explain_lines(failure, lines_of_a_kernel());
  return failure;
}

TEST(Explain, TellsOnePositionOfTwoItemsAndHowItIsComputed) {
  const std::string both =
      "thread 0 of block 1 writes d_out[17] at fake.cu:8, and so does thread 3 of block 0: lost";
  const lab::Failure scatter =
      race_of(both + "; the position comes from d_starts (line 7), by lines 7, 6", 8);
  EXPECT_THAT(scatter.findings[0].message,
              ::testing::EndsWith("so no barrier helps; the position comes from d_starts (line 7)"));
  EXPECT_EQ(scatter.source,
            "8 | if (kept) d_out[position] = item;\n    7 | const Index position = d_starts[gid];\n    "
            "6 | const unsigned gid = blockIdx.x * kBlock + threadIdx.x;");
  EXPECT_THAT(race_of(both + "; the position is computed, by lines 7", 8).findings[0].message,
              ::testing::EndsWith("so no barrier helps"));
  EXPECT_THAT(race_of(both + "; the position is the same for all threads of a block", 8).findings[0].message,
              HasSubstr("only one thread may store there"));
}

TEST(Explain, DropsTheCodeOfAnAccessPastTheEnd) {
  lab::Failure failure;
  lab::SimFinding stray;
  stray.checker = "memcheck", stray.kind = "out-of-bounds-shared", stray.file = "labs/fake/fake.cu",
  stray.line = 8;
  failure.explain(stray, true);
  failure.notes = {"cudaErrorIllegalAddress: an illegal memory access was encountered"};
  explain_lines(failure, lines_of_a_kernel());
  EXPECT_EQ(failure.source, "8 | if (kept) d_out[position] = item;");
  failure.findings[0].line = 9;
  explain_lines(failure, lines_of_a_kernel());
  EXPECT_THAT(failure.source, ::testing::EndsWith("d_in[2 * gid + first_of_the_tile + 1]);")) << "uncut";
  EXPECT_TRUE(failure.notes.empty()) << "the finding says so";
}

TEST(Explain, OffersNoAtomicForPartsThatOverlap) {
  lab::Failure failure;
  lab::SimFinding lost;
  lost.checker = "racecheck", lost.kind = "shared-race", lost.file = "labs/fake/fake.cu", lost.line = 7;
  lost.other_line = 8;
  lost.message =
      "thread 0 reads s_data[1] while thread 1 writes it: both read it, change it and write it back";
  failure.explain(lost, true);
  explain_lines(failure, lines_of_a_kernel());
  EXPECT_THAT(failure.findings[0].message, HasSubstr("parts of the threads disjoint"));
  failure.findings[0].message = lost.message;
  failure.findings[0].other_line = 7;
  explain_lines(failure, lines_of_a_kernel());
  EXPECT_EQ(failure.findings[0].message, lost.message);
}

TEST(Explain, LeavesOtherRacesAsTheyAre) {
  const std::string change =
      "thread 0 writes d_out[1] at fake.cu:8, and so does thread 1: both read it, change it";
  EXPECT_EQ(race_of(change, 8).findings[0].message, change);
  const lab::Failure failure = race_of("thread 0 reads d_out[1] while thread 1 writes it", 8);
  EXPECT_EQ(failure.source, "8 | if (kept) d_out[position] = item;");
  EXPECT_EQ(failure.findings[0].message, "thread 0 reads d_out[1] while thread 1 writes it");
}

TEST(Collect, SaysWhatWasLaunchedIfAnElementWasNeverStored) {
  for (const char* rule : {"never_written", "another"}) {
    const Collected all = run_first_task([&](auto&, const lab::Case& c, auto&) {
      std::optional<lab::Outcome> outcome = wrong_output(c, {{rule, "a text"}});
      outcome->sim_report =
          R"json({"totals": {}, "launches": [
                {"kernel": "void f::k01<int>(int*)", "grid": [2, 3, 1], "block": [256, 1, 1]},
                {"kernel": 7, "grid": [-1], "block": "x"}]})json";
      return outcome;
    });
    for (const char* said : {"k01<<<2 x 3, 256>>>", "Is the result stored if there are no items?"})
      EXPECT_EQ(all.result.message.find(said) != std::string::npos, rule[0] == 'n') << all.result.message;
  }
}

TEST(Collect, AsksForThreadsAndBlocksWhereThereAreFewer) {
  struct Row {
    unsigned grid, block, n_elements, first_wrong;
    std::string_view asks;
  };
  for (const Row& row :
       {Row{1, 1, 1024, 0, "a thread for each"}, Row{1, 1024, 1024, 0, ""}, Row{1, 1, 1, 0, ""},
        Row{16, 32, 17, 16, "a block for each"}, Row{16, 32, 17, 15, ""}}) {
    const Collected all = run_first_task([&](auto&, const lab::Case& c, auto&) {
      std::optional<lab::Outcome> outcome;
      if (c.n < 2 || c.n > 1024) return outcome;
      outcome = wrong_output(c, {{"never_written", "a text"}});
      outcome->failure.mismatch->n_total = row.n_elements;
      outcome->failure.mismatch->index = row.first_wrong;
      outcome->sim_report = fmt::format(
          R"json({{"totals": {{}}, "launches": [{{"kernel": "k", "grid": [{}], "block": [{}]}}]}})json",
          row.grid, row.block);
      return outcome;
    });
    const std::string& said = all.result.message;
    EXPECT_EQ(said.find("Is there") != std::string::npos, !row.asks.empty()) << said;
    EXPECT_NE(said.find(row.asks), std::string::npos) << said;
  }
}

TEST(Collect, NamesMistakeThatExplainsAllFailures) {
  const Collected all = run_first_task([](auto&, const lab::Case& c, auto&) {
    std::vector<lab::Cause> causes{{"every", "the one that explains all"}};
    if (c.n <= 1) causes.insert(causes.begin(), {"some", "the one that explains small cases"});
    return wrong_output(c, causes);
  });
  EXPECT_EQ(all.asked.size(), static_cast<std::size_t>(kFailuresShown));
  EXPECT_THAT(all.result.message, HasSubstr("likely cause: the one that explains all"));
  EXPECT_THAT(all.result.message, Not(HasSubstr("small cases")));
  EXPECT_THAT(all.result.message, HasSubstr("case " + all.evidence.cases[0].name + " is wrong"));
}

TEST(Collect, ContinuesWhileSeveralMistakesExplainAllCases) {
  const Collected all = run_first_task([](auto&, const lab::Case& c, auto&) {
    std::vector<lab::Cause> causes{{"first", "the first"}};
    if (c.n < 1000) causes.push_back({"second", "the second"});
    return wrong_output(c, causes);
  });
  EXPECT_EQ(all.asked.size(), 4U);
  EXPECT_THAT(all.result.message, HasSubstr("likely cause: the first\n"));
}

TEST(Collect, PrefersCheckersProofToAGuess) {
  const Collected all = run_first_task([](auto&, const lab::Case& c, auto&) {
    lab::Outcome outcome = wrong_output(c, {{"guess", "a guess"}});
    if (c.n == 33) outcome.failure.explain("race: fake.cu:31", true);
    return outcome;
  });
  EXPECT_THAT(all.result.message, HasSubstr("too: race: fake.cu:31"));
  EXPECT_THAT(all.result.message, Not(HasSubstr("a guess")));
}

// Otherwise a program could decide by its use of time which of its cases are checked.
TEST(Collect, NoCaseIsRunAgainWithFewerCheckers) {
  const Collected slow = run_first_task(
      [](auto&, const lab::Case& c, const lab::Measure& measure) {
        return c.n == 200000 && measure.checks ? std::optional(failing(Verdict::time_limit)) : std::nullopt;
      },
      lab::DeviceKind::sim, 5, true);
  EXPECT_EQ(slow.result.verdict, Verdict::time_limit);
  EXPECT_EQ(std::count_if(slow.asked.begin(), slow.asked.end(),
                          [](const Asked& one) { return one.case_name == "n200000"; }),
            1);
  EXPECT_TRUE(
      std::all_of(slow.asked.begin(), slow.asked.end(), [](const Asked& one) { return one.measure.checks; }));
}

lab::Outcome took(double seconds, const lab::Case& c, const lab::Measure& measure) {
  lab::Outcome outcome = testing::good_outcome(c, measure);
  outcome.processor_seconds = seconds;
  return outcome;
}

// Reaches the time limit at the case of 1000 items; n33 took longest before.
std::optional<lab::Outcome> slow(const lab::Task&, const lab::Case& c, const lab::Measure& measure) {
  return c.n == 1000 ? failing(Verdict::time_limit) : took(c.n == 33 ? 0.25 : 0.125, c, measure);
}

TEST(Collect, TimeLimitShowsTheLongestCaseBefore) {
  const Collected all = run_first_task(slow);
  EXPECT_THAT(all.result.message, HasSubstr("passed before, n33 took longest: 0.25 s of processor time\n"));
}

TEST(Collect, StopsWhenRepeatingIsUseless) {
  for (const Verdict verdict :
       {Verdict::not_implemented, Verdict::time_limit, Verdict::infra, Verdict::policy}) {
    const Collected one = run_first_task([=](auto&, auto&, auto&) { return failing(verdict); });
    EXPECT_EQ(one.asked.size(), 1U) << lab::name_of(verdict);
    EXPECT_EQ(one.result.verdict, verdict);
  }
}

TEST(Collect, DoesNotMeasureWrongTasks) {
  const Collected wrong = run_first_task([](auto&, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
    return c.n == 200000 ? std::optional(failing(Verdict::wrong_answer)) : std::nullopt;
  });
  EXPECT_EQ(wrong.asked.size(), 5U);  // all correctness cases and no others
  EXPECT_TRUE(wrong.evidence.metrics.empty());
  EXPECT_TRUE(wrong.evidence.timings.empty());
  EXPECT_EQ(wrong.result.points, 0);
}

TEST(Collect, WorkOutsideKernelsIsAgainstTheRules) {
  const Collected host = run_first_task(
      report_with("\"global_load_sectors\":513", "\"global_load_sectors\":3", Stage::efficiency));
  EXPECT_EQ(host.result.verdict, Verdict::policy);
  EXPECT_EQ(host.result.points, 0);
  EXPECT_THAT(host.result.message, HasSubstr("must move at least 16384"));
}

// A program that repeats its answer of the warm-up is right and fast.
TEST(Collect, RememberedAnswersEarnNoSpeedup) {
  const Collected kept = run_first_task([](auto&, const lab::Case& c,
                                           const lab::Measure& measure) -> std::optional<lab::Outcome> {
    if (measure.timed_runs == 0) return std::nullopt;
    lab::Outcome outcome = testing::good_outcome(c, measure);
    const std::string sectors = "\"global_load_sectors\":1025";
    outcome.sim_report.replace(outcome.sim_report.find(sectors), sectors.size(), "\"global_load_sectors\":1");
    return outcome;
  });
  EXPECT_EQ(kept.result.verdict, Verdict::policy);
  EXPECT_EQ(kept.result.points, 0);
}

TEST(Collect, CrashShowsEndOfOutput) {
  const Collected crash = run_first_task([](auto&, auto&, auto&) {
    lab::Outcome outcome = failing(Verdict::crash, "crashed");
    outcome.printed = "one\ntwo\n3\n4\n5\n6\n7\nterminate called\n\x1b[2Jwhat(): bad\n\n";
    return outcome;
  });
  EXPECT_THAT(crash.result.message, HasSubstr("  it printed:\n    …\n    two\n    3\n"));
  EXPECT_THAT(crash.result.message, HasSubstr("\n    terminate called\n    \\x1b[2Jwhat(): bad\n"));
}

// Students use printf to find mistakes, and the simulator prints why a launch failed.
TEST(Collect, FailuresShowPrintedOutput) {
  for (const Verdict verdict : {Verdict::wrong_answer, Verdict::time_limit, Verdict::output_limit}) {
    const Collected wrong = run_first_task([&](auto&, auto&, auto&) {
      lab::Outcome outcome = failing(verdict, "failed");
      outcome.printed = "sum 7 of 9\n" + std::string(4000, 'x');
      return outcome;
    });
    EXPECT_THAT(wrong.result.message, HasSubstr("  it printed:\n    sum 7 of 9\n    xxx"));
    EXPECT_LT(wrong.result.message.size(), 2000U);
  }
  const Collected silent =
      run_first_task([](auto&, auto&, auto&) { return failing(Verdict::wrong_answer, "wrong"); });
  EXPECT_THAT(silent.result.message, Not(HasSubstr("it printed")));
}

TEST(Collect, KnownCauseIsNotRepeatedAsOutput) {
  for (const bool known : {true, false}) {
    const Collected wrong = run_first_task([&](auto&, auto&, auto&) {
      lab::Outcome outcome = failing(Verdict::wrong_answer, "failed\n");
      if (known) outcome.failure.explain("the kernel will never end", true);
      outcome.printed = "kernel: mine\nsimulator: the kernel will never end\n";
      return outcome;
    });
    EXPECT_THAT(wrong.result.message, HasSubstr("    kernel: mine"));
    EXPECT_EQ(wrong.result.message.find("simulator:") == std::string::npos, known);
    const auto has_it = [](const CaseRecord& one) {
      return one.printed.find("simulator:") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::none_of(wrong.evidence.cases, has_it), known);
  }
}

TEST(Collect, FindsCauseOfGpuFailureOnSimulator) {
  const Collected gpu = run_first_task(
      [](auto&, const lab::Case& c, const lab::Measure& measure) -> std::optional<lab::Outcome> {
        if (!measure.checks)
          return c.n == 33 ? std::optional(failing(Verdict::wrong_answer, "is wrong")) : std::nullopt;
        lab::Outcome outcome = failing(Verdict::wrong_answer, "is right by luck");
        outcome.failure.explain("fake.cu:9: Race.", true);
        return outcome;
      },
      lab::DeviceKind::gpu);
  EXPECT_EQ(gpu.result.verdict, Verdict::wrong_answer);
  EXPECT_THAT(gpu.result.message, HasSubstr("cause, found on the simulator: fake.cu:9: Race."));
  const auto on_sim = std::find_if(gpu.asked.begin(), gpu.asked.end(),
                                   [](const Asked& one) { return one.device == lab::DeviceKind::sim; });
  ASSERT_NE(on_sim, gpu.asked.end());
  EXPECT_EQ(on_sim->case_name, "n33");
}

TEST(Collect, TimesAloneOnGpuUnlessFailed) {
  const Collected good = run_first_task(nullptr, lab::DeviceKind::gpu);
  EXPECT_TRUE(good.evidence.complete);
  EXPECT_EQ(good.asked.back().measure.timed_runs, kTimedRunsOnGpu);
  EXPECT_FALSE(good.evidence.timings.at(0).modelled);
  const Collected bad = run_first_task(
      [](auto&, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
        return c.n == 4096 ? std::optional(failing(Verdict::crash)) : std::nullopt;
      },
      lab::DeviceKind::gpu);
  EXPECT_TRUE(std::none_of(bad.asked.begin(), bad.asked.end(),
                           [](const Asked& one) { return one.measure.timed_runs > 0; }));
}

TEST(Collect, SameSeedGivesSameInputs) {
  const auto seeds = [](std::uint64_t seed) {
    std::vector<std::uint64_t> out;
    for (const Asked& one : run_first_task(nullptr, lab::DeviceKind::sim, seed).asked)
      out.push_back(one.seed);
    return out;
  };
  EXPECT_EQ(seeds(5), seeds(5));
  EXPECT_NE(seeds(5), seeds(6));
}

}  // namespace
}  // namespace course::grader
