// SPDX-License-Identifier: MIT
#include "cli/one_case.hpp"

#include <CLI/CLI.hpp>

#include <vector>

#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "grading/planning/select.hpp"
#include "grading/session_runner.hpp"
#include "lab/derived_cases.hpp"
#include "layout.hpp"
#include "registry.hpp"
#include "text.hpp"

namespace course::grader::cli {

void add_options(CLI::App& command, OneCaseOptions& options, const char* about_case) {
  command.add_option("LAB", options.lab, "The lab")->required();
  command.add_option("TASK", options.task,
                     // not required here: select_one reports a missing task
                     "The task, or with --solutions any rung");
  command.add_option("--task", options.task, "The same, as `grade` takes it");
  command.add_option("--case", options.case_name, about_case);
  command.add_flag("--solutions", options.solutions, "The reference solution");
}

OneTask select_one(const OneCaseOptions& options) {
  const std::string &lab = options.lab, &task = options.task;
  const auto labs = need(select_labs(lab::all_problems(), std::vector{lab}));
  if (task.empty()) {
    std::vector<std::string> tasks;
    for (const lab::Task& one : labs.front()->manifest().tasks) tasks.emplace_back(one.id);
    throw std::runtime_error("Name a task of " + lab + did_you_mean("", tasks));
  }
  need(check_task(labs, task, options.solutions));
  const lab::Problem& problem = *labs.front();
  return {&problem, lab::find_task(problem.manifest(), task)};
}

lab::Case named_case(const OneTask& one, const std::string& name) {
  const lab::Problem* const labs[] = {one.problem};
  const std::string task(one.task->id);
  if (auto c = lab::find_case(*one.problem, *one.task, name)) return std::move(*c);
  need(check_case(labs, &task, name));
  throw std::runtime_error("there is no case \"" + name + "\"");
}

std::string build_one(const OneTask& one, bool solutions) {
  const Layout layout = need(find_layout());
  const std::string lab(one.problem->manifest().id);
  BuildOptions how;
  how.solutions = solutions;
  how.only_task = one.task->id;
  how.machine = &isolation_here(layout);
  const auto built = build_runners(layout, std::vector{lab}, how);
  if (const BuildOutcome& outcome = built.at(lab); outcome.verdict != lab::Verdict::ok)
    throw std::runtime_error(outcome.message);
  return need(runner_of(layout, lab, solutions));
}

lab::Outcome run_one(const OneTask& one, const lab::Case& c, bool solutions, std::uint64_t seed,
                     const lab::Measure& measure, const std::string& other_runner) {
  const std::string lab(one.problem->manifest().id);
  const std::string program = other_runner.empty() ? build_one(one, solutions) : other_runner;
  const RunContext context{lab, seed, solutions, lab::DeviceKind::sim, false};
  constexpr double kSeconds = 120;  // tracing and profiling are slow
  const auto runner = session_runner(need(find_layout()), program, lab::DeviceKind::sim, context, kSeconds);
  lab::Outcome outcome = runner->run(*one.problem, *one.task, c, seed, measure);
  const bool nothing =
      outcome.verdict == lab::Verdict::not_implemented || outcome.verdict == lab::Verdict::infra;
  if (nothing || outcome.sim_report.empty()) throw std::runtime_error(outcome.message());
  return outcome;
}

}  // namespace course::grader::cli
