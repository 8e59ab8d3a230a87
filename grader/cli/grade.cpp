// SPDX-License-Identifier: MIT
// labcli grade: builds the labs, grades them, prints the score table and writes the requested reports.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/report_files.hpp"
#include "cli/smallest.hpp"
#include "compile/build.hpp"
#include "compile/session_runner.hpp"
#include "device.hpp"
#include "grading/explain.hpp"
#include "grading/grade.hpp"
#include "grading/planning/seed.hpp"
#include "grading/planning/select.hpp"
#include "grading/progress.hpp"
#include "layout.hpp"
#include "registry.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"

namespace course::grader::cli {
namespace {

struct GradeArguments {
  std::vector<std::string> labs;
  bool solutions = false;
  std::string device = "auto";
  std::string task, only_case, seed, first;
  ReportFiles reports;
  unsigned jobs = 0, gpus = 0;  // jobs: 0 for the default of the device
  bool graded = false, times = false, quick = false;
  std::string isolation = "full";
};

constexpr const char* kGradeFooter = R"(
Points: a task's correctness points are all or nothing, and nothing else counts
until every case is right. Then come efficiency (exact counters of the
simulator) and speedup over the CPU (measured on a GPU, modelled on the
simulator, and labelled so).

Examples:
  ./lab grade reduction
  ./lab grade reduction shuffle          one task, while you work on it
  ./lab grade reduction --task sequential --case CASE --seed SEED
                                         as a message says: one case, once more
  ./lab grade multi_gpu --gpus 2         cases for 1 and 2 devices on GPUs
  ./lab grade --solutions --device sim --json out.json)";

Result<GradeOptions> grade_options(const GradeArguments& options, Problems labs, lab::DeviceKind device) {
  GradeOptions out;
  out.device = device;
  out.gpus = options.gpus;
  out.solutions = options.solutions;
  out.check_every_size = options.graded;
  out.quick = options.quick;
  out.jobs = options.jobs;
  out.baselines_kept_in = kept_baselines_folder();
  if (!options.task.empty()) {
    if (const auto known = check_task(labs, options.task); !known) return known.error();
    out.only_task = options.task;
  }
  if (!options.only_case.empty()) {
    const std::string* task = options.task.empty() ? nullptr : &options.task;
    if (const auto known = check_case(labs, task, options.only_case); !known) return known.error();
    out.only_case = options.only_case;
  }
  const Result<std::uint64_t> seed = options.seed.empty() ? fresh_seed() : parse_seed(options.seed);
  if (!seed) return seed.error();
  out.seed = *seed;
  return out;
}

// The times of the compilation stages as text.
std::string to_text(const std::map<std::string, BuildOutcome>& outcomes) {
  std::string out;
  for (const auto& [lab, outcome] : outcomes) {
    for (const StageTime& time : outcome.times)
      out += fmt::format("  {:6.2f} s  {}: {}\n", time.seconds, lab, time.stage);
  }
  return out;
}

std::vector<LabToGrade> build(const Layout& layout, Problems labs, const GradeArguments& options,
                              Progress& progress, std::string& times) {
  std::vector<std::string> ids;
  for (const lab::Problem* problem : labs) ids.emplace_back(problem->manifest().id);
  progress.begin("Building", 0);
  progress.step(fmt::format("{}", fmt::join(ids, ", ")));
  BuildOptions how;
  how.solutions = options.solutions;
  how.jobs = options.jobs;
  how.only_task = options.task;
  if (options.quick) how.only_jobs = labs.front()->manifest().first_jobs;
  how.machine = &isolation_here(layout);
  const auto outcomes = build_runners(layout, ids, how);
  times = to_text(outcomes);
  std::vector<LabToGrade> out;
  for (std::size_t i = 0; i < labs.size(); ++i) {
    const BuildOutcome& outcome = outcomes.at(ids[i]);
    out.push_back({labs[i], outcome.verdict, outcome.message});
  }
  return out;
}

// What the case of --case printed, once for each task, unless its message shows it all.
std::string printed_by(const RunResult& result) {
  constexpr std::size_t kMaxLines = 200;
  std::string out;
  for (const LabResult& lab : result.labs) {
    for (const TaskResult& task : lab.tasks) {
      if (task.cases.empty() || task.cases.front().printed.empty()) continue;
      const CaseRecord& record = task.cases.front();
      const auto n_lines = std::ranges::count(record.printed, '\n');
      if (record.verdict != lab::Verdict::ok && n_lines <= kMaxLinesInMessage) continue;
      out += fmt::format("\nPrinted by {} / {}, case {}:\n{}", lab.id, task.id, record.name,
                         printed_lines(record.printed, kMaxLines, 2));
    }
  }
  return out;
}

// Checks that this machine's isolation is sufficient for a graded run.
Result<void> require(const sandbox::Machine& machine, sandbox::Isolation needed) {
  if (machine.level >= needed) return {};
  return Error{fmt::format(
      "--graded needs isolation \"{}\", and this machine offers \"{}\" ({}).\n  What is missing: {}.\n"
      "  Without --graded the labs are graded all the same, for practice; --isolation {} accepts this "
      "machine.",
      sandbox::name_of(needed), sandbox::name_of(machine.level), fmt::join(machine.parts(), ", "),
      fmt::join(machine.missing, "; "), sandbox::name_of(machine.level))};
}

bool is_for_several(const lab::Problem* problem) {
  return problem->manifest().most_devices > 1;
}

// Where the labs run. Labs for several devices use GPUs only with --gpus.
Result<ChosenDevice> device_for(const GradeArguments& options, Problems labs, const Layout& layout) {
  if (options.gpus == 0) {
    if (!std::ranges::all_of(labs, is_for_several)) return choose_device(options.device, layout);
    if (options.device != "gpu") return ChosenDevice{};
    return Error{"Say with --gpus how many GPUs to use. Without --device and --gpus, the simulator is used."};
  }
  if (!std::ranges::any_of(labs, is_for_several))
    return Error{"--gpus is for labs for several devices, such as multi_gpu."};
  if (options.device == "sim")
    return Error{"--gpus uses GPUs; on the simulator every case has as many devices as it needs."};
  auto device = choose_device("gpu", layout);
  if (!device) return device;
  if (const auto enough = check_devices(options.gpus, *device); !enough) return enough.error();
  if (const auto nccl = nccl_folder(layout); !nccl) return nccl.error();
  return device;
}

int run_grade(GradeArguments options) {
  take_task(lab::all_problems(), options.labs, options.task);
  auto labs = select_labs(lab::all_problems(), options.labs);
  if (!labs) return fail(labs.error().text);
  const bool has_short_cases = options.quick || !options.first.empty();
  if (has_short_cases && (labs->size() != 1 || options.task.empty() || options.graded))
    return fail("Each of --first and --quick is for one task: ./lab grade LAB TASK --quick");
  const Result<Layout> layout = find_layout();
  if (!layout) return fail(layout.error().text);
  const Result<ChosenDevice> device = device_for(options, *labs, *layout);
  if (!device) return fail(device.error().text);
  // On a GPU few, because each holds a case in the GPU's memory.
  const unsigned most = device->kind == lab::DeviceKind::gpu ? 4 : 2;
  if (options.jobs == 0) options.jobs = std::clamp(std::thread::hardware_concurrency() / 4, 2u, most);
  Result<GradeOptions> how = grade_options(options, *labs, device->kind);
  if (!how) return fail(how.error().text);
  if (const auto able = check_all_writable(options.reports); !able) return fail(able.error().text);
  if (const auto able = check_writable(options.first); !able) return fail(able.error().text);

  if (options.graded) {
    if (const auto able = require(isolation_here(*layout), *sandbox::isolation_named(options.isolation));
        !able)
      return fail(able.error().text);
  }

  RunResult result;
  std::string times;
  const bool piped = any_on_stdout(options.reports);
  {
    Progress progress;
    const std::string started = utc_now();
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const std::vector<LabToGrade> built = build(*layout, *labs, options, progress, times);
    const double seconds = passed();
    const RunContext context{"",       how->seed, how->solutions, how->device, how->only_case.has_value(),
                             how->gpus};
    how->reference = reference_runners(*layout, context);
    const RunnerFactory runners = session_runners(*layout, context);
    const auto grade_cases = [&](bool quick) {
      how->quick = quick;
      RunResult graded = grade(built, *how, runners, progress);
      graded.seconds = passed();  // with compiling: the time that a person waits for the table
      if (how->device == lab::DeviceKind::gpu) graded.clocks = gpu_clocks();
      graded.started = started;
      graded.isolation = sandbox::name_of(isolation_here(*layout).level);
      graded.isolation_parts = isolation_here(*layout).parts();
      graded.isolation_parts.emplace_back("screening");
      graded.graded = options.graded;
      graded.commit = commit_of(layout->root);
      if (!device->name.empty()) graded.device = device->name;
      return graded;
    };
    result = grade_cases(has_short_cases);
    if (!options.first.empty()) {
      const auto done = write_report(options.first, json_text(result));
      if (!done) return fail(done.error().text);
      // If a short case failed, the long ones add nothing.
      const lab::Verdict found = result.labs.front().tasks.front().verdict;
      if (found == lab::Verdict::ok || found == lab::Verdict::not_implemented)
        result = grade_cases(options.quick);
    }
    times += fmt::format("  {:6.2f} s  all that was built\n  {:6.2f} s  cases and times\n", seconds,
                         passed() - seconds);
  }

  std::fputs(to_table(result, piped ? TableStyle{} : style_for_stdout()).c_str(), piped ? stderr : stdout);
  std::fputs(printed_by(result).c_str(), piped ? stderr : stdout);
  if (options.times) std::fputs(times.c_str(), stderr);
  if (const auto done = write_reports(options.reports, result); !done) return fail(done.error().text);
  // After the result is complete and printed, so the search neither changes nor delays it.
  if (!options.graded && !piped && !how->only_case) {
    std::fflush(stdout);
    std::string smallest;
    {
      Progress progress;
      progress.begin("Looking for a small input that fails", 0);
      smallest = smallest_failures(*layout, result, options.solutions);
    }
    std::fputs(smallest.c_str(), stdout);
  }
  return has_infra(result) ? kFailed : kRan;
}

}  // namespace

