// SPDX-License-Identifier: MIT
// Reading order: grade() at the end; Unit; run_shared (worker threads); finish_alone (one at a time).
#include "grading/grade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <future>
#include <map>
#include <span>
#include <thread>

#include "base/rng.hpp"
#include "grading/collect.hpp"
#include "grading/planning/plan.hpp"
#include "grading/scoring/score.hpp"
#include "lab/derived_cases.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

// One task to grade.
struct Unit : TaskRun {
  std::string broken;  // why it could not be run; "" if it could
  double seconds = 0;
};

// The short cases with the operator and the type of the first one, for their output alone.
std::vector<lab::Case> quick_cases(std::vector<lab::Case> all) {
  constexpr std::uint64_t kMaxItems = 1u << 16;
  if (all.empty()) return all;
  const lab::Case first = all.front();
  std::erase_if(all, [&](const lab::Case& c) {
    return c.op != first.op || c.dtype != first.dtype || c.n > kMaxItems ||
           (c.purpose & lab::kCorrectness) == 0;
  });
  for (lab::Case& c : all) c.purpose &= lab::kCorrectness | lab::kChecks;
  return all;
}

// The runners of one worker. They are for one lab at a time, because each holds the memory of its largest
// case.
class Runners {
 public:
  explicit Runners(const RunnerFactory& make) : make_(make) {}
  CaseRunner& of(const lab::Problem& problem, lab::DeviceKind device) {
    if (problem_ != &problem) {
      runners_.clear();
      problem_ = &problem;
    }
    std::unique_ptr<CaseRunner>& runner = runners_[device];
    if (!runner) runner = make_(problem, device);
    return *runner;
  }

 private:
  const RunnerFactory& make_;
  const lab::Problem* problem_ = nullptr;
  std::map<lab::DeviceKind, std::unique_ptr<CaseRunner>> runners_;
};

class Grading {
 public:
  Grading(const GradeOptions& options, const RunnerFactory& make_runner, Progress& progress)
      : options_(options),
        make_runner_(make_runner),
        progress_(progress),
        baselines_(options.baselines_kept_in, [this] { wait_for_end(); }) {}

  void add(const lab::Problem& problem, const lab::Task& task) {
    Unit unit;
    unit.problem = &problem;
    unit.task = &task;
    const bool several = problem.manifest().most_devices > 1;
    const lab::DeviceKind device = several && options_.gpus == 0 ? lab::DeviceKind::sim : options_.device;
    unit.context = {std::string(problem.manifest().id), options_.seed, options_.solutions, device,
                    options_.only_case.has_value(),     options_.gpus};
    guarded(unit, [&] {
      PlanOptions plan{device, options_.only_case, options_.check_every_size};
      plan.seed = one_way(options_.seed, fmt::format("{} {} plan", problem.manifest().id, task.id));
      if (several)
        plan.needs_simulator = [&](const lab::Case& c) {
          return problem.shape(task, c).n_devices > options_.gpus;
        };
      unit.plan = make_plan(task, cases_of(problem, task), plan);
    });
    units_.push_back(std::move(unit));
  }

  void run() {
    run_shared();
    finish_alone();
  }

  const Unit* find(const lab::Task& task) const {
    const auto found = std::ranges::find(units_, &task, &Unit::task);
    return found == units_.end() ? nullptr : &*found;
  }
  // The name of the device; "" if no case has run there.
  std::string device() const {
    const auto named = std::ranges::find_if(units_, [&](const Unit& unit) {
      return unit.context.device == options_.device && !unit.evidence.device.empty();
    });
    return named == units_.end() ? "" : named->evidence.device;
  }

 private:
  // The task's cases, if it is graded with some at secret addresses or of secret lengths; with --case also
  // one that is not graded, such as a smaller one from a message.
  std::vector<lab::Case> cases_of(const lab::Problem& problem, const lab::Task& task) const {
    if (options_.quick) return quick_cases(problem.cases(task));
    if (!options_.only_case) {
      if (!options_.check_every_size) return problem.cases(task);
      return lab::graded_cases(problem, task, one_way(options_.seed, fmt::format("{} cases", task.id)));
    }
    std::optional<lab::Case> c = lab::find_case(problem, task, *options_.only_case);
    return c ? std::vector<lab::Case>{std::move(*c)} : std::vector<lab::Case>{};
  }

