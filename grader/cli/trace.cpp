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

#include "cli/commands.hpp"
#include "cli/one_case.hpp"
#include "seed.hpp"
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
  const auto one = select_one(options.lab, options.task, options.solutions);
  if (!one) return fail(one.error().text);
  const auto c = options.case_name.empty() ? Result<lab::Case>(one->problem->example(*one->task, options.n))
                                           : named_case(*one, options.case_name);
  if (!c) return fail(c.error().text);
  constexpr std::uint64_t kMostItems = 4096;
  if (c->n > kMostItems)
    return fail(fmt::format("{} items are too many to show: take {} at most (--n)", c->n, kMostItems));
  const Result<std::uint64_t> seed =
      options.seed.empty() ? Result<std::uint64_t>(1) : parse_seed(options.seed);
  if (!seed) return fail(seed.error().text);
  lab::Measure measure;
  measure.trace = measure.checks = true;
  const auto outcome = run_one(*one, *c, options.solutions, *seed, measure);
  if (!outcome) return fail(outcome.error().text);

  const std::uint64_t columns =
      options.columns != 0 ? options.columns : std::min<std::uint64_t>(std::max<std::uint64_t>(c->n, 1), 32);
  const TraceView view = trace_view(*one->problem, *one->task, *c, outcome->sim_report, columns);
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  std::fputs((options.markdown ? trace_markdown(view) : trace_text(view, options.step, colour)).c_str(),
             stdout);
  if (outcome->verdict != lab::Verdict::ok && !options.markdown)
    std::fputs(fmt::format("\n{}: {}", lab::name_of(outcome->verdict), outcome->message).c_str(), stdout);
  return options.markdown && outcome->verdict != lab::Verdict::ok ? fail(outcome->message) : kRan;
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
