// SPDX-License-Identifier: MIT
// labcli smallest: finds the smallest input that a task gets wrong.
#include "cli/smallest.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "cli/commands.hpp"
#include "cli/one_case.hpp"
#include "compile/build.hpp"
#include "compile/session_runner.hpp"
#include "grading/progress.hpp"
#include "lab/derived_cases.hpp"
#include "registry.hpp"
#include "smallest/smallest.hpp"
#include "smallest/smallest_text.hpp"
#include "text.hpp"

namespace course::grader::cli {
namespace {

constexpr double kSecondsPerCase = 5;  // of processor time: these inputs are small
constexpr int kMaxTasks = 3;           // for which `grade` searches by itself

struct SmallestOptions {
  std::string lab, task, case_name;
  bool solutions = false;
};

constexpr const char* kSmallestFooter = R"(
Runs the task's cases on the simulator, GPU or not, until one fails. Then it
tries shorter inputs, simpler items, and the other operators and types. It shows
the items, the right and the actual output, and the store that went wrong.
`./lab grade` does this by itself for the first tasks that fail.

Examples:
  ./lab smallest reduction sequential
  ./lab smallest scan blelloch --case exclusive_sum_i32_n33_row33_random)";

std::unique_ptr<CaseRunner> runner_for(const Layout& layout, const std::string& program,
                                       const std::string& lab, bool solutions) {
  const RunContext context{lab, kSmallestSeed, solutions, lab::DeviceKind::sim, false};
  return session_runner(layout, program, lab::DeviceKind::sim, context, kSecondsPerCase);
}

// The shortest case, of those that the search takes, that fails in a way that a smaller one may show.
std::optional<lab::Case> first_failure(const OneTask& one, CaseRunner& runner, Progress& progress) {
  std::vector<lab::Case> cases = one.problem->cases(*one.task);
  std::ranges::stable_sort(cases, {}, &lab::Case::n);
  for (const lab::Case& c : cases) {
    if (c.n > SmallestLimits{}.items) break;
    progress.step(c.name);
    lab::Measure measure;
    measure.checks = measure.only_verdict = true;
    if (can_be_smaller(runner.run(*one.problem, *one.task, c, kSmallestSeed, measure).verdict)) return c;
  }
  return std::nullopt;
}

int run_smallest(const SmallestOptions& options) {
  const auto one = select_one(options.lab, options.task, options.solutions);
  if (!one) return fail(one.error().text);
  const auto layout = find_layout();
  if (!layout) return fail(layout.error().text);
  std::optional<lab::Case> like;
  if (!options.case_name.empty()) {
    const auto c = named_case(*one, options.case_name);
    if (!c) return fail(c.error().text);
    like = *c;
  }
  const auto program = build_one(*one, options.solutions);
  if (!program) return fail(program.error().text);
  const auto runner =
      runner_for(*layout, *program, std::string(one->problem->manifest().id), options.solutions);
  std::string text;
  {
    Progress progress;
    progress.begin("Searching", 0);
    if (!like) like = first_failure(*one, *runner, progress);
    if (like) {
      progress.step("shorter inputs than " + like->name);
      std::vector<lab::FailedCase> failed;
      if (like->n <= SmallestLimits{}.items) {
        const lab::Outcome outcome = runner->run(*one->problem, *one->task, *like, kSmallestSeed, {});
        if (outcome.failure.mismatch) failed.push_back({like->name, outcome.failure.mismatch->causes});
      }
      if (const auto found = find_smallest(*one->problem, *one->task, *like, *runner, {}, failed))
        text = smallest_text(*one->problem, *one->task, *found, options.solutions ? "--solutions" : "");
    }
  }
  if (text.empty()) {
    text =
        like && !options.case_name.empty()
            ? fmt::format("Neither {} nor a shorter input fails with seed {}.\n", like->name, kSmallestSeed)
            : fmt::format("No case of {} / {} with up to {} items fails with seed {}.\n", options.lab,
                          one->task->id, SmallestLimits{}.items, kSmallestSeed);
  }
  std::fputs(text.c_str(), stdout);
  return kRan;
}

}  // namespace

std::string smallest_failures(const Layout& layout, const RunResult& result, bool solutions) {
  std::string out;
  int n_searched = 0;
  for (const LabResult& lab : result.labs) {
    const auto problems = lab::all_problems();
    const auto problem = std::ranges::find_if(
        problems, [&](const lab::Problem* candidate) { return candidate->manifest().id == lab.id; });
    if (problem == problems.end()) continue;
    const auto program = runner_of(layout, lab.id, solutions);
    if (!program) continue;
    std::unique_ptr<CaseRunner> runner;
    for (const TaskResult& result_of_task : lab.tasks) {
      const lab::Task* task = lab::find_task((*problem)->manifest(), result_of_task.id);
      const auto failed = std::ranges::find_if(
          result_of_task.cases, [](const CaseRecord& record) { return can_be_smaller(record.verdict); });
      if (task == nullptr || failed == result_of_task.cases.end()) continue;
      // Where runs do not end, the search takes longer than a student waits for a grade.
      if (failed->verdict == lab::Verdict::time_limit || n_searched++ >= kMaxTasks) {
        out += fmt::format("\nThe smallest input that {0} / {1} gets wrong:\n  ./lab smallest {0} {1}\n",
                           lab.id, task->id);
        continue;
      }
      const auto like = lab::find_case(**problem, *task, failed->name);
      if (!like) continue;
      std::vector<lab::FailedCase> all_failed;
      for (const CaseRecord& record : result_of_task.cases)
        if (record.failure && record.failure->mismatch)
          all_failed.push_back({record.name, record.failure->mismatch->causes});
      if (!runner) runner = runner_for(layout, *program, lab.id, solutions);
      if (const auto found = find_smallest(**problem, *task, *like, *runner, {}, all_failed))
        out += "\n" + smallest_text(**problem, *task, *found, solutions ? "--solutions" : "");
    }
  }
  return out;
}

void add_smallest(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("smallest", "The smallest input that a task gets wrong");
  auto options = std::make_shared<SmallestOptions>();
  command->add_option("LAB", options->lab, "The lab")->required();
  command->add_option("TASK", options->task,
                      // not required here: select_one reports a missing task
                      "The task, or with --solutions any rung");
  command->add_option("--task", options->task, "The same, as `grade` takes it");
  command->add_option("--case", options->case_name, "A case that fails, by its name in a report");
  command->add_flag("--solutions", options->solutions, "The reference solution");
  command->footer(kSmallestFooter);
  command->callback([&run, options] { run = [options] { return run_smallest(*options); }; });
}

}  // namespace course::grader::cli
