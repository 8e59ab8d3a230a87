// SPDX-License-Identifier: MIT
// The reports that a command writes, each to a file or to stdout ("-"): one option each, the same for `grade` and `report`.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/result.hpp"

namespace CLI {
class App;
}

namespace course::grader::cli {

struct ReportFiles {
  std::string json, junit, html, csv, gradescope, classroom, summary, annotations;
  std::string edition = "instructor";  // or "student", for what is not a student's anyway
};

void add_options(CLI::App& command, ReportFiles& files);

// An Error early when one could not be written.
Result<void> check_all_writable(const ReportFiles& files);

// A report on stdout is to be read by a program: nothing else goes there then.
bool any_on_stdout(const ReportFiles& files);
bool any_wanted(const ReportFiles& files);

Result<void> write_reports(const ReportFiles& files, const RunResult& result);

}  // namespace course::grader::cli
