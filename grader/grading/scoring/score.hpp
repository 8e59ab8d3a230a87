// SPDX-License-Identifier: MIT
// Computes points from evidence; runs, reads and times nothing.
// Rules: every score starts at 0. Correctness is all or nothing for a task. Efficiency and speedup count only
// if every case that was run for the task, of any stage, was right. With a SUSPECT time, correctness and
// efficiency count, and the points for speedup are withheld until a person has examined it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/planning/plan.hpp"
#include "report/result.hpp"

namespace course::grader {

// What is known about one task after its cases were run.
struct Evidence {
  int cases_planned = 0;                  // correctness steps of the plan
  bool complete = false;                  // every step of the plan was run
  std::vector<CaseRecord> cases;          // in the order run
  std::vector<std::size_t> failed;        // those with a wrong output: indices in `cases`
  std::map<lab::Metric, double> metrics;  // the worst over the efficiency cases
  double time_ratio = 0;                  // modelled time ÷ Task::reference_us; 0: not known
  // For a metric the line with most of it in the worst case, if it is known.
  std::map<lab::Metric, std::string> places;
  std::vector<Timing> timings;  // of the speedup cases
  std::string device;           // the name of the task's device; "" if no case has run there
};

// Computes the verdict, the points and their parts, and the message from the records and missed goals. Empty
// evidence gives 0 points and INFRA.
TaskResult score_task(const lab::Task& task, const Evidence& evidence);

// Adds the points of a task whose verdict is OK or SUSPECT, with goals and tiers: what the evidence is worth.
void give_points(const Evidence& evidence, TaskResult& out);

// The result of a task whose lab could not be built or run.
TaskResult unscored_task(const lab::Task& task, lab::Verdict verdict, std::string message);

}  // namespace course::grader
