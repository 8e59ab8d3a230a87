// SPDX-License-Identifier: MIT
// A result with every kind of content, for the tests of reports.
#pragma once

#include "report/result.hpp"

namespace course::grader::testing {

inline TaskResult sample_task(const std::string& id, lab::Verdict verdict, int points, int max_points) {
  TaskResult task;
  task.id = id;
  task.title = "Task " + id;
  task.section = "handouts/01-reduction.md#" + id;
  task.verdict = verdict;
  task.points = task.correctness_points = points;
  task.max_points = task.max_correctness_points = max_points;
  task.seconds = 1.5;
  return task;
}

inline RunResult sample_result() {
  TaskResult good = sample_task("good", lab::Verdict::ok, 45, 50);
  good.goals = {{lab::Metric::bank_conflicts, 1.05, "row", 3.2, 0, 5, "why"},
                {lab::Metric::contention, 1, "item", {}, 5, 5, ""}};
  good.tiers = {{2, 5, 5}};
  good.speedup = 85.25;
  good.metrics = {{"bank_conflicts", 3.25}};
  Timing timing;
  timing.case_name = "sum_i32_n16777216_random";
  timing.modelled = true;
  timing.kernel_us = 10;
  timing.cpu_us = 852.5;
  timing.kernel_runs = 1;
  timing.baseline_runs = 7;
  good.timing = timing;
  TaskResult wrong = sample_task("wrong", lab::Verdict::wrong_answer, 0, 50);
  CaseRecord record;
  record.name = "n33";
  record.stage = Stage::checks;
  record.verdict = lab::Verdict::wrong_answer;
  record.seconds = 0.25;
  lab::Failure failure;
  failure.lab = "reduction", failure.task = "wrong", failure.case_name = "n33";
  failure.section = wrong.section;
  failure.headline = "differs";
  failure.command = "./lab grade reduction --task wrong --case n33 --seed 4711";
  failure.mismatch = lab::Mismatch{"d_out", 0, "31337", "271828", 5, 33, "every second one"};
  failure.findings.resize(1);
  failure.findings[0].message = "reduction.cu:42: race on s_data[31337] (thread 1 of block 0)";
  failure.findings[0].object = "s_data[31337]";
  failure.proved = true;
  failure.printed = {"item 31337"};
  set_failure(record, failure);
  wrong.message = record.message;
  wrong.cases = {record};
  wrong.cases_planned = 10;
  wrong.cases_run = wrong.cases_failed = 1;
  TaskResult bonus = sample_task("bonus", lab::Verdict::not_implemented, 0, 10);
  bonus.bonus = true;
  LabResult lab;
  lab.id = "reduction";
  lab.title = "Reduction";
  lab.source = "labs/reduction";
  lab.tasks = {good, wrong, bonus};
  add_up(lab);
  RunResult result;
  result.device = "Simulated H200";
  result.isolation = "full";
  result.isolation_parts = {"namespaces", "limits"};
  result.graded = true;
  result.commit = std::string(40, 'a');
  result.started = "2024-06-11T10:00:00Z";
  result.seed = 0xfedcba9876543210U;
  result.modelled = true;
  result.seconds = 12.5;
  result.labs = {lab};
  return result;
}

}  // namespace course::grader::testing
