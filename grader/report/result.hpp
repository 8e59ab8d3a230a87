// SPDX-License-Identifier: MIT
// The result of a run of the grader as plain data, from which table, JSON, JUnit, HTML and the other reports
// are made. Read Stage and CaseRecord (one executed case) first, then TaskResult, LabResult, RunResult. The
// JSON form is a documented interface (result_fields.hpp).
// Invariant: 0 <= points <= max_points everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lab/metrics.hpp"
#include "verifier/outcome.hpp"
#include "verifier/request.hpp"

namespace course::grader {

// The purpose of an executed case.
enum class Stage : std::uint8_t { correctness, checks, efficiency, speedup };
const char* name_of(Stage stage);
const char* name_of(lab::DeviceKind device);

// One executed case.
struct CaseRecord {
  std::string name;
  Stage stage = Stage::correctness;
  lab::DeviceKind device = lab::DeviceKind::sim;
  lab::Verdict verdict = lab::Verdict::infra;
  std::optional<lab::Failure> failure;  // unless ok
  std::string message;                  // `failure` as text
  double seconds = 0;                   // wall-clock time of the whole case: inputs, runner, judging
  // What the submission printed, in one case of a task: --case, or the shortest that printed; not reported.
  std::string printed;
};

// An efficiency goal and its measurement.
struct GoalScore {
  lab::Metric metric{};
  double limit = 0;
  std::string unit;  // of both: "row"; "" for none
  std::optional<double> measured;
  int points = 0;
  int max_points = 0;
  std::string note;  // why there is no measurement, or which line has most of what is missed; else ""
};

// A measured value with as many digits as distinguish it from the one that was asked for.
std::string beside(double measured, double asked);

struct TierScore {
  double speedup = 0;
  int points = 0;
  int max_points = 0;
};

// The times from which a speedup is computed, all of one case: medians, and the lowest time of the CPU
// baseline. `samples`: the single runs while they are collected (not reported).
struct Timing {
  struct Samples {
    std::vector<double> kernel_us, clock_us, events_us;
  };
  Samples samples;
  std::string case_name;
  bool modelled = false;  // kernel_us is modelled by the simulator, not measured
  double kernel_us = 0;
  double spread_us = 0;  // median absolute deviation of the runs from kernel_us
  double clock_us = 0;   // on a GPU: the median by the grader's own clock
  double events_us = 0;  // on a GPU: the median of the runner's events (verifier/judge_times.hpp)
  double cpu_us = 0;     // the CPU baseline: measured here, or recorded (lab::CpuTime)
  int kernel_runs = 0;
  int baseline_runs = 0;   // 0: recorded
  double speedup() const;  // 0 when unknown
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
  std::string message;  // for the student, several lines; "" when nothing is wrong
  std::optional<double> speedup;
  std::map<std::string, double> metrics;
  std::vector<GoalScore> goals;
  std::optional<double> time_ratio;  // modelled time ÷ lab::Task::reference_us
  // Then it has the points of all goals.
  bool is_as_fast_as_reference() const { return time_ratio && *time_ratio <= lab::kRoom; }
  std::vector<TierScore> tiers;
  std::optional<Timing> timing;
  std::vector<CaseRecord> cases;  // those that were run, in order
  int cases_planned = 0;          // correctness cases
  int cases_run = 0;
  int cases_failed = 0;
  double seconds = 0;
  std::string
      small_input;  // HTML: the trace of the smallest input that fails, of a practice run; not reported
};

// A sentence for each goal and tier whose points a right task lost, and why goals that were missed earned
// points if it is as fast as the reference. `only_measured`: in a run of a part, without what was not
// measured.
std::vector<std::string> lost_points(const TaskResult& task, bool only_measured = false);

struct LabResult {
  std::string id;
  std::string title;
  std::string source;  // "labs/reduction"
  int points = 0;      // without bonus tasks
  int max_points = 0;
  int bonus_points = 0;
  int max_bonus_points = 0;
  std::vector<TaskResult> tasks;
};

struct RunResult {
  std::string device;                        // "Simulated H200"
  std::string clocks;                        // of a GPU during grading: "1980 MHz, 3201 MHz"; "" if unknown
  std::string isolation;                     // isolation of student code: none, limits, namespaces, full
  std::vector<std::string> isolation_parts;  // the parts of the isolation, as text
  bool graded = false;                       // run with --graded: the required isolation was available
  std::string commit;   // of the checkout, with "+" if it has local changes; "" if unknown
  std::string started;  // UTC, ISO 8601
  std::uint64_t seed = 0;
  bool modelled = false;      // kernel times come from the simulator's model
  bool partial = false;       // only some tasks or cases were requested
  bool for_students = false;  // the seed and values are removed, see report/edition.hpp
  double seconds = 0;
  std::vector<LabResult> labs;
};

// The current time in the form of RunResult::started.
std::string utc_now();

void set_failure(CaseRecord& record, lab::Failure failure);

// The record that decides the verdict: INFRA before all others, then the first failure, then the first
// SUSPECT; nullptr if all are OK.
const CaseRecord* deciding_record(const std::vector<CaseRecord>& cases);

// The message of a task of which cases were run: what is wrong with the deciding case, or which points a
// right task lost.
std::string message_of(const TaskResult& task);

// Sums up the points of the lab's tasks.
void add_up(LabResult& lab);
// Cuts the messages of a task and its cases, which a submission can make long, so that a student's result for
// a lab has at most 1 MiB.
void cut_messages(TaskResult& task);

// Whether a fault of the machine or the grader hides the points of a task. The sum of the others is no score.
bool has_infra(const LabResult& lab);
bool has_infra(const RunResult& result);

constexpr int kResultSchema = 1;
nlohmann::json to_json(const RunResult& result);
nlohmann::json to_json(const TaskResult& task);

}  // namespace course::grader
