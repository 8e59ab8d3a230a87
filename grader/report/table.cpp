// SPDX-License-Identifier: MIT
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "report/edition.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

// Columns: 2 + task + 1 + verdict + 1 + points + 2 + speedup = 70.
constexpr std::size_t kTask = 32, kVerdict = 16, kPoints = 8, kSpeedup = 8;

enum class Colour { none, good, fair, bad, dim, bold };

class Writer {
 public:
  explicit Writer(const TableStyle& style) : style_(style) {}

  void put(std::string_view text, Colour colour = Colour::none) {
    constexpr const char* kCodes[] = {"", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m", "\x1b[1m"};
    const char* code = kCodes[static_cast<std::size_t>(colour)];
    const bool coloured = style_.colour && *code != '\0' && !text.empty();
    if (coloured) out_ += code;
    out_ += text;
    if (coloured) out_ += "\x1b[0m";
  }
  void line(std::string_view text = "", Colour colour = Colour::none) {
    put(fit(text), colour);
    out_ += "\n";
  }
  void end_line() {
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    out_ += "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string fit(std::string_view text) {
    const std::string line = tame_line(text);
    return display_width(line) <= kTableColumns ? line : wrap(line, kTableColumns);
  }
  const TableStyle& style_;
  std::string out_;
};

Colour colour_of(const TaskResult& task) {
  switch (row_of(task.verdict).standing) {
    case lab::Standing::right: return task.points == task.max_points ? Colour::good : Colour::fair;
    case lab::Standing::wrong: return Colour::bad;
    case lab::Standing::unsure: return Colour::fair;
    case lab::Standing::absent: return Colour::dim;
  }
  return Colour::bad;
}

std::string speedup_text(double speedup) {
  if (!(speedup > 0)) return "-";
  if (speedup >= 99999.5) return ">99999x";
  return speedup < 100 ? fmt::format("{:.1f}x", speedup) : fmt::format("{:.0f}x", speedup);
}

void write_row(Writer& out, const TaskResult& task) {
  // The id, because it is what --task takes.
  const std::string name = tame_line(task.id) + (task.bonus ? " (bonus)" : "");
  out.put("  " + fit_left(name, kTask) + " ");
  out.put(fit_left(lab::name_of(task.verdict), kVerdict), colour_of(task));
  out.put(" ");
  out.put(fit_right(fmt::format("{}/{}", task.points, task.max_points), kPoints), colour_of(task));
  if (!task.tiers.empty())
    out.put("  " + fit_right(task.speedup ? speedup_text(*task.speedup) : "-", kSpeedup));
  out.end_line();
}

// The reasons why an OK task lost points; in a partial run only for measured goals.
void write_losses(Writer& out, const std::string& lab, const TaskResult& task, bool partial) {
  if (task.verdict != Verdict::ok) return;
  for (const std::string& line : lost_points(task, partial))
    out.put(wrap("- " + tame_line(line), kTableColumns, 4) + "\n", Colour::fair);
  if (std::ranges::any_of(task.goals,
                          [](const GoalScore& goal) { return goal.measured && !goal.note.empty(); }))
    out.line(fmt::format("      what each line costs: ./lab profile {} {}", lab, task.id), Colour::dim);
}

void write_messages(Writer& out, const LabResult& lab, const TableStyle& style) {
  const std::vector<const TaskResult*> failed = failed_tasks(lab);
  const std::size_t n_shown = std::min(failed.size(), style.max_messages);
  for (std::size_t i = 0; i < n_shown; ++i)
    out.put(failure_head(*failed[i], style) + failure_end(*failed[i], style));
  if (const std::size_t n_left = failed.size() - n_shown; n_shown > 0 && n_left > 0) {
    out.line();
    out.line(fmt::format("{} more task{} failed; --task shows one, --json F has all.", n_left,
                         n_left == 1 ? "" : "s"),
             Colour::dim);
  }
}

void write_lab(Writer& out, const LabResult& lab, bool partial, const TableStyle& style) {
  out.line();
  out.put("  " + fit_left(tame_line(lab.title), kTask + 1 + kVerdict + 1), Colour::bold);
  out.put(fit_right("points", kPoints) + "  " + fit_right("speedup", kSpeedup), Colour::dim);
  out.end_line();
  for (const TaskResult& task : lab.tasks) {
    write_row(out, task);
    write_losses(out, lab.id, task, partial);
  }
  const bool full = lab.points == lab.max_points && lab.max_points > 0;
  out.put("  " + fit_left(tame_line(lab.source), kTask + 1 + kVerdict + 1), Colour::dim);
  // All tasks of a lab may be bonus tasks.
  const std::string points = lab.max_points > 0 ? fmt::format("{}/{}", lab.points, lab.max_points) : "";
  out.put(fit_right(points, kPoints), full ? Colour::good : Colour::bold);
  if (lab.max_bonus_points > 0) out.put(fmt::format("  bonus {}/{}", lab.bonus_points, lab.max_bonus_points));
  out.end_line();
  write_messages(out, lab, style);
}

bool any_not_implemented(const RunResult& result) {
  return std::ranges::any_of(result.labs, [](const LabResult& lab) {
    return std::ranges::any_of(
        lab.tasks, [](const TaskResult& task) { return task.verdict == Verdict::not_implemented; });
  });
}

// The timing of the first task that has one; nullptr if none has.
const Timing* first_timing(const RunResult& result) {
  for (const LabResult& lab : result.labs)
    for (const TaskResult& task : lab.tasks)
      if (task.timing && task.speedup) return &*task.timing;
  return nullptr;
}

// The failure that decides a task's verdict; nullptr if its message is not about a case.
const lab::Failure* failure_of(const TaskResult& task) {
  const CaseRecord* deciding = deciding_record(task.cases);
  return deciding != nullptr && deciding->failure ? &*deciding->failure : nullptr;
}

}  // namespace

TableStyle style_for_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  TableStyle style;
  style.colour = isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
                 term != nullptr && std::string_view(term) != "dumb";
  return style;
}

