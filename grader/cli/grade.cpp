// SPDX-License-Identifier: MIT
// labcli grade: builds the labs, grades them, prints the score table and writes the requested reports.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/report_files.hpp"
#include "cli/smallest.hpp"
#include "compile/build.hpp"
#include "device.hpp"
#include "grading/grade.hpp"
#include "grading/planning/select.hpp"
#include "grading/printed.hpp"
#include "grading/run_context.hpp"
#include "grading/session_runner.hpp"
#include "layout.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"
#include "source_lines.hpp"

namespace course::grader::cli {
namespace {

struct GradeArguments {
  std::vector<std::string> labs;
  bool solutions = false;
  std::string device = "auto";
  std::string task, only_case, first;
  std::optional<std::uint64_t> seed;  // "12345" or "0x1b2c"
  ReportFiles reports;
  unsigned jobs = 0, gpus = 0;  // jobs: 0 for the default of the device
  bool graded = false, more = false;
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

GradeOptions grade_options(const GradeArguments& options, Problems labs, lab::DeviceKind device) {
  GradeOptions out;
  out.device = device;
  out.gpus = options.gpus;
  out.solutions = options.solutions;
  out.check_every_size = options.graded;
  out.jobs = options.jobs;
  out.baselines_kept_in = kept_baselines_folder();
  if (!options.task.empty()) {
    need(check_task(labs, options.task));
    out.only_task = options.task;
  }
  if (!options.only_case.empty()) {
    const std::string* task = options.task.empty() ? nullptr : &options.task;
    need(check_case(labs, task, options.only_case));
    out.only_case = options.only_case;
  }
  out.seed = options.seed ? *options.seed : need(fresh_seed());
  return out;
}

std::vector<LabToGrade> build(const Layout& layout, Problems labs, const GradeArguments& options,
                              Progress& progress) {
  std::vector<std::string> ids;
  for (const lab::Problem* problem : labs) ids.emplace_back(problem->manifest().id);
  progress.begin("Building", 0);
  progress.step(fmt::format("{}", fmt::join(ids, ", ")));
  BuildOptions how;
  how.solutions = options.solutions;
  how.jobs = options.jobs;
  how.only_task = options.task;
  how.machine = &isolation_here(layout);
  const auto outcomes = build_runners(layout, ids, how);
  std::vector<LabToGrade> out;
  for (std::size_t i = 0; i < labs.size(); ++i) {
    const BuildOutcome& outcome = outcomes.at(ids[i]);
    out.push_back({labs[i], outcome.verdict, outcome.message});
  }
  return out;
}

// What each task printed in one case: that of --case, or else the shortest, if no failure shows another one.
std::string printed_by(const RunResult& result, bool shortest) {
  const std::size_t max_lines = shortest ? kMaxLinesInMessage : 200;
  std::string out;
  for (const LabResult& lab : result.labs) {
    for (const TaskResult& task : lab.tasks) {
      const auto record =
          std::ranges::find_if(task.cases, [](const CaseRecord& one) { return !one.printed.empty(); });
      if (record == task.cases.end() || (shortest && task.verdict != lab::Verdict::ok)) continue;
      out += fmt::format("\nPrinted by {} / {}, case {}:\n{}", lab.id, task.id, record->name,
                         printed_lines(record->printed, max_lines, 2));
    }
  }
  return out;
}

// Checks that this machine's isolation is sufficient for a graded run.
void require(const sandbox::Machine& machine, sandbox::Isolation needed) {
  if (machine.level >= needed) return;
  throw std::runtime_error(fmt::format(
      "--graded needs isolation \"{}\", and this machine offers \"{}\" ({}).\n  What is missing: {}.\n"
      "  Without --graded the labs are graded all the same, for practice; --isolation {} accepts this "
      "machine.",
      sandbox::name_of(needed), sandbox::name_of(machine.level), fmt::join(machine.parts(), ", "),
      fmt::join(machine.missing, "; "), sandbox::name_of(machine.level)));
}

bool is_for_several(const lab::Problem* problem) {
  return problem->manifest().most_devices > 1;
}

// Where the labs run. Labs for several devices use GPUs only with --gpus.
ChosenDevice device_for(const GradeArguments& options, Problems labs, const Layout& layout) {
  if (options.gpus == 0) {
    if (!std::ranges::all_of(labs, is_for_several)) return need(choose_device(options.device, layout));
    if (options.device != "gpu") return {};
    throw std::runtime_error(
        "Say with --gpus how many GPUs to use. Without --device and --gpus, the simulator is used.");
  }
  if (!std::ranges::any_of(labs, is_for_several))
    throw std::runtime_error("--gpus is for labs for several devices, such as multi_gpu.");
  if (options.device == "sim")
    throw std::runtime_error(
        "--gpus uses GPUs; on the simulator every case has as many devices as it needs.");
  ChosenDevice device = need(choose_device("gpu", layout));
  need(check_devices(options.gpus, device));
  need(nccl_folder(layout));
  return device;
}

// What the options ask for, checked.
struct GradeJob {
  std::vector<const lab::Problem*> labs;
  Layout layout;
  ChosenDevice device;
  GradeOptions how;
};
GradeJob job_of(GradeArguments& options) {
  take_task(lab::all_problems(), options.labs, options.task);
  auto labs = need(select_labs(lab::all_problems(), options.labs));
  if (!options.first.empty() && (labs.size() != 1 || options.task.empty() || options.graded))
    throw std::runtime_error("--first is for one task: ./lab grade LAB TASK --first FILE");
  Layout layout = need(find_layout());
  ChosenDevice device = device_for(options, labs, layout);
  // On a GPU few, because each holds a case in the GPU's memory.
  const unsigned most = device.kind == lab::DeviceKind::gpu ? 4 : 2;
  if (options.jobs == 0) options.jobs = std::clamp(std::thread::hardware_concurrency() / 4, 2u, most);
  GradeOptions how = grade_options(options, labs, device.kind);
  check_all_writable(options.reports);
  need(check_writable(options.first));
  if (options.graded) require(isolation_here(layout), *sandbox::isolation_named(options.isolation));
  return {std::move(labs), std::move(layout), std::move(device), std::move(how)};
}

// Builds the labs and runs their cases; with --first, the short ones first, whose result is written at once.
RunResult build_and_grade(const GradeArguments& options, GradeJob& job) {
  const auto& [labs, layout, device, how] = job;
  Progress progress;
  const std::string started = utc_now();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<LabToGrade> built = build(layout, labs, options, progress);
  const RunContext context{"", how.seed, how.solutions, how.device, how.only_case.has_value(), how.gpus};
  job.how.source_line = source_lines_below(layout.root);
  const RunnerFactory runners = session_runners(layout, context);
  const sandbox::Machine& machine = isolation_here(layout);
  const auto grade_cases = [&](bool quick) {
    job.how.quick = quick;
    RunResult graded = grade(built, job.how, runners, progress);
    // With compiling: the time that a person waits for the table.
    graded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (job.how.device == lab::DeviceKind::gpu) graded.clocks = gpu_clocks();
    graded.started = started;
    graded.isolation = sandbox::name_of(machine.level);
    graded.isolation_parts = machine.parts();
    graded.isolation_parts.emplace_back("screening");
    graded.graded = options.graded;
    graded.commit = commit_of(job.layout.root);
    if (!job.device.name.empty()) graded.device = job.device.name;
    return graded;
  };
  RunResult result = grade_cases(!options.first.empty());
  if (options.first.empty()) return result;
  need(write_report(options.first, json_text(result)));
  // If a short case failed, the long ones add nothing.
  const lab::Verdict found = result.labs.front().tasks.front().verdict;
  const bool goes_on = found == lab::Verdict::ok || found == lab::Verdict::not_implemented;
  return goes_on ? grade_cases(false) : std::move(result);
}

int run_grade(GradeArguments options) {
  GradeJob job = job_of(options);
  RunResult result = build_and_grade(options, job);
  const bool piped = any_on_stdout(options.reports);
  TableStyle style = piped ? TableStyle{} : style_for_stdout();
  style.whole = options.more;
  const TableStyle of_failures = style;
  const bool searches = !options.graded && !piped && !job.how.only_case;
  if (searches) style.max_messages = 0;
  std::fputs(to_table(result, style).c_str(), piped ? stderr : stdout);
  if (!options.graded) std::fputs(printed_by(result, !job.how.only_case).c_str(), piped ? stderr : stdout);
  write_reports(options.reports, result);
  // After the table and the reports, so that the search delays neither and changes no verdict. It prints the
  // failures, and adds their traces to the result.
  if (searches) {
    show_failures(job.layout, result, options.solutions, of_failures);
    write_reports(options.reports, result);
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
  command
      ->add_option("--first", options->first,
                   "With one task: first the short cases of one operator and type, as JSON; then all")
      ->type_name("FILE");
  command
      ->add_option("--jobs", options->jobs,
                   "Tasks graded at a time; default: 2, on a GPU a quarter of the cores up to 4")
      ->check(CLI::Range(1, 64));
  command->add_flag("--more", options->more, "All that is known of each failure");
  command->footer(kGradeFooter);
  command->callback([&run, options] { run = [options] { return run_grade(*options); }; });
}

}  // namespace course::grader::cli
