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

// Columns: 2 + task + 1 + verdict + 1 + points + 2 + one thread + 1 + all cores = 80.
constexpr std::size_t kTask = 32, kVerdict = 16, kPoints = 8, kSpeedup = 8;

enum class Colour { none, good, fair, bad, dim, bold };

class Writer {
 public:
  explicit Writer(const TableStyle& style) : style_(style) {}

  void put(std::string_view text, Colour colour = Colour::none) {
    const char* code = "";
    switch (colour) {
      case Colour::none: break;
      case Colour::good: code = "\x1b[32m"; break;
      case Colour::fair: code = "\x1b[33m"; break;
      case Colour::bad: code = "\x1b[31m"; break;
      case Colour::dim: code = "\x1b[2m"; break;
      case Colour::bold: code = "\x1b[1m"; break;
    }
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
    return display_width(line) <= kTableColumns ? line : fit_left(line, kTableColumns);
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
  const auto speedup = [&](lab::Baseline which) {
    return task.timing && task.speedup ? speedup_text(task.timing->speedup_over(which)) : std::string("-");
  };
  const bool timed = !task.tiers.empty();
  out.put("  " + fit_right(timed ? speedup(lab::Baseline::one_thread) : "", kSpeedup) + " " +
          fit_right(timed ? speedup(lab::Baseline::all_cores) : "", kSpeedup));
  out.end_line();
}

// The reasons why an OK task lost points, and the lines that cost most; in a partial run only for measured
// goals.
void write_losses(Writer& out, const std::string& lab, const TaskResult& task, bool partial) {
  if (task.verdict != Verdict::ok) return;
  bool has_place = false;
  for (const GoalScore& goal : task.goals) {
    if (goal.points >= goal.max_points || (partial && !goal.measured)) continue;
    const std::string measured = goal.measured ? beside(*goal.measured, goal.limit) : goal.note;
    out.line(fmt::format("    - {}: {}, limit {} {:.4g}: {} of {} points", name_with_unit(goal), measured,
                         lab::at_least(goal.metric) ? ">=" : "<=", goal.limit, goal.points, goal.max_points),
             Colour::fair);
    if (!goal.measured || goal.note.empty()) continue;
    out.line("        " + goal.note, Colour::dim);
    has_place = true;
  }
  if (const std::string fast = as_fast_text(task); !fast.empty()) out.line("    + " + fast, Colour::good);
  if (has_place)
    out.line(fmt::format("        what each line costs: ./lab profile {} {}", lab, task.id), Colour::dim);
  for (const TierScore& tier : task.tiers) {
    if (tier.points >= tier.max_points || (partial && !task.speedup)) continue;
    const std::string over =
        !task.timing || task.timing->judged == lab::Baseline::one_thread ? "one CPU thread" : "all CPU cores";
    const std::string asked = speedup_text(tier.speedup);
    std::string measured = task.speedup ? speedup_text(*task.speedup) : "not measured";
    if (measured == asked) measured = beside(*task.speedup, tier.speedup) + "x";
    out.line(fmt::format("    - speedup over {}: {}, asked for {}: 0 of {} points", over, measured, asked,
                         tier.max_points),
             Colour::fair);
  }
}

void write_messages(Writer& out, const LabResult& lab, std::size_t max_messages) {
  std::size_t n_shown = 0, n_left = 0;
  std::string previous;
  for (const TaskResult& task : lab.tasks) {
    // Lost points of OK tasks are shown below their row; NOT_IMPLEMENTED needs no explanation.
    if (task.verdict == Verdict::ok || task.verdict == Verdict::not_implemented || task.message.empty())
      continue;
    // If a lab does not compile, all its tasks have the same message.
    if (task.message == previous) continue;
    if (n_shown == max_messages) {
      ++n_left;
      continue;
    }
    previous = task.message;
    ++n_shown;
    out.line();
    out.line(fmt::format("{} ({}): {}", task.title, task.id, lab::name_of(task.verdict)), Colour::bold);
    out.put(wrap_message(task.message, kTableColumns, 2));
  }
  if (n_left > 0) {
    out.line();
    out.line(fmt::format("{} more task{} failed; --task shows one, --json F has all.", n_left,
                         n_left == 1 ? "" : "s"),
             Colour::dim);
  }
}

void write_lab(Writer& out, const LabResult& lab, bool partial, const TableStyle& style) {
  out.line();
  out.put("  " + fit_left(tame_line(lab.title), kTask + 1 + kVerdict + 1), Colour::bold);
  out.put(fit_right("points", kPoints) + "  " + fit_right("1 thread", kSpeedup) + " " +
              fit_right("all", kSpeedup),
          Colour::dim);
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
  write_messages(out, lab, style.max_messages);
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

}  // namespace

TableStyle style_for_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  TableStyle style;
  style.colour = isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
                 term != nullptr && std::string_view(term) != "dumb";
  return style;
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
    out.line(fmt::format("Speedup: {}kernel time against 1 thread and all cores of {}.",
                         result.modelled ? "modelled " : "",
                         timing->baseline_runs == 0 ? "an H200's host" : "this CPU"),
             Colour::dim);
  }
  if (any_not_implemented(result))
    out.line("NOT_IMPLEMENTED: the function still returns it; the handout and the TODO say what to do.",
             Colour::dim);
  if (result.partial) out.line("Only a part was run: this is not a grade.", Colour::dim);
  return out.take();
}

}  // namespace course::grader
