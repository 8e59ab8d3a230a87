// SPDX-License-Identifier: MIT
// labcli trace: a kernel's arrays after every step, from a run on the simulator.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "build.hpp"
#include "cli/commands.hpp"
#include "layout.hpp"
#include "registry.hpp"
#include "seed.hpp"
#include "select.hpp"
#include "session_runner.hpp"
#include "trace/tables.hpp"

namespace course::grader::cli {
namespace {

struct Options {
  std::string lab, task, case_name, seed;
  std::uint64_t n = 8, columns = 0;
  bool solutions = false, step = false, markdown = false;
};

constexpr const char* kFooter = R"(
Runs the kernel on the simulator, GPU or not, and shows its arrays after every
barrier, exchange between lanes, and launch. A fault ends the trace and is named.

Examples:
  ./lab trace reduction neighboured
  ./lab trace reduction sequential --n 16 --step
  ./lab trace reduction shuffle --solutions)";

int run_trace(const Options& options) {
  const auto labs = select_labs(lab::all_problems(), {options.lab});
  if (!labs) return fail(labs.error().text);
  if (const auto known = check_task(*labs, options.task, options.solutions); !known)
    return fail(known.error().text);
  const lab::Problem& problem = *labs->front();
  const lab::Task& task = *lab::find_task(problem.manifest(), options.task);
  lab::Case c = problem.example(task, options.n);
  if (!options.case_name.empty()) {
    if (const auto known = check_case(*labs, &options.task, options.case_name); !known)
      return fail(known.error().text);
    for (lab::Case& candidate : problem.cases(task))
      if (candidate.name == options.case_name) c = std::move(candidate);
  }
  constexpr std::uint64_t kMostItems = 4096;
  if (c.n > kMostItems)
    return fail(fmt::format("{} items are too many to show: take {} at most (--n)", c.n, kMostItems));
  const Result<Layout> layout = find_layout();
  if (!layout) return fail(layout.error().text);
  const Result<std::uint64_t> seed =
      options.seed.empty() ? Result<std::uint64_t>(1) : parse_seed(options.seed);
  if (!seed) return fail(seed.error().text);

  BuildOptions how;
  how.solutions = options.solutions;
  how.machine = &isolation_here(*layout);
  const auto built = build_runners(*layout, std::vector{options.lab}, how);
  if (const BuildOutcome& outcome = built.at(options.lab); outcome.verdict != lab::Verdict::ok)
    return fail(outcome.message);
  const RunContext context{options.lab, *seed, options.solutions, lab::DeviceKind::sim, false};
  const auto runner =
      session_runner(*layout, layout->runner(options.lab, options.solutions), lab::DeviceKind::sim, context);
  lab::Measure measure;
  measure.trace = measure.checks = true;
  const lab::Outcome outcome = runner->run(problem, task, c, *seed, measure);
  if (outcome.verdict == lab::Verdict::not_implemented || outcome.verdict == lab::Verdict::infra ||
      outcome.sim_report.empty())
    return fail(outcome.message);

  const std::uint64_t columns =
      options.columns != 0 ? options.columns : std::min<std::uint64_t>(std::max<std::uint64_t>(c.n, 1), 32);
  const TraceView view = trace_view(problem, task, c, outcome.sim_report, columns);
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  std::fputs((options.markdown ? trace_markdown(view) : trace_text(view, options.step, colour)).c_str(),
             stdout);
  if (outcome.verdict != lab::Verdict::ok && !options.markdown)
    std::fputs(fmt::format("\n{}: {}", lab::name_of(outcome.verdict), outcome.message).c_str(), stdout);
  return options.markdown && outcome.verdict != lab::Verdict::ok ? fail(outcome.message) : kRan;
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("trace", "Watch a kernel's arrays, step by step");
  auto options = std::make_shared<Options>();
  command->add_option("LAB", options->lab, "The lab")->required();
  command->add_option("TASK", options->task, "The task, or with --solutions any rung")->required();
  command->add_option("--n", options->n, "Items of the example (8)");
  command->add_option("--case", options->case_name, "Another case, by its name in a report");
  command->add_option("--seed", options->seed, "The case's random items (1)");
  command->add_option("--columns", options->columns, "Elements of an array to show");
  command->add_flag("--solutions", options->solutions, "The reference solution");
  command->add_flag("--step", options->step, "Every store: by whom, at which line, from what");
  command->add_flag("--markdown", options->markdown, "As Markdown tables");
  command->footer(kFooter);
  command->callback([&run, options] { run = [options] { return run_trace(*options); }; });
}

}  // namespace course::grader::cli