void add_grade(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("grade", "Grade labs and print a score table");
  auto options = std::make_shared<GradeArguments>();
  command->add_option("LAB", options->labs,
                      "Labs to grade, or one lab and one of its tasks; all when none is named");
  command->add_flag("--solutions", options->solutions, "Grade the reference solutions");
  command->add_option("--device", options->device, "Where kernels run: auto, sim or gpu")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}))
      ->capture_default_str();
  command
      ->add_option("--gpus", options->gpus,
                   "Of labs for several devices: GPUs to use; cases for more devices run on the simulator")
      ->check(CLI::Range(1u, 8u));
  command->add_option("--task", options->task, "Only this task");
  command->add_option("--case", options->only_case, "Only this case; --seed is then the case's own");
  command->add_option("--seed", options->seed, "Repeat a run; fresh and secret when not given");
  add_options(*command, options->reports);
  command->add_flag("--graded", options->graded,
                    "For a grade that counts: refused below the needed isolation");
  command
      ->add_option("--isolation", options->isolation, "What --graded needs: none, limits, namespaces or full")
      ->check(CLI::IsMember({"none", "limits", "namespaces", "full"}))
      ->capture_default_str();
  command->add_flag("--quick", options->quick,
                    "With one task: only short cases of its first operator and type; an answer in seconds");
  command
      ->add_option("--first", options->first, "With one task: first the cases of --quick, as JSON; then all")
      ->type_name("FILE");
  command
      ->add_option("--jobs", options->jobs,
                   "Tasks graded at a time; default: 2, on a GPU a quarter of the cores up to 4")
      ->check(CLI::Range(1, 64));
  command->add_flag("--times", options->times, "Where the time went: compilers, linker, cases (on stderr)");
  command->footer(kGradeFooter);
  command->callback([&run, options] { run = [options] { return run_grade(*options); }; });
}

}  // namespace course::grader::cli
