// SPDX-License-Identifier: MIT
// The hidden commands of which `./lab grade-all` (grader/batch/grade_all.py) consists. Each performs one step
// for one submission or for all, reads and writes JSON, and can be repeated.
//   labcli batch-harness   how submissions are compiled, and the files that decide a grade
//   labcli batch-baselines the times of the CPU baselines
//   labcli batch-rescore   what stored results are worth by another table of points
//   labcli grade-one       compiles and grades one file
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "batch/harness/baselines.hpp"
#include "batch/harness/harness.hpp"
#include "cli/commands.hpp"
#include "compile/compile_file.hpp"
#include "device.hpp"
#include "grading/grade.hpp"
#include "grading/planning/select.hpp"
#include "grading/scoring/rescore.hpp"
#include "grading/session_runner.hpp"
#include "layout.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "report/edition.hpp"
#include "report/formats.hpp"
#include "report/report_file.hpp"

namespace course::grader::cli {
namespace {
using nlohmann::json;

struct BatchOptions {
  std::vector<std::string> labs;
  std::string device = "sim", task, out;
  std::uint64_t seed = 1;
  std::string harness, source, work, baselines, html, student_html, student_json, isolation = "full";
  bool compile_only = false, graded = false, measure = false;
};

template <typename T>
T read_as(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{} can't be read.", path));
  try {
    return json::parse(file).get<T>();
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("{} is not what it should be: {}.", path, error.what()));
  }
}

std::string dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

int write_out(const BatchOptions& options, const std::string& text) {
  need(write_report(options.out, text));
  return kRan;
}

// What the commands need that read a submission.
struct Ready {
  Layout layout;
  std::vector<const lab::Problem*> labs;
  GradeOptions how;
};
Ready get_ready(const BatchOptions& options) {
  Ready ready{need(find_layout()), need(select_labs(lab::all_problems(), options.labs)), {}};
  ready.how.seed = options.seed;
  ready.how.device = options.device == "gpu" ? lab::DeviceKind::gpu : lab::DeviceKind::sim;
  ready.how.jobs = 1;
  ready.how.check_every_size = options.graded;
  ready.how.baselines_kept_in = kept_baselines_folder();
  if (!options.task.empty()) {
    need(check_task(ready.labs, options.task));
    ready.how.only_task = options.task;
  }
  return ready;
}

// What a lab's points.hpp says about how evidence is collected. The rest of it, limits, tiers and points,
// only decides what the evidence is worth.
json asked_of(const lab::Manifest& manifest) {
  json tasks = json::array(), times = json::array();
  for (const lab::Task& task : manifest.tasks) {
    tasks.push_back({task.id, !task.efficiency.empty(), !task.speedup.empty(), task.reference_us});
  }
  for (const lab::Task& rung : manifest.further_rungs) tasks.push_back({rung.id});
  for (const lab::CpuTime& time : manifest.cpu_times) times.push_back({time.task, time.case_name, time.us});
  return {{"tasks", tasks}, {"cpu_times", times}};
}

int run_harness(const BatchOptions& options) {
  const Ready ready = get_ready(options);
  std::vector<std::string> ids;
  for (const lab::Problem* problem : ready.labs) ids.emplace_back(problem->manifest().id);
  json out = need(batch::find_harness(ready.layout, ids));
  const sandbox::Machine& machine = isolation_here(ready.layout);
  out["isolation"] = sandbox::name_of(machine.level);
  out["isolation_missing"] = machine.missing;
  out["root"] = ready.layout.root;
  out["build"] = ready.layout.build;
  const auto device = choose_device(options.device, ready.layout);
  out["device_problem"] = device ? "" : device.error().text;
  for (const lab::Problem* problem : ready.labs) {
    const lab::Manifest& manifest = problem->manifest();
    out["labs"][std::string(manifest.id)]["asked"] = asked_of(manifest);
  }
  return write_out(options, dump(out));
}

int run_baselines(const BatchOptions& options) {
  const Ready ready = get_ready(options);
  return write_out(options, dump(batch::time_baselines(ready.labs, ready.how, options.measure)));
}

// An existing result is never overwritten: a cluster may start the same task twice, and the first result
// counts.
int write_once(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}.tmp", path, getpid());
  need(write_report(beside, text));
  const bool linked = link(beside.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const std::string problem = std::strerror(errno);
  std::remove(beside.c_str());
  return linked ? kRan : fail(fmt::format("{} could not be put in place: {}.", path, problem));
}

int run_one(const BatchOptions& options) {
  Ready ready = get_ready(options);
  if (options.labs.size() != 1) return fail("grade-one grades one lab: name it");
  const std::string& lab = options.labs.front();
  const auto harness = read_as<batch::Harness>(options.harness);
  const auto recipe = harness.labs.find(lab);
  if (recipe == harness.labs.end()) return fail(fmt::format("{} knows no lab {}", options.harness, lab));
  KnownBaselines baselines;
  if (!options.baselines.empty()) {
    baselines = read_as<KnownBaselines>(options.baselines);
    ready.how.baselines = &baselines;
  }

  const Layout& layout = ready.layout;
  const sandbox::Machine& machine = isolation_here(layout);
  if (options.graded && machine.level < *sandbox::isolation_named(options.isolation))
    return fail(fmt::format("this machine offers isolation \"{}\", and \"{}\" is asked for",
                            sandbox::name_of(machine.level), options.isolation));
  const std::string work = std::filesystem::absolute(options.work).string();
  BuildOptions build;
  build.jobs = 1;
  build.machine = &machine;
  const std::string started = utc_now();
  const BuildOutcome built = compile_once(layout, recipe->second, lab, options.source, work, build);
  if (options.compile_only) return built.verdict == lab::Verdict::infra ? fail(built.message) : kRan;

  // A lab for several devices is graded on the simulator, because a node may have only one GPU.
  if (ready.labs.front()->manifest().most_devices > 1) ready.how.device = lab::DeviceKind::sim;
  std::string device_name;
  if (ready.how.device == lab::DeviceKind::gpu) device_name = need(choose_device("gpu", layout)).name;
  const RunContext context{lab, ready.how.seed, false, ready.how.device, false};
  const RunnerFactory factory = [&](const lab::Problem&, lab::DeviceKind device) {
    return session_runner(layout, work + "/runner", device, context);
  };
  Progress silent(Progress::Form::silent);
  RunResult result = grade({{ready.labs.front(), built.verdict, built.message}}, ready.how, factory, silent);
  result.started = started;
  result.isolation = sandbox::name_of(machine.level);
  result.isolation_parts = machine.parts();
  result.isolation_parts.emplace_back("screening");
  result.graded = options.graded;
  result.commit = harness.commit;
  if (!device_name.empty()) result.device = device_name;
  const RunResult shown = for_students(result);
  if (!options.html.empty()) need(write_report(options.html, to_html(result)));
  if (!options.student_html.empty()) need(write_report(options.student_html, to_html(shown)));
  if (!options.student_json.empty()) need(write_report(options.student_json, json_text(shown)));
  // written last: a process that sees it may rely on the other files
  return write_once(options.out, json_text(result));
}

// The first line is the table (grading/scoring/rescore.hpp), and each of the others one of a result's labs;
// the answer to each of these is a line, too.
int run_rescore() {
  std::string line;
  std::getline(std::cin, line);
  const PointsTable table = need(PointsTable::parse(line));
  while (std::getline(std::cin, line)) std::cout << need(table.rescored(line)) << std::endl;
  return kRan;
}

}  // namespace

