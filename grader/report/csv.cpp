// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "report/edition.hpp"
#include "report/formats.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

// A quoted cell that is never a formula: spreadsheets execute cells that begin with = + - @, some also after
// blanks. The rule is that of `cell` in grader/batch/gradebook.py.
std::string cell(const std::string& text) {
  std::string inside = tame(text);
  const std::size_t first = inside.find_first_not_of(" \t\n");
  if (inside.starts_with('\t') || (first != std::string::npos && first == inside.find_first_of("=+-@")))
    inside.insert(0, 1, '\'');
  std::string out = "\"";
  for (const char c : inside) {
    if (c == '"') out += '"';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

}  // namespace

std::string to_csv(const RunResult& result) {
  std::string out =
      "started,device,graded,seed,lab,task,title,bonus,verdict,points,max_points,correctness_points,speedup,"
      "cases_run,cases_failed,seconds,message\r\n";
  for (const LabResult& lab : result.labs) {
    for (const TaskResult& task : lab.tasks) {
      const bool infra = task.verdict == lab::Verdict::infra;  // not 0 points: the points are unknown
      const std::vector<std::string> cells{
          cell(result.started),
          cell(result.device),
          result.graded ? "1" : "0",
          cell(seed_text(result)),
          cell(lab.id),
          cell(task.id),
          cell(task.title),
          task.bonus ? "1" : "0",
          std::string(lab::name_of(task.verdict)),
          infra ? "" : std::to_string(task.points),
          std::to_string(task.max_points),
          infra ? "" : std::to_string(task.correctness_points),
          task.speedup ? number(*task.speedup) : "",
          std::to_string(task.cases_run),
          std::to_string(task.cases_failed),
          number(task.seconds),
          cell(task.message),
      };
      out += fmt::format("{}\r\n", fmt::join(cells, ","));
    }
  }
  return out;
}

}  // namespace course::grader
