// SPDX-License-Identifier: MIT
// Every text that is not written here goes through escape_markup().
#include "html.hpp"

#include <fmt/format.h>

#include "markup.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Grade report</title>
<style>
:root { color-scheme: light dark; --text: #1b1b1f; --back: #fff; --soft: #f2f3f6; --line: #c9ccd4; --quiet: #565a66;
  --good: #11682f; --fair: #7a5200; --bad: #a11616; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e7ea; --back: #16171b; --soft: #212329; --line: #43464f;
  --quiet: #a7abb7; --good: #6fd08c; --fair: #e6b450; --bad: #ff8f8f; } }
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 auto;
  max-width: 62rem; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.quiet { color: var(--quiet); } .good { color: var(--good); } .fair { color: var(--fair); } .bad { color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tfoot td { font-weight: 600; border-bottom: 0; }
.loss { font-size: .9rem; }
pre { background: var(--soft); padding: .7rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  border-radius: .3rem; }
summary { cursor: pointer; }
@media print { body { max-width: none; } pre { border: 1px solid var(--line); } }
</style>
</head>
<body>
<main>
)";

const char* class_of(const TaskResult& task) {
  switch (task.verdict) {
    case Verdict::ok: return task.points == task.max_points ? "good" : "fair";
    case Verdict::suspect:
    case Verdict::infra: return "fair";
    case Verdict::not_implemented: return "quiet";
    default: return "bad";
  }
}

std::string speedup_cell(const TaskResult& task, lab::Baseline which) {
  const bool known = task.timing && task.speedup && task.timing->speedup_over(which) > 0;
  return fmt::format("<td class=\"number\">{}</td>",
                     known ? fmt::format("{:.1f}×", task.timing->speedup_over(which)) : "–");
}

std::string losses(const TaskResult& task) {
  if (task.verdict != Verdict::ok) return "";
  std::string out;
  for (const GoalScore& goal : task.goals) {
    if (goal.points >= goal.max_points) continue;
    out += fmt::format("<div class=\"loss fair\">{}: {}, limit {} {:.4g} (−{})</div>",
                       escape_markup(lab::name_of(goal.metric)),
                       goal.measured ? fmt::format("{:.4g}", *goal.measured) : escape_markup(goal.note),
                       lab::at_least(goal.metric) ? "≥" : "≤", goal.limit, goal.max_points - goal.points);
  }
  for (const TierScore& tier : task.tiers) {
    if (tier.points >= tier.max_points) continue;
    out += fmt::format("<div class=\"loss fair\">speedup {:.4g}× not reached (−{})</div>", tier.speedup,
                       tier.max_points - tier.points);
  }
  return out;
}

std::string row(const TaskResult& task) {
  return fmt::format(
      "<tr><th scope=\"row\">{}{}{}</th><td class=\"{}\">{}</td><td class=\"number\">{}/{}</td>{}{}</tr>\n",
      escape_markup(task.title), task.bonus ? " <span class=\"quiet\">bonus</span>" : "", losses(task),
      class_of(task), escape_markup(lab::name_of(task.verdict)), task.points, task.max_points,
      speedup_cell(task, lab::Baseline::one_thread), speedup_cell(task, lab::Baseline::all_cores));
}

std::string case_list(const TaskResult& task) {
  if (task.cases.empty()) return "";
  std::string out = fmt::format(
      "<details><summary>{}: {} cases run</summary><div class=\"wide\"><table><thead><tr>"
      "<th scope=\"col\">Case</th><th scope=\"col\">For</th><th scope=\"col\">Device</th>"
      "<th scope=\"col\">Verdict</th><th scope=\"col\" class=\"number\">Seconds</th></tr>"
      "</thead><tbody>\n",
      escape_markup(task.title), task.cases.size());
  for (const CaseRecord& record : task.cases) {
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td "
        "class=\"number\">{:.3f}</td></tr>\n",
        escape_markup(record.name), name_of(record.stage), name_of(record.device),
        record.verdict == Verdict::ok ? "good" : "bad", escape_markup(lab::name_of(record.verdict)),
        record.seconds);
  }
  return out + "</tbody></table></div></details>\n";
}

std::string section(const LabResult& lab, bool modelled) {
  const char* speedup = modelled ? "Speedup (modelled)" : "Speedup";
  std::string out = fmt::format(
      "<section><h2>{}: {}/{} points{}</h2>\n<p class=\"quiet\">{}</p>\n<div "
      "class=\"wide\"><table>\n<thead><tr>"
      "<th scope=\"col\">Task</th><th scope=\"col\">Verdict</th><th scope=\"col\" "
      "class=\"number\">Points</th>"
      "<th scope=\"col\" class=\"number\">{}<br>over 1 thread</th>"
      "<th scope=\"col\" class=\"number\">{}<br>over all cores</th></tr></thead>\n<tbody>\n",
      escape_markup(lab.title), lab.points, lab.max_points,
      lab.max_bonus_points > 0 ? fmt::format(", bonus {}/{}", lab.bonus_points, lab.max_bonus_points) : "",
      escape_markup(lab.source), speedup, speedup);
  for (const TaskResult& task : lab.tasks) out += row(task);
  out += fmt::format(
      "</tbody>\n<tfoot><tr><td>Total</td><td></td><td class=\"number\">{}/{}</td><td></td><td></td></tr>"
      "</tfoot>\n</table></div>\n",
      lab.points, lab.max_points);
  for (const TaskResult& task : lab.tasks) {
    if (task.message.empty() || task.verdict == Verdict::ok) continue;
    out +=
        fmt::format("<h3>{}: <span class=\"{}\">{}</span></h3>\n<pre>{}</pre>\n", escape_markup(task.title),
                    class_of(task), escape_markup(lab::name_of(task.verdict)), escape_markup(task.message));
  }
  for (const TaskResult& task : lab.tasks) out += case_list(task);
  return out + "</section>\n";
}

}  // namespace

std::string to_html(const RunResult& result) {
  std::string out = kHead;
  out += "<h1>Grade report</h1>\n";
  out += fmt::format(
      "<p>{}{}<br><span class=\"quiet\">Isolation: {}; commit {}; seed {:#x}; {}; {:.1f} s.</span></p>\n",
      escape_markup(result.device), result.modelled ? ", times are modelled" : "",
      escape_markup(fmt::format("{} ({}){}", result.isolation, fmt::join(result.isolation_parts, ", "),
                                result.graded ? ", graded" : "")),
      escape_markup(result.commit.empty() ? "unknown" : result.commit), result.seed,
      escape_markup(result.started), result.seconds);
  if (result.partial) out += "<p class=\"fair\">Only a part was run: this is no grade.</p>\n";
  for (const LabResult& lab : result.labs) out += section(lab, result.modelled);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace course::grader