  // An exception of one task (for example no memory for a case) does not affect the others.
  template <typename Work>
  static void guarded(Unit& unit, Work work) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      work();
    } catch (const std::exception& error) {
      unit.broken = fmt::format("The grader could not run this task: {}.", error.what());
    }
    unit.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void collect_steps(Unit& unit, Runners& runners, Share share, int round = 0) {
    CollectHooks hooks;
    hooks.runner = [&](lab::DeviceKind device) -> CaseRunner& { return runners.of(*unit.problem, device); };
    hooks.progress = [&](const std::string& what) { progress_.step(unit.context.lab + " " + what); };
    hooks.source_line = options_.source_line;
    hooks.before_timing = [this] { wait_for_end(); };
    collect(unit, share, hooks, round);
  }

  void run_shared() {
    std::size_t n_steps = 0;
    for (const Unit& unit : units_) n_steps += unit.plan.steps.size();
    progress_.begin("Running", n_steps);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      Runners runners(make_runner_);
      for (std::size_t i = next++; i < units_.size(); i = next++) {
        Unit& unit = units_[i];
        if (unit.broken.empty()) guarded(unit, [&] { collect_steps(unit, runners, Share::shared); });
        progress_.skip(unit.plan.steps.size() - std::min(unit.plan.steps.size(), unit.evidence.cases.size()));
      }
    };
    const std::size_t n_workers =
        std::clamp<std::size_t>(options_.jobs, 1, std::max<std::size_t>(1, units_.size()));
    std::vector<std::thread> workers;
    for (std::size_t i = 1; i < n_workers; ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
  }

  // Timing that other work on the machine would disturb: kernels on a GPU and baselines on the CPU. On a GPU
  // they take turns, so that changes of the machine affect both.
  void finish_alone() {
    progress_.begin("Timing", 0);
    const int rounds = options_.device == lab::DeviceKind::gpu ? kTimingRounds : 1;
    std::vector<Unit*> timed;
    for (Unit& unit : units_)
      if (unit.broken.empty()) timed.push_back(&unit);
    for (int round = 0; round < rounds; ++round) time_round(timed, round, rounds);
    // Near a tier's limit chance would decide, so run three times as many rounds.
    std::erase_if(timed, [](const Unit* unit) {
      return std::ranges::none_of(unit->evidence.timings,
                                  [&](const Timing& timing) { return near_a_tier(*unit->task, timing); });
    });
    for (int round = rounds; round < 3 * rounds; ++round) time_round(timed, round, rounds);
    baselines_.keep();
  }

  // The tasks of a lab share a process, because it takes long to start one on a GPU.
  void time_round(std::span<Unit* const> units, int round, int rounds) {
    while (!units.empty()) {
      const auto end = std::ranges::find_if_not(
          units, [&](const Unit* unit) { return unit->problem == units.front()->problem; });
      const auto of_lab = units.first(static_cast<std::size_t>(end - units.begin()));
      units = units.subspan(of_lab.size());
      // The runners end before anything else is timed, because a thread that a submission left running would
      // slow it down. It takes long; the next runner starts meanwhile.
      auto runners = std::make_unique<Runners>(make_runner_);
      for (Unit* unit : of_lab) guarded(*unit, [&] { collect_steps(*unit, *runners, Share::alone, round); });
      ending_ = std::async(std::launch::async, [ended = std::move(runners)]() mutable { ended.reset(); });
      for (Unit* unit : of_lab)
        if (unit->evidence.complete)
          guarded(*unit, [&] { time_baselines(*unit, (kBaselineRuns * (round + 1) + rounds - 1) / rounds); });
    }
  }

  // Waits until the runners that timed last have ended.
  void wait_for_end() const {
    if (ending_.valid()) ending_.wait();
  }

  // Times the baselines until there are `runs` times of each; else takes the recorded times of the modelled
  // computer, or those of the class.
  void time_baselines(Unit& unit, int runs) {
    for (Timing& timing : unit.evidence.timings) {
      const auto c = std::ranges::find(unit.plan.cases, timing.case_name, &lab::Case::name);
      if (c == unit.plan.cases.end()) continue;
      progress_.step(fmt::format("{} {}: CPU baselines", unit.context.lab, c->name));
      if (const auto* recorded = recorded_cpu_time(*unit.problem, *unit.task, *c, unit.context.device)) {
        timing.cpu_us = recorded->us;
        continue;
      }
      const std::vector<double> us = baseline_of(unit, *c, runs);
      timing.cpu_us = lowest(us);
      timing.baseline_runs = static_cast<int>(us.size());
    }
  }

  std::vector<double> baseline_of(const Unit& unit, const lab::Case& c, int runs) {
    if (options_.baselines != nullptr) {
      const auto known = options_.baselines->find(baseline_key(*unit.problem, *unit.task, c));
      if (known != options_.baselines->end()) return known->second;
    }
    return baselines_.time(*unit.problem, *unit.task, c, kBaselineSeed, runs);
  }

  static bool near_a_tier(const lab::Task& task, const Timing& timing) {
    return std::ranges::any_of(task.speedup, [&](const lab::SpeedupTier& tier) {
      return std::abs(timing.speedup() / tier.speedup - 1) < 0.05;
    });
  }

  const GradeOptions& options_;
  const RunnerFactory& make_runner_;
  Progress& progress_;
  std::vector<Unit> units_;
  BaselineTimer baselines_;
  std::future<void> ending_;
};

