// SPDX-License-Identifier: MIT
// labcli trace: prints a kernel's arrays after every step, from a run on the simulator.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/one_case.hpp"
#include "grading/printed.hpp"
#include "layout.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"
#include "source_lines.hpp"
#include "text.hpp"
#include "trace/html.hpp"
#include "trace/picture.hpp"
#include "trace/print.hpp"

namespace course::grader::cli {
namespace {

struct TraceOptions : OneCaseOptions {
  std::string items, svg, html, title, runner;
  std::uint64_t n = 8, columns = 0;
  std::vector<std::string> arrays;
  std::string steps;
  bool markdown = false;
};

constexpr std::uint64_t kMaxItems = 16384;

constexpr const char* kTraceFooter = R"(
Runs the kernel on the simulator, GPU or not, and shows its arrays after every
barrier, exchange between lanes, and launch. A fault is named, and ends it.

Examples:
  ./lab trace reduction neighboured
  ./lab trace reduction sequential --n 16
  ./lab trace scan blelloch --html trace.html         a page with a slider
  ./lab trace scan blelloch --steps 5-9 --svg down.svg
  ./lab trace scan blelloch --items ascending         of 0 1 2 3 4 5 6 7
  ./lab trace radix_sort split --items 4,7,2,6        of your own items
  ./lab trace reduction shuffle --solutions)";

// Parses --steps: "3-7", "3-", "-7" or "3".
TraceChoice parse_choice(const TraceOptions& options) {
  TraceChoice choice;
  choice.arrays = options.arrays;
  if (options.steps.empty()) return choice;
  const std::runtime_error wrong(fmt::format(
      "\"{}\" is not a range of steps: write --steps 3-7, or 3- for all from the third on", options.steps));
  static const std::regex kRange(R"((\d{1,6})?(-(\d{1,6})?)?)");
  std::smatch given;
  if (!std::regex_match(options.steps, given, kRange)) throw wrong;
  choice.first = given[1].matched ? std::stoi(given[1]) : 1;
  if (!given[2].matched) choice.last = choice.first;
  if (given[3].matched) choice.last = std::stoi(given[3]);
  if (choice.first < 1 || choice.first > choice.last) throw wrong;
  return choice;
}

// The task's example, with the items of --items if given.
lab::Case example_of(const OneTask& one, const TraceOptions& options) {
  const bool is_list = options.items.find_first_not_of("+-.,0123456789") == std::string::npos;
  const auto n_listed = static_cast<std::uint64_t>(1 + std::ranges::count(options.items, ','));
  lab::Case c = one.problem->example(*one.task, options.items.empty() || !is_list ? options.n : n_listed);
  if (options.items.empty() || c.n > kMaxItems) return c;
  if (is_list) {
    c.words.items = options.items;
    if (const auto count = lab::inputs_of(*one.problem, *one.task, c, 1).at(0).spec.count; count != n_listed)
      throw std::runtime_error(
          fmt::format("The example has {} items, and --items lists {}.", count, n_listed));
    return lab::with_name(c);
  }
  const std::vector<std::string> known(lab::kPatternNames.begin(), lab::kPatternNames.end());
  const auto found = std::ranges::find(known, options.items);
  if (found == known.end())
    throw std::runtime_error(
        fmt::format("There are no items \"{}\"{}", options.items, did_you_mean(options.items, known)));
  const std::vector<lab::HostBuffer> usual = lab::inputs_of(*one.problem, *one.task, c, 1);
  const lab::Pattern before = c.pattern;
  c.pattern = static_cast<lab::Pattern>(found - known.begin());
  const std::vector<lab::HostBuffer> now = lab::inputs_of(*one.problem, *one.task, c, 1);
  const auto same = [](const lab::HostBuffer& a, const lab::HostBuffer& b) { return a.bytes == b.bytes; };
  if (c.pattern != before && c.n > 1 && std::ranges::equal(usual, now, same))
    throw std::runtime_error(
        fmt::format("The example of {} has items of its own: take another case (--case).", options.lab));
  c.words.items = options.items;
  return lab::with_name(c);
}

// Whether a step shows elements that lie behind the others, but before `end`.
bool begins_before(const TraceView& view, std::uint64_t end) {
  for (const TraceTable& table : view.tables)
    for (const TraceStep& step : table.steps)
      if (step.first > 0 && step.first < end) return true;
  return false;
}

int run_trace(const TraceOptions& options) {
  const OneTask one = select_one(options);
  if (!options.case_name.empty() && !options.items.empty())
    return fail("--items is for the example; a case (--case) has its own");
  const lab::Case c =
      options.case_name.empty() ? example_of(one, options) : named_case(one, options.case_name);
  if (c.n > kMaxItems)
    return fail(fmt::format("{} items are too many to show: take {} at most (--n)", c.n, kMaxItems));
  const TraceChoice choice = parse_choice(options);
  for (const std::string& path : {options.svg, options.html}) need(check_writable(path));
  lab::Measure measure;
  measure.trace = measure.checks = measure.counters = true;
  const auto outcome = run_one(one, c, options.solutions, options.seed, measure, options.runner);

  std::uint64_t columns =
      options.columns != 0 ? options.columns : std::min<std::uint64_t>(std::max<std::uint64_t>(c.n, 1), 32);
  TraceView view = trace_view(*one.problem, *one.task, c, outcome.sim_report, columns);
  // Trees work on a power of two of elements, with their root at the end: it belongs into the same picture.
  if (const std::uint64_t whole = std::bit_ceil(columns); options.columns == 0 && begins_before(view, whole))
    view = trace_view(*one.problem, *one.task, c, outcome.sim_report, columns = whole);
  choose(view, choice);
  // Paths that open from the checkout's folder.
  const auto with_paths = [&](const std::string& text) {
    return with_folder(text, (options.solutions ? "solutions/" : "labs/") + view.lab, view.lab + ".cu");
  };
  view.fault = with_paths(view.fault);
  for (std::string& finding : view.findings) finding = with_paths(finding);
  if (view.tables.empty() && !(options.arrays.empty() && options.steps.empty()))
    return fail("no step of the trace is left: --arrays and --steps ask for what is not there");

  const SourceLine source_line = source_lines_below(need(find_layout()).root);
  const std::string what = fmt::format("{} / {}: {}", view.lab, view.task, view.case_name);
  const std::string which = options.case_name.empty() ? fmt::format("--n {}", options.n)
                                                      : fmt::format("--case {}", options.case_name);
  const std::string made_by = fmt::format("./lab trace {} {} {}{}{}", view.lab, view.task, which,
                                          options.items.empty() ? "" : " --items " + options.items,
                                          options.solutions ? " --solutions" : "");
  const std::pair<const std::string&, std::function<std::string()>> files[] = {
      {options.svg, [&] { return trace_svg(view, options.title.empty() ? what : options.title); }},
      {options.html, [&] { return trace_html(view, source_line, made_by); }}};
  for (const auto& [path, made] : files)
    if (!path.empty()) need(write_report(path, made()));

  const bool colour = style_for_stdout().colour;
  if (options.markdown)
    std::fputs(trace_markdown(view).c_str(), stdout);
  else if (options.svg.empty() && options.html.empty())
    std::fputs(trace_text(view, colour).c_str(), stdout);
  constexpr std::size_t kMaxLines = 200;
  if (const std::string printed = printed_lines(outcome.printed, kMaxLines, 2);
      !printed.empty() && !options.markdown)
    std::fputs(("\nIt printed:\n" + printed).c_str(), stdout);
  if (outcome.verdict != lab::Verdict::ok && !options.markdown)
    std::fputs(
        ("\n" + wrap_message(
                    fmt::format("{}: {}", lab::name_of(outcome.verdict), with_paths(outcome.message())), 80))
            .c_str(),
        stdout);
  return options.markdown && outcome.verdict != lab::Verdict::ok ? fail(outcome.message()) : kRan;
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("trace", "Watch a kernel's arrays, step by step");
  auto options = std::make_shared<TraceOptions>();
  add_options(*command, *options, "Another case, by its name in a report");
  command->add_option("--n", options->n, "Items of the example (8)");
  command->add_option("--items", options->items,
                      "The example's items: a list (4,7,2), or example (3 1 7 0 …), ascending (0 1 2 …), "
                      "descending, all_equal, random …");
  command->add_option("--seed", options->seed, "The case's random items (1)");
  command->add_option("--columns", options->columns, "Elements of an array to show");
  command->add_option("--svg", options->svg, "Write a picture to a file");
  command->add_option("--title", options->title, "Text alternative of the picture, for screen readers");
  command->add_option(
      "--html", options->html,
      "Write a page with a slider over the steps: who stored what, at which line, made of what");
  command->add_option("--runner", options->runner, "For tests: a runner program to watch instead")->group("");
  command->add_option("--arrays", options->arrays, "Only these arrays, separated by commas")->delimiter(',');
  command->add_option("--steps", options->steps, "Only these steps: 3-7");
  command->add_flag("--markdown", options->markdown, "As Markdown tables");
  command->footer(kTraceFooter);
  command->callback([&run, options] { run = [options] { return run_trace(*options); }; });
}

}  // namespace course::grader::cli
