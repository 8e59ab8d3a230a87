// SPDX-License-Identifier: MIT
#include "grading/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "grading/planning/plan.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

auto place_key(const lab::SimFinding& finding) {
  return std::tie(finding.file, finding.line, finding.checker, finding.kind, finding.other_file,
                  finding.other_line);
}

void merge(CheckReport& report, const lab::SimFinding& finding, const std::string& task,
           const std::string& case_name) {
  const auto same = std::ranges::find_if(report.findings, [&](const CheckedFinding& known) {
    return place_key(known.finding) == place_key(finding);
  });
  if (same == report.findings.end()) {
    report.findings.push_back({finding, {task}, case_name});
    return;
  }
  same->finding.times += finding.times;
  if (std::ranges::find(same->tasks, task) == same->tasks.end()) same->tasks.push_back(task);
}

std::string indented_source(const SourceLine& source_line, const std::string& file, std::uint32_t line) {
  std::string text = tame(source_line(file, line));
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.empty()) return "";
  return wrap_beside(fmt::format("    {:>4} | ", line), text, terminal_columns()) + "\n";
}

std::string task_line(const CheckedTask& task) {
  return fmt::format("  {}: {}\n", task.id,
                     task.verdict == Verdict::ok ? fmt::format("{} cases checked", task.cases_run)
                     : task.verdict == Verdict::not_implemented ? "not implemented yet"
                                                                : std::string(lab::name_of(task.verdict)));
}

}  // namespace

CheckReport check_lab(const lab::Problem& problem, CaseRunner& runner, const RunContext& context,
                      const std::optional<std::string>& only_task,
                      const std::function<void(const std::string&)>& progress) {
  CheckReport report;
  report.lab = problem.manifest().id;
  report.folder = (context.solutions ? "solutions/" : "labs/") + report.lab;
  std::vector<lab::Task> tasks(problem.manifest().tasks.begin(), problem.manifest().tasks.end());
  // Only the solutions have further rungs.
  const auto& further = problem.manifest().further_rungs;
  if (context.solutions) tasks.insert(tasks.end(), further.begin(), further.end());
  for (const lab::Task& task : tasks) {
    if (only_task && *only_task != task.id) continue;
    CheckedTask checked;
    checked.id = task.id;
    const Plan plan = checks_plan(problem.cases(task));
    for (const Step& step : plan.steps) {
      if (step.stage != Stage::checks) continue;
      const lab::Case& c = plan.cases[step.case_index];
      if (progress) progress(fmt::format("{} {} {}", report.lab, task.id, c.name));
      const lab::Outcome outcome =
          runner.run(problem, task, c, context.seed_of(Stage::checks, task.id, c.name), step.measure);
      ++checked.cases_run;
      for (const lab::SimFinding& finding : lab::read_sim_report(outcome.sim_report).findings)
        merge(report, finding, checked.id, c.name);
      if (outcome.verdict == Verdict::ok || checked.verdict != Verdict::ok) continue;
      checked.verdict = outcome.verdict;
      checked.message = outcome.message();
      // Every case would give the same result, and each hang would take the whole time limit.
      if (outcome.verdict == Verdict::not_implemented || outcome.verdict == Verdict::time_limit) break;
    }
    report.tasks.push_back(std::move(checked));
  }
  std::ranges::stable_sort(report.findings, [](const CheckedFinding& a, const CheckedFinding& b) {
    const bool first = lab::is_failed_call(a.finding);
    if (first != lab::is_failed_call(b.finding)) return first;
    return place_key(a.finding) < place_key(b.finding);
  });
  return report;
}

std::string to_text(const CheckReport& report, const SourceLine& source_line) {
  std::string out = report.lab + "\n";
  for (const CheckedTask& task : report.tasks) out += task_line(task);
  // Paths that open from the checkout's folder.
  const auto with_paths = [&](const std::string& text) {
    return with_folder(text, report.folder, report.lab + ".cu");
  };
  for (const CheckedFinding& entry : report.findings) {
    const lab::SimFinding& finding = entry.finding;
    const bool failed_call = lab::is_failed_call(finding);
    const bool hint = lab::weight_of(finding) == lab::Weight::hint && !failed_call;
    out += fmt::format("\n{}: {}{}\n", finding.checker, tame(finding.kind),
                       hint          ? " (a hint: no fault)"
                       : failed_call ? " (other findings may come of it)"
                                     : "");
    out += wrap(with_paths(tame(lab::one_line(finding))), 78, 2) + "\n";
    out += indented_source(source_line, finding.file, finding.line);
    if (std::tie(finding.other_file, finding.other_line) != std::tie(finding.file, finding.line))
      out += indented_source(source_line, finding.other_file, finding.other_line);
    out += fmt::format("  in {}; first seen in case {}\n", fmt::join(entry.tasks, ", "), entry.first_case);
  }
  // Failures that no finding explains.
  for (const CheckedTask& task : report.tasks) {
    const bool explained = std::ranges::any_of(report.findings, [&](const CheckedFinding& entry) {
      return std::ranges::find(entry.tasks, task.id) != entry.tasks.end();
    });
    if (explained || task.message.empty() || task.verdict == Verdict::not_implemented) continue;
    out += "\n" + wrap_message(with_paths(task.message), 80);
  }
  if (report.findings.empty()) {
    const bool all_fine = std::ranges::all_of(
        report.tasks, [](const CheckedTask& task) { return task.verdict == Verdict::ok; });
    out += all_fine ? "\nNothing found.\n" : "\nThe checkers found nothing in what could be run.\n";
  } else {
    out += fmt::format("\n{} finding{}.\n", report.findings.size(), report.findings.size() == 1 ? "" : "s");
  }
  return out;
}

}  // namespace course::grader
