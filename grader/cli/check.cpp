// SPDX-License-Identifier: MIT
// labcli check: runs small cases with all checkers and prints the findings by source line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "grading/check.hpp"
#include "grading/planning/select.hpp"
#include "grading/run_context.hpp"
#include "grading/session_runner.hpp"
#include "layout.hpp"
#include "progress.hpp"
#include "registry.hpp"

namespace course::grader::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> labs;
  bool solutions = false;
  std::string task;
  std::optional<std::uint64_t> seed;  // "12345" or "0x1b2c"
};

constexpr const char* kCheckFooter = R"(
Runs on the simulator, GPU or not: it sees shared and global races, reads of
memory that was never written, stray accesses, barriers that can hang.

Examples:
  ./lab check reduction
  ./lab check reduction sequential
  ./lab check --solutions)";

int run_check(CheckOptions options) {
  take_task(lab::all_problems(), options.labs, options.task);
  const auto labs = need(select_labs(lab::all_problems(), options.labs));
  if (!options.task.empty()) need(check_task(labs, options.task, options.solutions));
  const Layout layout = need(find_layout());
  const std::uint64_t seed = options.seed ? *options.seed : need(fresh_seed());

  std::vector<std::string> ids;
  for (const lab::Problem* problem : labs) ids.emplace_back(problem->manifest().id);
  std::vector<std::string> texts;
  bool failed = false;
  {
    Progress progress;
    progress.begin("Building", 0);
    BuildOptions how;
    how.solutions = options.solutions;
    how.only_task = options.task;
    how.machine = &isolation_here(layout);
    const auto built = build_runners(layout, ids, how);
    progress.begin("Checking", 0);
    for (const lab::Problem* problem : labs) {
      const std::string id(problem->manifest().id);
      if (const BuildOutcome& outcome = built.at(id); outcome.verdict != lab::Verdict::ok) {
        texts.push_back(fmt::format("{}: {}\n{}\n", id, lab::name_of(outcome.verdict), outcome.message));
        failed = failed || outcome.verdict == lab::Verdict::infra;
        continue;
      }
      const RunContext context{id, seed, options.solutions, lab::DeviceKind::sim, false};
      const std::string program = need(runner_of(layout, id, options.solutions));
      const auto runner = session_runner(layout, program, lab::DeviceKind::sim, context);
      const std::optional<std::string> task =
          options.task.empty() ? std::nullopt : std::optional<std::string>(options.task);
      const CheckReport report =
          check_lab(*problem, *runner, context, task, [&](const std::string& what) { progress.step(what); });
      for (const CheckedTask& checked : report.tasks)
        failed = failed || checked.verdict == lab::Verdict::infra;
      texts.push_back(to_text(report, source_lines_below(layout.root)));
    }
  }
  std::fputs(fmt::format("{}", fmt::join(texts, "\n")).c_str(), stdout);
  return failed ? kFailed : kRan;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("check", "Look for races and stray accesses, by source line");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("LAB", options->labs,
                      "Labs to check, or one lab and one of its tasks; all when none is named");
  command->add_flag("--solutions", options->solutions, "Check the reference solutions");
  command->add_option("--task", options->task, "Only this task");
  command->add_option("--seed", options->seed, "Repeat a run; fresh when not given");
  command->footer(kCheckFooter);
  command->callback([&run, options] { run = [options] { return run_check(*options); }; });
}

}  // namespace course::grader::cli
