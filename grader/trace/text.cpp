// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "text.hpp"
#include "trace/tables.hpp"

namespace course::grader {
namespace {

std::string title_of(const TraceTable& table) {
  if (table.kernel.empty()) return "Before";
  if (!table.block) return fmt::format("Launch {}: {}, all blocks", table.launch + 1, table.kernel);
  return fmt::format("Launch {}: {}, block {}", table.launch + 1, table.kernel, *table.block);
}

std::string moment_of(const TraceStep& step) {
  if (step.after == "start") return "at the start";
  if (step.after == "launch") return "after the launch";
  if (step.after == "block") return "at the block's end";
  if (step.after == "shuffle") return fmt::format("shuffle, line {}", step.line);
  if (step.after == "vote") return fmt::format("vote, line {}", step.line);
  const char* what = step.after == "warp_sync" ? "__syncwarp" : "barrier";
  return step.line == 0 ? std::string(what) : fmt::format("{}, line {}", what, step.line);
}

// "barrier, line 81 (6 times)"
std::string label_of(const TraceStep& step) {
  return step.times == 1 ? moment_of(step) : fmt::format("{} ({} times)", moment_of(step), step.times);
}

// "0 2 4 6": who stored in this step; "" for none, "0 … 255" for many in a row.
std::string threads_of(const TraceStep& step) {
  std::set<std::uint32_t> threads;
  for (const TraceStore& store : step.stores) threads.insert(store.thread);
  if (threads.size() > 8) return fmt::format("{} … {}", *threads.begin(), *threads.rbegin());
  return fmt::format("{}", fmt::join(threads, " "));
}

std::string place_text(const TraceSource& p) {
  return fmt::format("{}[{}]", p.array, p.element);
}

std::string text_of(const TraceTable& table, bool every_store, bool colour) {
  std::size_t label = 5, array = 5, cell = 1;
  for (const TraceStep& step : table.steps) {
    label = std::max(label, display_width(label_of(step)));
    array = std::max(array, display_width(step.array));
    for (const TraceCell& c : step.cells) cell = std::max(cell, display_width(c.text) + (colour ? 0 : 1));
  }
  std::string out = title_of(table) + "\n";
  for (const TraceStep& step : table.steps) {
    out += fmt::format("  {}  {} ", fit_left(label_of(step), label), fit_left(step.array, array));
    for (const TraceCell& c : step.cells) {
      const std::string marked = c.written && !colour && step.after != "shuffle" ? "*" + c.text : c.text;
      const std::string text = fit_right(c.text.empty() ? "·" : marked, cell);
      out += c.written && colour ? fmt::format(" \x1b[1;32m{}\x1b[0m", text) : " " + text;
    }
    out += "\n";
    if (!every_store) continue;
    for (const TraceStore& store : step.stores) {
      std::vector<std::string> from;
      for (const TraceSource& source : store.from) from.push_back(place_text(source));
      out += fmt::format("      {}[{}] by thread {}{}, line {}{}{}\n", step.array, store.element,
                         store.thread, table.block ? "" : fmt::format(" of block {}", store.block),
                         store.line, from.empty() ? "" : ", having read ", fmt::join(from, ", "));
    }
  }
  return out;
}

}  // namespace

std::string trace_text(const TraceView& view, bool every_store, bool colour) {
  std::string out = fmt::format("{} / {}, case {}\n", view.lab, view.task, view.case_name);
  if (view.tables.empty()) out += "\nNo kernel touched an array that has a name.\n";
  for (const TraceTable& table : view.tables) out += "\n" + text_of(table, every_store, colour);
  if (!colour && !view.tables.empty()) out += "\n* written in this step. · nothing there yet.\n";
  if (view.truncated) out += "\nThe rest was left out: trace fewer items (--n).\n";
  for (const std::string& finding : view.findings) out += fmt::format("\n{}", wrap("! " + finding, 100, 0));
  if (!view.findings.empty()) out += "\n";
  return out;
}

std::string trace_markdown(const TraceView& view) {
  std::string out;
  for (const TraceTable& table : view.tables) {
    if (table.kernel.empty()) continue;  // the inputs: the text around the table has them
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
      // Without line numbers: they move with every edit of the solution.
      TraceStep nowhere = step;
      nowhere.line = 0;
      std::string moment = step.after == "shuffle" || step.after == "vote" ? step.after : moment_of(nowhere);
      if (step.times > 1) moment += fmt::format(" ({}×)", step.times);
      out += fmt::format("| {} | {} | `{}` |", moment, threads_of(step), step.array);
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
