// SPDX-License-Identifier: MIT
// Runs every checker of the simulator over small cases of a lab's tasks and gathers the findings by source
// line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/case_runner.hpp"
#include "grading/explain.hpp"
#include "grading/metrics.hpp"

namespace course::grader {

// One finding, merged over tasks and cases that show it at the same place.
struct CheckedFinding {
  ReportedFinding finding;  // as first seen; times summed
  std::vector<std::string> tasks;
  std::string first_case;
};

struct CheckedTask {
  std::string id;
  int cases_run = 0;
  lab::Verdict verdict = lab::Verdict::ok;  // the first case's that is not OK
  std::string message;                      // and what it said
};

struct CheckReport {
  std::string lab;
  std::vector<CheckedTask> tasks;
  std::vector<CheckedFinding> findings;  // by file and line
};

CheckReport check_lab(const lab::Problem& problem, CaseRunner& runner, const RunContext& context,
                      const std::optional<std::string>& only_task,
                      const std::function<void(const std::string&)>& progress);

// The text of a source line, "" when it can't be read.
using SourceLine = std::function<std::string(const std::string& file, std::uint32_t line)>;
// Reads files below `root` only: file names come out of the student's binary.
SourceLine source_lines_below(const std::string& root);

std::string to_text(const CheckReport& report, const SourceLine& source_line);

}  // namespace course::grader