void add_batch(CLI::App& app, Run& run) {
  auto options = std::make_shared<BatchOptions>();
  const auto add = [&](const char* name, const char* about, int (*command)(const BatchOptions&)) {
    CLI::App* sub = app.add_subcommand(name, about);
    sub->group("");
    sub->add_option("LAB", options->labs, "Labs; all when none is named");
    sub->add_option("--device", options->device)->check(CLI::IsMember({"auto", "sim", "gpu"}));
    sub->add_option("--task", options->task, "Only this task");
    sub->add_option("--seed", options->seed, "Of the run; of grade-one: the file's own");
    sub->add_option("--out", options->out, "Where the JSON goes");
    sub->callback([&run, options, command] { run = [options, command] { return command(*options); }; });
    return sub;
  };
  add("batch-harness", "How submissions are compiled", run_harness)->get_option("--out")->required();
  CLI::App* baselines = add("batch-baselines", "Times the CPU baselines", run_baselines);
  baselines->get_option("--out")->required();
  baselines->add_flag("--measure", options->measure,
                      "Also those whose times on an H200's server are recorded");
  CLI::App* rescore = app.add_subcommand("batch-rescore", "What results are worth by other points");
  rescore->group("");
  rescore->callback([&run] { run = run_rescore; });
  CLI::App* one = add("grade-one", "Compiles and grades one file", run_one);
  one->add_option("--harness", options->harness, "What batch-harness wrote")->required();
  one->add_option("--source", options->source, "The submission's file")->required();
  one->add_option("--work", options->work, "A folder for this one submission")->required();
  one->add_option("--html", options->html, "A page for instructors");
  one->add_option("--student-html", options->student_html, "A page for the student: without seeds");
  one->add_option("--student-json", options->student_json, "The same as JSON");
  one->add_option("--baselines", options->baselines, "What batch-baselines wrote");
  one->add_flag("--compile-only", options->compile_only, "Stop after compiling");
  one->add_flag("--graded", options->graded, "Refuse below --isolation");
  one->add_option("--isolation", options->isolation, "none, limits, namespaces or full")
      ->check(CLI::IsMember({"none", "limits", "namespaces", "full"}));
}

}  // namespace course::grader::cli
