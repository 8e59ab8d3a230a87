// SPDX-License-Identifier: MIT
#include "cli/one_case.hpp"

#include <vector>

#include "compile/build.hpp"
#include "compile/session_runner.hpp"
#include "grading/planning/select.hpp"
#include "lab/derived_cases.hpp"
#include "layout.hpp"
#include "registry.hpp"
#include "text.hpp"

namespace course::grader::cli {

Result<OneTask> select_one(const std::string& lab, const std::string& task, bool solutions) {
  const auto labs = select_labs(lab::all_problems(), std::vector{lab});
  if (!labs) return labs.error();
  if (task.empty()) {
    std::vector<std::string> tasks;
    for (const lab::Task& one : labs->front()->manifest().tasks) tasks.emplace_back(one.id);
    return Error{"Name a task of " + lab + did_you_mean("", tasks)};
  }
  if (const auto known = check_task(*labs, task, solutions); !known) return known.error();
  const lab::Problem& problem = *labs->front();
  return OneTask{&problem, lab::find_task(problem.manifest(), task)};
}

Result<lab::Case> named_case(const OneTask& one, const std::string& name) {
  const lab::Problem* const labs[] = {one.problem};
  const std::string task(one.task->id);
  if (auto c = lab::find_case(*one.problem, *one.task, name)) return std::move(*c);
  const auto known = check_case(labs, &task, name);
  return known ? Error{"there is no case \"" + name + "\""} : known.error();
}

Result<std::string> build_one(const OneTask& one, bool solutions) {
  const Result<Layout> layout = find_layout();
  if (!layout) return layout.error();
  const std::string lab(one.problem->manifest().id);
  BuildOptions how;
  how.solutions = solutions;
  how.only_task = one.task->id;
  how.machine = &isolation_here(*layout);
  const auto built = build_runners(*layout, std::vector{lab}, how);
  if (const BuildOutcome& outcome = built.at(lab); outcome.verdict != lab::Verdict::ok)
    return Error{outcome.message};
  return runner_of(*layout, lab, solutions);
}

Result<lab::Outcome> run_one(const OneTask& one, const lab::Case& c, bool solutions, std::uint64_t seed,
                             const lab::Measure& measure, const std::string& other_runner) {
  const Result<Layout> layout = find_layout();
  if (!layout) return layout.error();
  const std::string lab(one.problem->manifest().id);
  std::string program = other_runner;
  if (program.empty()) {
    const auto made = build_one(one, solutions);
    if (!made) return made.error();
    program = *made;
  }
  const RunContext context{lab, seed, solutions, lab::DeviceKind::sim, false};
  constexpr double kSeconds = 120;  // tracing and profiling are slow
  const auto runner = session_runner(*layout, program, lab::DeviceKind::sim, context, kSeconds);
  lab::Outcome outcome = runner->run(*one.problem, *one.task, c, seed, measure);
  const bool nothing =
      outcome.verdict == lab::Verdict::not_implemented || outcome.verdict == lab::Verdict::infra;
  if (nothing || outcome.sim_report.empty()) return Error{outcome.message()};
  return outcome;
}

}  // namespace course::grader::cli
