// SPDX-License-Identifier: MIT
// Points from evidence. Pure: nothing is run, read or timed here.
// Rules: every score starts at 0. Correctness is all or nothing for a task. Efficiency and speedup count only
// when every case that was run for the task, of whatever stage, was right. A SUSPECT time keeps correctness
// and efficiency and withholds the speedup until a person has looked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/plan.hpp"
#include "report/result.hpp"

namespace course::grader {

// A case whose output was wrong: the message on it can be written again once the others are known.
struct FailedOutput {
  std::size_t record = 0;  // in Evidence::cases
  lab::Failure failure;
  std::string more;  // lines after the message: what it printed
  std::uint64_t seed = 0;
};

// What is known about one task after its cases were run.
struct Evidence {
  int cases_planned = 0;                  // correctness steps of the plan
  bool complete = false;                  // every step of the plan was run
  std::vector<CaseRecord> cases;          // in the order run
  std::vector<FailedOutput> failed;       // of those
  std::map<lab::Metric, double> metrics;  // the worst over the efficiency cases
  std::vector<Timing> timings;            // of the speedup cases
};

// Verdict, points and their parts; `message` is what the records and the lost goals give. An empty evidence
// scores 0, INFRA.
TaskResult score_task(const lab::Task& task, const Evidence& evidence);

// A task whose lab could not be built, or could not be run at all.
TaskResult unscored_task(const lab::Task& task, lab::Verdict verdict, std::string message);

// The record that decides the verdict: INFRA before any other failure, then the first that is not OK; null
// when all are.
const CaseRecord* deciding_record(const std::vector<CaseRecord>& cases);

}  // namespace course::grader
