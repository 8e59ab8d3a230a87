// SPDX-License-Identifier: MIT
// labcli report: converts a result that `grade --json` has written to other forms.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/report_files.hpp"
#include "report/edition.hpp"
#include "report/read_result.hpp"
#include "report/table.hpp"

namespace course::grader::cli {
namespace {

struct ReportOptions {
  std::string result;
  ReportFiles files;
};

constexpr const char* kReportFooter = R"(
Examples:
  ./lab report result.json                          the score table once more
  ./lab report result.json --html report.html --csv points.csv
  ./lab report result.json --edition student --html for-the-student.html
  ./lab grade --json - | ./lab report - --gradescope results.json)";

int run_report(const ReportOptions& options) {
  check_all_writable(options.files);
  const RunResult result = need(read_result(options.result));
  if (!any_wanted(options.files)) {
    const RunResult shown = options.files.edition == "student" ? for_students(result) : result;
    std::fputs(to_table(shown, style_for_stdout()).c_str(), stdout);
  }
  write_reports(options.files, result);
  return kRan;
}

}  // namespace

void add_report(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("report", "Turn a result.json into other reports");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULT", options->result, "What grade --json wrote; - for stdin")->required();
  add_options(*command, options->files);
  command->footer(kReportFooter);
  command->callback([&run, options] { run = [options] { return run_report(*options); }; });
}

}  // namespace course::grader::cli