std::vector<const TaskResult*> failed_tasks(const LabResult& lab) {
  std::vector<const TaskResult*> failed;
  for (const TaskResult& task : lab.tasks) {
    const bool quiet = task.verdict == Verdict::ok || task.verdict == Verdict::not_implemented;
    if (!quiet && !task.message.empty() && (failed.empty() || failed.back()->message != task.message))
      failed.push_back(&task);
  }
  return failed;
}

std::string failure_head(const TaskResult& task, const TableStyle& style) {
  Writer out(style);
  out.line();
  const bool some = task.cases_failed > 0 && task.cases_planned > 1;
  out.line(fmt::format("{} ({}): {}{}", task.title, task.id, lab::name_of(task.verdict),
                       some ? fmt::format(", {} of {} cases", task.cases_failed, task.cases_run) : ""),
           Colour::bold);
  const lab::Failure* failure = failure_of(task);
  const std::string text = style.whole || failure == nullptr ? task.message : why_text(*failure);
  std::string wrapped = wrap_message(text, kTableColumns, style.whole || failure == nullptr ? 2 : 0);
  const auto n_lines = static_cast<std::size_t>(std::ranges::count(wrapped, '\n'));
  const std::size_t most = failure == nullptr ? kFailureLines - 1 : kFailureLines / 2 + 1;
  if (!style.whole && n_lines > most) wrapped = first_lines(wrapped, most - 1) + ": --more\n";
  out.put(wrapped);
  return out.take();
}

std::string failure_end(const TaskResult& task, const TableStyle& style) {
  const lab::Failure* failure = failure_of(task);
  if (style.whole || failure == nullptr) return "";
  std::string text;
  if (failure->headline != "is wrong")
    text = fmt::format("  case {} {}\n", failure->case_name, failure->headline);
  if (!failure->has_cause() && !failure->printed.empty())
    text += fmt::format("  it printed: {}\n", failure->printed.back());
  return wrap_message(text + what_text(*failure), kTableColumns, 0);
}

std::string to_table(const RunResult& result, const TableStyle& style) {
  Writer out(style);
  out.line(fmt::format("Device: {}{}   seed: {}   {:.1f} s", result.device,
                       result.modelled ? " (times are modelled)" : "", seed_text(result), result.seconds));
  out.line(fmt::format(
      "Isolation: {}{}{}", result.isolation,
      result.isolation_parts.empty() ? "" : fmt::format(" ({})", fmt::join(result.isolation_parts, ", ")),
      result.graded ? ", graded" : ""));
  for (const LabResult& lab : result.labs) write_lab(out, lab, result.partial, style);
  if (const Timing* timing = first_timing(result)) {
    out.line();
    out.line(
        fmt::format("Speedup: {}kernel time against one thread of {}.", result.modelled ? "modelled " : "",
                    timing->baseline_runs == 0 ? "an H200's host" : "this CPU"),
        Colour::dim);
  }
  if (any_not_implemented(result))
    out.line("NOT_IMPLEMENTED: the function still returns it; see the handout and the TODO.", Colour::dim);
  if (result.partial)
    out.line("Only a part was run, so this is not a grade: what was not measured gives no points.",
             Colour::dim);
  return out.take();
}

}  // namespace course::grader
