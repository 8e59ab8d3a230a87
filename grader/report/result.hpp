// SPDX-License-Identifier: MIT
// What a run of the grader found, as plain data: the one truth from which table, JSON, JUnit and HTML are
// made. Read: Stage and CaseRecord (one executed case), TaskResult, LabResult, RunResult; the JSON form is
// the CLI's contract. Invariant: 0 <= points <= max_points everywhere, and nothing here is computed by a
// report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "verifier/session.hpp"

namespace course::grader {

// Why a case was run.
enum class Stage : std::uint8_t { correctness, checks, efficiency, speedup };
const char* name_of(Stage stage);
const char* name_of(lab::DeviceKind device);

// One executed case.
struct CaseRecord {
  std::string name;
  Stage stage = Stage::correctness;
  lab::DeviceKind device = lab::DeviceKind::sim;
  lab::Verdict verdict = lab::Verdict::infra;
  std::string message;  // "" when ok
  double seconds = 0;   // wall time of the whole case: inputs, runner, judging
};

// An efficiency goal and what was measured for it.
struct GoalScore {
  lab::Metric metric{};
  double limit = 0;
  std::optional<double> measured;
  int points = 0;
  int max_points = 0;
  std::string note;  // why there is no measurement, or why it does not count; else ""
};

struct TierScore {
  double speedup = 0;
  int points = 0;
  int max_points = 0;
};

// The medians behind a speedup, all of one case, and the single runs while they are gathered (not reported).
struct Timing {
  struct Samples {
    std::vector<double> kernel_us, clock_us, events_us;
  };
  Samples samples;
  std::string case_name;
  bool modelled = false;  // kernel_us is the simulator's model, not a clock's
  double kernel_us = 0;
  double spread_us = 0;      // median distance of the runs from it
  double clock_us = 0;       // on a GPU, medians: the grader's own clock,
  double events_us = 0;      // and the runner's events (verifier/judge_times.hpp)
  double one_thread_us = 0;  // the CPU baselines, measured here
  double all_cores_us = 0;
  int kernel_runs = 0;
  int baseline_runs = 0;
  lab::Baseline judged = lab::Baseline::one_thread;  // the one that points go by
  double speedup_over(lab::Baseline which) const;    // 0 when unknown
};

struct TaskResult {
  std::string id;
  std::string title;
  std::string section;  // of the handout
  bool bonus = false;
  int points = 0;
  int max_points = 0;
  int correctness_points = 0;
  int max_correctness_points = 0;
  lab::Verdict verdict = lab::Verdict::infra;
  std::string message;            // for the student, several lines; "" when nothing is wrong
  std::optional<double> speedup;  // over the judged baseline
  std::map<std::string, double> metrics;
  std::vector<GoalScore> goals;
  std::vector<TierScore> tiers;
  std::optional<Timing> timing;
  std::vector<CaseRecord> cases;  // those that were run, in order
  int cases_planned = 0;          // of correctness
  int cases_run = 0;
  int cases_failed = 0;
  double seconds = 0;
};

struct LabResult {
  std::string id;
  std::string title;
  std::string source;  // "labs/reduction"
  int points = 0;      // bonus tasks not counted
  int max_points = 0;
  int bonus_points = 0;
  int max_bonus_points = 0;
  std::vector<TaskResult> tasks;
};

struct RunResult {
  std::string device;     // "Simulated H200"
  std::string clocks;     // of a GPU, while it was graded: "1980 MHz, 3201 MHz"; "" where they are not told
  std::string isolation;  // how far student code is kept apart: none, limits, namespaces, full
  std::vector<std::string> isolation_parts;  // by what, for people
  bool graded = false;                       // the needed isolation was insisted on
  std::string commit;   // of the checkout, "+" when it has local changes; "" when unknown
  std::string started;  // UTC, ISO 8601
  std::uint64_t seed = 0;
  bool modelled = false;      // kernel times come from the simulator's model
  bool partial = false;       // only some tasks or cases were asked for
  bool for_students = false;  // report/edition.hpp: the seed is kept back, and messages hold no values
  double seconds = 0;
  std::vector<LabResult> labs;
};

// Now, as RunResult::started has it.
std::string utc_now();

// Sums the tasks into the lab's points.
void add_up(LabResult& lab);

constexpr int kResultSchema = 1;
nlohmann::json to_json(const RunResult& result);

}  // namespace course::grader
