// SPDX-License-Identifier: MIT
#include "cli/report_files.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/commands.hpp"
#include "report/edition.hpp"
#include "report/formats.hpp"
#include "report/report_file.hpp"

namespace course::grader::cli {
namespace {

struct Report {
  const char* option;
  const char* help;
  std::string ReportFiles::*path;
  std::string (*make)(const RunResult&);
};

constexpr Report kReports[] = {
    {"--json", "The result as JSON: all other reports can be made of it", &ReportFiles::json, json_text},
    {"--html", "A page for people", &ReportFiles::html, to_html},
    {"--csv", "A line for each task", &ReportFiles::csv, to_csv},
    {"--junit", "JUnit XML", &ReportFiles::junit, to_junit},
    {"--gradescope", "Gradescope's results.json", &ReportFiles::gradescope, to_gradescope},
    {"--summary", "A GitHub step summary (Markdown)", &ReportFiles::summary, to_step_summary},
    {"--annotations", "GitHub annotations", &ReportFiles::annotations, to_annotations},
};

}  // namespace

void add_options(CLI::App& command, ReportFiles& files) {
  for (const Report& report : kReports)
    command.add_option(report.option, files.*report.path, report.help)
        ->type_name("FILE")
        ->group("Reports (FILE may be -)");
  command
      .add_option("--edition", files.edition,
                  "Of JSON, HTML, CSV and JUnit: instructor or student (no seed, no values)")
      ->check(CLI::IsMember({"instructor", "student"}))
      ->capture_default_str()
      ->group("Reports (FILE may be -)");
}

void check_all_writable(const ReportFiles& files) {
  for (const Report& report : kReports) need(check_writable(files.*report.path));
}

bool any_on_stdout(const ReportFiles& files) {
  return std::ranges::any_of(kReports, [&](const Report& report) { return files.*report.path == "-"; });
}

bool any_wanted(const ReportFiles& files) {
  return std::ranges::any_of(kReports, [&](const Report& report) { return !(files.*report.path).empty(); });
}

void write_reports(const ReportFiles& files, const RunResult& result) {
  const RunResult shown = files.edition == "student" ? for_students(result) : result;
  for (const Report& report : kReports) {
    const std::string& path = files.*report.path;
    if (!path.empty()) need(write_report(path, report.make(shown)));
  }
}

}  // namespace course::grader::cli
