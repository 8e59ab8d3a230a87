// SPDX-License-Identifier: MIT
#include "report/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "page/page.hpp"
#include "page/table.hpp"
#include "report/edition.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using page::Cell;
using page::Html;
using page::text;
using page::Tone;

Tone tone_of(Verdict verdict, bool has_all_points) {
  switch (row_of(verdict).standing) {
    case lab::Standing::right: return has_all_points ? Tone::good : Tone::fair;
    case lab::Standing::wrong: return Tone::bad;
    case lab::Standing::unsure: return Tone::fair;
    case lab::Standing::absent: return Tone::quiet;
  }
  return Tone::bad;
}

Tone tone_of(const TaskResult& task) {
  return tone_of(task.verdict, task.points == task.max_points);
}

Cell points_cell(int points, int max_points) {
  return {text(fmt::format("{}/{}", points, max_points))};
}

// The reasons for lost points, below the task's title.
Html losses(const TaskResult& task) {
  Html out;
  if (task.verdict != Verdict::ok) return out;
  for (const std::string& line : lost_points(task))
    out += page::raw("<div class=\"loss fair\">") + text(line) + page::raw("</div>");
  return out;
}

Html score_table(const LabResult& lab, bool modelled) {
  page::Table t{.caption = lab.title + ": points by task",
                .columns = {{text("Task")}, {text("Points"), true}, {text("Verdict")}}};
  const bool has_speedups =
      std::ranges::any_of(lab.tasks, [](const TaskResult& task) { return task.timing && task.speedup; });
  if (has_speedups)
    t.columns.push_back(
        {text(modelled ? "Modelled speedup over one CPU thread" : "Speedup over one CPU thread"), true});
  for (const TaskResult& task : lab.tasks) {
    t.rows.push_back({{page::raw("<a href=\"") + text(task.section) + page::raw("\">") + text(task.title) +
                       page::raw("</a>") +
                       (task.bonus ? text(" ") + toned(Tone::quiet, text("bonus")) : Html{}) + losses(task)},
                      points_cell(task.points, task.max_points),
                      {text(lab::name_of(task.verdict)), tone_of(task)}});
    if (has_speedups)
      t.rows.back().push_back(
          {text(task.timing && task.speedup ? fmt::format("{:.1f}×", *task.speedup) : "–")});
  }
  t.foot.push_back({{text("Total")}, points_cell(lab.points, lab.max_points), {}});
  if (has_speedups) t.foot.back().emplace_back();
  return page::table(t);
}

Html case_list(const TaskResult& task) {
  if (task.cases.empty() || task.verdict == Verdict::not_implemented) return {};
  page::Table t{
      .caption = task.title + ": cases run",
      .columns = {
          {text("Case")}, {text("For")}, {text("Device")}, {text("Verdict")}, {text("Seconds"), true}}};
  for (const CaseRecord& record : task.cases)
    t.rows.push_back({{text(record.name)},
                      {text(name_of(record.stage))},
                      {text(name_of(record.device))},
                      {text(lab::name_of(record.verdict)), tone_of(record.verdict, true)},
                      {text(fmt::format("{:.3f}", record.seconds))}});
  return page::details(text(fmt::format("{}: {} case{} run", task.title, task.cases.size(),
                                        task.cases.size() == 1 ? "" : "s")),
                       page::table(t));
}

// The elements around the first wrong one, whose values then need not be said once more.
Html take_first_difference(lab::Mismatch& m) {
  page::Table t{.caption = m.buffer + " around the first wrong element",
                .columns = {{text("Index"), true}, {text("Expected"), true}, {text("Got"), true}}};
  for (std::size_t i = 0; i < m.near_expected.size() && i < m.near_got.size(); ++i) {
    const bool first = m.near_begin() + i == m.index;
    const Tone tone = first ? Tone::bad : Tone::plain;
    t.rows.push_back({{text(fmt::format("{}{}", first ? "→ " : "", m.near_begin() + i)), tone},
                      {text(m.near_expected[i]), tone},
                      {text(m.near_got[i]), tone}});
  }
  if (t.rows.empty()) return {};
  m.expected.clear(), m.got.clear();
  return page::table(t);
}

