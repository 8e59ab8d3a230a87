// SPDX-License-Identifier: MIT
// labcli model: compares the simulator's modelled times with measured ones for every rung of the solutions,
// or its counts for each kernel with a profiler's.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/kernel_table.hpp"
#include "bench/model_table.hpp"
#include "bench/published.hpp"
#include "bench/results.hpp"
#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "compile/session_runner.hpp"
#include "registry.hpp"

namespace course::grader::cli {
namespace {

struct ModelOptions {
  std::string measured;
  std::vector<std::string> labs;
  std::uint64_t most_items = 1 << 20;
  bool kernels = false, markdown = false, strict = false;
};

constexpr const char* kModelFooter = R"(
Runs each rung once on the simulator, at the sizes for which there are
measurements (up to --most).

Examples:
  ./lab model
  ./lab model --kernels                  beside what a profiler counted
  ./lab model scan --measured my_gpu.json --most 16777216
                                         beside times of ./lab bench --json)";

// The limiter of the longest launch.
std::string bound_of(const nlohmann::json& report) {
  std::string bound;
  double longest = -1;
  for (const auto& launch : report.at("launches")) {
    if (launch.at("modelled_us").get<double>() <= longest) continue;
    longest = launch.at("modelled_us").get<double>();
    bound = launch.at("bound_by").get<std::string>();
  }
  return bound;
}

using Kernels = std::map<KernelKey, CountedKernel>;

Result<ModelPoint> modelled(CaseRunner& runner, const lab::Problem& problem, const lab::Task& task,
                            const std::string& work, std::uint64_t n, double measured_us, Kernels& kernels) {
  for (const lab::Case& c : problem.bench_cases(task, n)) {
    if (work_of(c.name) != work) continue;
    lab::Measure measure;
    measure.counters = true;
    const lab::Outcome outcome = runner.run(problem, task, c, 1, measure);
    if (outcome.verdict != lab::Verdict::ok)
      return Error{fmt::format("{} on {}: {}", task.id, c.name, outcome.message())};
    const auto report = nlohmann::json::parse(outcome.sim_report);
    collect_kernels(kernels, std::string(problem.manifest().id), outcome.sim_report);
    return ModelPoint{std::string(problem.manifest().id),
                      work,
                      std::string(task.id),
                      c.n,
                      measured_us,
                      report.at("modelled_us").get<double>(),
                      bound_of(report)};
  }
  return Error{fmt::format("{} has no case like the measured \"{}\" any more: measure again", task.id, work)};
}

Result<std::string> text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{fmt::format("cannot read {}", file)};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int run_model(const ModelOptions& options) {
  const auto layout = find_layout();
  if (!layout) return fail(layout.error().text);
  std::optional<ProfilerRun> profiled;
  if (options.kernels) {
    const std::string file = layout->root + "/common/simulator/sim/calibration/data/profiler_h200.json";
    const auto text = text_of(file);
    if (!text) return fail(text.error().text);
    auto run = read_profiler_run(*text);
    if (!run) return fail(fmt::format("{}: {}", file, run.error().text));
    profiled = std::move(*run);
  }
  const Result<std::string> file =
      options.measured.empty() ? published_results(*layout) : Result<std::string>(options.measured);
  if (!file) return fail(file.error().text);
  const auto text = text_of(*file);
  if (!text) return fail(text.error().text);
  const auto results = read_bench(*text);
  if (!results) return fail(fmt::format("{}: {}", *file, results.error().text));
  if (results->modelled) return fail(fmt::format("{} holds modelled times itself", *file));

  std::vector<std::string> labs;
  for (const BenchLab& lab : results->labs)
    if (options.labs.empty() || std::ranges::find(options.labs, lab.id) != options.labs.end())
      labs.push_back(lab.id);
  BuildOptions how;
  how.solutions = true;
  how.machine = &isolation_here(*layout);
  const auto built = build_runners(*layout, labs, how);
  std::vector<ModelPoint> points;
  Kernels kernels;
  for (const BenchLab& lab : results->labs) {
    if (std::ranges::find(labs, lab.id) == labs.end()) continue;
    if (const BuildOutcome& outcome = built.at(lab.id); outcome.verdict != lab::Verdict::ok)
      return fail(outcome.message);
    const auto all = lab::all_problems();
    const auto problem =
        std::ranges::find_if(all, [&](const lab::Problem* p) { return p->manifest().id == lab.id; });
    if (problem == all.end()) continue;  // the lab of this measurement no longer exists
    constexpr double kSeconds = 120;
    const RunContext context{lab.id, 1, true, lab::DeviceKind::sim, false};
    const auto runner =
        session_runner(*layout, layout->solution_runner(lab.id), lab::DeviceKind::sim, context, kSeconds);
    for (const BenchTable& table : lab.tables) {
      for (const BenchRow& row : table.rows) {
        const lab::Task* task =
            row.kind == "rung" ? lab::find_task((*problem)->manifest(), row.name) : nullptr;
        if (task == nullptr) continue;
        for (const auto& [n, cell] : row.cells) {
          if (profiled ? n != profiled->items : n > options.most_items) continue;
          if (!cell.launched_us) continue;  // a modelled time contains the launch
          auto point = modelled(*runner, **problem, *task, table.work, n, *cell.launched_us, kernels);
          if (!point) return fail(point.error().text);
          points.push_back(std::move(*point));
        }
      }
    }
  }
  if (profiled) {
    std::fputs(kernels_markdown(*profiled, kernels).c_str(), stdout);
    return kRan;
  }
  std::fputs(model_markdown(points, fmt::format("{}, {}", results->device, results->date)).c_str(), stdout);
  constexpr double kMaxError = 0.25, kMinRight = 0.95;
  const ModelQuality q = quality_of(points);
  if (options.strict && (q.median_error > kMaxError || q.n_right < kMinRight * q.n_pairs))
    return fail(fmt::format(
        "the model is off by {:.0f} % in the median ({:.0f} % are allowed), {} of {} pairs are in the right "
        "order ({:.0f} % are asked)",
        100 * q.median_error, 100 * kMaxError, q.n_right, q.n_pairs, 100 * kMinRight));
  return kRan;
}

}  // namespace

void add_model(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("model", "Modelled times beside measured ones");
  auto options = std::make_shared<ModelOptions>();
  command->add_option("LAB", options->labs, "Labs; all without");
  command->add_option("--measured", options->measured,
                      "Measured times, of ./lab bench --json (those of the handouts)");
  command->add_option("--most", options->most_items, "Most items (1048576)");
  command->add_flag("--kernels", options->kernels,
                    "Each kernel beside what a profiler counted on a GPU, in place of times");
  command->add_flag("--strict", options->strict, "Fails when the model is worse than it has to be");
  command->add_flag("--markdown", options->markdown, "As Markdown (the default)");
  command->footer(kModelFooter);
  command->callback([&run, options] { run = [options] { return run_model(*options); }; });
}

}  // namespace course::grader::cli
