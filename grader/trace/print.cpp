// SPDX-License-Identifier: MIT
#include "trace/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "text.hpp"
#include "trace/words.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kWidth = 80;

struct Widths {
  std::size_t label = 5, array = 5, cell = 1;
};

std::size_t cell_width(const TraceStep& step, bool colour) {
  std::size_t width = 1;
  for (const TraceCell& c : step.cells) width = std::max(width, display_width(c.text) + (colour ? 0 : 1));
  return width;
}

std::string cell_text(const TraceStep& step, const TraceCell& c, std::size_t width, bool colour) {
  const std::string marked = c.written && !colour && step.after != "shuffle" ? "*" + c.text : c.text;
  const std::string text = fit_right(c.text.empty() ? "·" : marked, width);
  return c.written && colour ? fmt::format(" \x1b[1;32m{}\x1b[0m", text) : " " + text;
}

// As many elements as fit in a line, rounded down to a power of two if they do not all fit. An array with two
// dimensions has one row per line.
std::string cells_of(const TraceStep& step, std::size_t indent, std::size_t width, bool colour) {
  const std::size_t room = std::max<std::size_t>(1, (kWidth - std::min(indent, kWidth - 1)) / (width + 1));
  std::size_t in_line = std::max<std::size_t>(step.cells.size(), 1);
  if (step.row_length > 0 && step.row_length <= room)
    in_line = step.row_length;
  else if (in_line > room)
    in_line = std::bit_floor(room);
  std::string out;
  for (std::size_t i = 0; i < step.cells.size(); ++i) {
    if (i > 0 && i % in_line == 0) out += "\n" + std::string(indent, ' ');
    out += cell_text(step, step.cells[i], width, colour);
  }
  return out + "\n";
}

std::string text_of(const TraceTable& table, bool colour) {
  Widths w;
  for (const TraceStep& step : table.steps) {
    w.label = std::max(w.label, display_width(label_of(step)));
    w.array = std::max(w.array, display_width(step.array));
    w.cell = std::max(w.cell, cell_width(step, colour));
  }
  std::string out = title_of(table) + "\n";
  for (const TraceStep& step : table.steps) {
    out += fmt::format("  {}  {} ", fit_left(label_of(step), w.label), fit_left(step.array, w.array)) +
           cells_of(step, w.label + w.array + 5, w.cell, colour);
  }
  return out;
}

// What follows the last step: the fault that ended the trace, and the findings.
std::string trace_end(const TraceView& view, bool colour) {
  std::string out;
  if (view.truncated) out += "\nThe rest was left out: trace fewer items (--n).\n";
  if (!view.fault.empty())
    out += fmt::format("\n{}{}{}\n", colour ? "\x1b[1;31m" : "",
                       wrap("! The trace stops here: " + view.fault, kWidth, 0), colour ? "\x1b[0m" : "");
  for (const std::string& finding : view.findings)
    if (finding.find(view.fault) == std::string::npos || view.fault.empty())
      out += fmt::format("\n{}\n", wrap("! " + finding, kWidth, 0));
  return out;
}

}  // namespace

std::string trace_text(const TraceView& view, bool colour) {
  std::string out = fmt::format("{} / {}, case {}\n", view.lab, view.task, view.case_name);
  if (view.tables.empty()) out += "\nNo kernel touched an array that has a name.\n";
  for (const TraceTable& table : view.tables) out += "\n" + text_of(table, colour);
  if (!colour && !view.tables.empty()) out += "\n* written in this step. · nothing there yet.\n";
  return out + trace_end(view, colour);
}

std::string trace_markdown(const TraceView& view) {
  std::string out;
  for (const TraceTable& table : view.tables) {
    if (table.kernel.empty()) continue;  // the inputs, which the text around the table shows
    std::size_t columns = 0;
    for (const TraceStep& step : table.steps) columns = std::max(columns, step.cells.size());
    if (!out.empty()) out += "\n";
    out += fmt::format("`{}`{}\n\n| after | threads | array |", table.kernel,
                       table.block ? fmt::format(", block {}", *table.block) : "");
    for (std::size_t i = 0; i < columns; ++i) out += fmt::format(" {} |", i);
    out += "\n|---|---|---|";
    for (std::size_t i = 0; i < columns; ++i) out += "--:|";
    out += "\n";
    for (const TraceStep& step : table.steps) {
      // Without line numbers, because every edit of the solution changes them.
      std::string moment = moment_of(step, false);
      if (step.times > 1) moment += fmt::format(" ({}×)", step.times);
      out += fmt::format("| {} | {} | `{}` |", moment,
                         step.after == "shuffle" || step.after == "vote" ? "" : threads_of(step), step.array);
      for (std::size_t i = 0; i < columns; ++i) {
        const TraceCell c = i < step.cells.size() ? step.cells[i] : TraceCell{};
        const bool bold = c.written && step.after != "shuffle" && step.after != "vote";
        out += c.text.empty() ? " |" : bold ? fmt::format(" **{}** |", c.text) : fmt::format(" {} |", c.text);
      }
      out += "\n";
    }
  }
  return out;
}

}  // namespace course::grader