Html failure_view(const lab::Failure& failure) {
  Html out;
  lab::Failure rest = failure;  // what is not shown apart
  rest.source.clear();
  const std::string why = why_text(rest);
  for (const std::string_view line : lines_of(why)) out += page::paragraph(text(line));
  if (!failure.source.empty()) out += page::code_block(failure.source, "The line of the cause");
  if (rest.mismatch) out += take_first_difference(*rest.mismatch);
  out += page::code_block(what_text(rest), "First wrong element and command");
  std::string printed;
  for (const std::string& line : failure.printed) printed += line + "\n";
  if (!printed.empty()) out += page::details(text("What it printed"), page::code_block(printed, "Output"));
  return out;
}

// A task's message: each failed case, the first one open.
Html failures_of(const TaskResult& task) {
  Html out;
  for (const CaseRecord& record : task.cases) {
    if (!record.failure) continue;
    const Html title = text(fmt::format("Case {} {}", record.name, record.failure->headline));
    const Html view = failure_view(*record.failure);
    out += out.empty() ? page::paragraph(title) + view : page::details(title, view);
  }
  if (out.empty()) out = page::code_block(task.message, task.title + ": message");
  return out + page::raw(task.small_input);
}

Html section_of(const LabResult& lab, bool modelled) {
  Html content = page::paragraph(text(lab.source), Tone::quiet) + score_table(lab, modelled);
  std::vector<std::string> not_there;
  for (const TaskResult& task : lab.tasks)
    if (task.verdict == Verdict::not_implemented) not_there.push_back(task.title);
  if (!not_there.empty())
    content += page::paragraph(
        text(
            fmt::format("Nothing is there yet for: {}. The handout and the TODOs in {}/{}.cu say what to do.",
                        fmt::join(not_there, ", "), lab.source, lab.id)),
        Tone::quiet);
  for (const TaskResult& task : lab.tasks) {
    if (task.message.empty() || task.verdict == Verdict::ok || task.verdict == Verdict::not_implemented)
      continue;
    content += page::subsection(lab.id + ": " + task.title, failures_of(task),
                                toned(tone_of(task), text(lab::name_of(task.verdict))));
  }
  for (const TaskResult& task : lab.tasks) content += case_list(task);
  const std::string bonus =
      lab.max_bonus_points > 0 ? fmt::format(", bonus {}/{}", lab.bonus_points, lab.max_bonus_points) : "";
  return page::section(lab.title, content,
                       text(fmt::format("{}/{} points{}", lab.points, lab.max_points, bonus)));
}

// The points of all labs if there are several.
Html overview(const RunResult& result) {
  if (result.labs.size() < 2) return {};
  page::Table t{.caption = "Points by lab", .columns = {{text("Lab")}, {text("Points")}}};
  for (const LabResult& lab : result.labs)
    t.rows.push_back(
        {{text(lab.title)},
         {page::meter(lab.max_points > 0 ? static_cast<double>(lab.points) / lab.max_points : 0) +
          text(fmt::format(" {}/{}", lab.points, lab.max_points))}});
  return page::table(t);
}

}  // namespace

std::string to_html(const RunResult& result) {
  page::Document document{.title = "Grade report"};
  document.summary =
      text(result.device + (result.modelled ? ", times are modelled" : "")) + page::raw("<br>") +
      toned(Tone::quiet, text(fmt::format("Isolation: {} ({}){}; {}; {:.1f} s.", result.isolation,
                                          fmt::join(result.isolation_parts, ", "),
                                          result.graded ? ", graded" : "", result.started, result.seconds)));
  if (result.partial)
    document.body += page::paragraph(text("Only a part was run: this is not a grade."), Tone::fair);
  document.body += overview(result);
  for (const LabResult& lab : result.labs) {
    document.sections.push_back(lab.title);
    document.body += section_of(lab, result.modelled);
  }
  document.body +=
      page::paragraph(text(fmt::format("Commit {}; seed {}.",
                                       result.commit.empty() ? "unknown" : result.commit, seed_text(result))),
                      Tone::quiet);
  return page::document(document);
}

}  // namespace course::grader
