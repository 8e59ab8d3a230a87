// SPDX-License-Identifier: MIT
// For ./lab check: runs small cases of a lab's tasks with all checkers of the simulator, and lists the
// findings by source line. Grades nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/case_runner.hpp"
#include "grading/run_context.hpp"
#include "source_lines.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {

// One finding, merged over the tasks and cases that have it at the same place.
struct CheckedFinding {
  lab::SimFinding finding;  // the first occurrence, with the sum of `times`
  std::vector<std::string> tasks;
  std::string first_case;
};

struct CheckedTask {
  std::string id;
  int cases_run = 0;
  lab::Verdict verdict = lab::Verdict::ok;  // of the first case that is not OK
  std::string message;                      // of the same case
};

struct CheckReport {
  std::string lab;
  std::string folder;  // of the file that was checked: "labs/scan"
  std::vector<CheckedTask> tasks;
  std::vector<CheckedFinding> findings;  // failed calls first, then by file and line
};

CheckReport check_lab(const lab::Problem& problem, CaseRunner& runner, const RunContext& context,
                      const std::optional<std::string>& only_task,
                      const std::function<void(const std::string&)>& progress);

std::string to_text(const CheckReport& report, const SourceLine& source_line);

}  // namespace course::grader
