// SPDX-License-Identifier: MIT
// The reports that a command writes, each to a file or to stdout ("-"). The options are the same for `grade`
// and `report`.
#pragma once

#include <string>

#include "report/result.hpp"

namespace CLI {
class App;
}

namespace course::grader::cli {

struct ReportFiles {
  std::string json, junit, html, csv, gradescope, summary, annotations;
  std::string edition = "instructor";  // or "student", see report/edition.hpp
};

void add_options(CLI::App& command, ReportFiles& files);

// Throws if a report could not be written. To be called before grading.
void check_all_writable(const ReportFiles& files);

// Whether a report is written to stdout. Nothing else may be printed there then, because a program reads it.
bool any_on_stdout(const ReportFiles& files);
bool any_wanted(const ReportFiles& files);

void write_reports(const ReportFiles& files, const RunResult& result);

}  // namespace course::grader::cli