TaskResult uncut_result_of(const LabToGrade& lab, const lab::Task& task, const Unit* unit) {
  if (lab.build_verdict != Verdict::ok) return unscored_task(task, lab.build_verdict, lab.build_message);
  if (unit == nullptr) return unscored_task(task, Verdict::infra, "This task was not run.");
  Evidence evidence = unit->evidence;
  // The compiler may have seen the mistake of a program that is wrong.
  const CaseRecord* wrong = lab.build_message.empty() ? nullptr : deciding_record(evidence.cases);
  if (wrong != nullptr && wrong->failure && wrong->verdict != Verdict::not_implemented) {
    lab::Failure failure = *wrong->failure;
    failure.notes.push_back("the compiler warned: " + lab.build_message);
    set_failure(evidence.cases[static_cast<std::size_t>(wrong - evidence.cases.data())], std::move(failure));
  }
  TaskResult result =
      unit->broken.empty() ? score_task(task, evidence) : unscored_task(task, Verdict::infra, unit->broken);
  result.seconds = unit->seconds;
  return result;
}

TaskResult result_of(const LabToGrade& lab, const lab::Task& task, const Unit* unit) {
  TaskResult result = uncut_result_of(lab, task, unit);
  result.section = lab::section_of(lab.problem->manifest(), task);
  cut_messages(result);
  return result;
}

}  // namespace

RunResult grade(const std::vector<LabToGrade>& labs, const GradeOptions& options,
                const RunnerFactory& make_runner, Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const auto wanted = [&](const lab::Problem& problem, const lab::Task& task) {
    if (options.only_task && *options.only_task != task.id) return false;
    return !options.only_case || lab::find_case(problem, task, *options.only_case).has_value();
  };

  Grading grading(options, make_runner, progress);
  for (const LabToGrade& lab : labs) {
    if (lab.build_verdict != Verdict::ok) continue;
    for (const lab::Task& task : lab.problem->manifest().tasks)
      if (wanted(*lab.problem, task)) grading.add(*lab.problem, task);
  }
  grading.run();

  RunResult result;
  for (const LabToGrade& lab : labs) {
    const lab::Manifest& manifest = lab.problem->manifest();
    LabResult lab_result;
    lab_result.id = manifest.id;
    lab_result.title = manifest.title;
    lab_result.source = fmt::format("{}/{}", options.solutions ? "solutions" : "labs", manifest.id);
    for (const lab::Task& task : manifest.tasks)
      if (wanted(*lab.problem, task)) lab_result.tasks.push_back(result_of(lab, task, grading.find(task)));
    // In a run of one task, include only the labs that have it.
    if (lab_result.tasks.empty()) continue;
    add_up(lab_result);
    result.labs.push_back(std::move(lab_result));
  }
  result.device = grading.device();
  if (result.device.empty()) result.device = options.device == lab::DeviceKind::gpu ? "GPU" : "simulator";
  result.seed = options.seed;
  result.modelled = options.device == lab::DeviceKind::sim;
  result.partial = options.quick || options.only_task.has_value() || options.only_case.has_value();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace course::grader
