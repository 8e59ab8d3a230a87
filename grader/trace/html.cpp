// SPDX-License-Identifier: MIT
#include "trace/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>

#include "page/assets.hpp"
#include "page/page.hpp"
#include "page/table.hpp"
#include "text.hpp"
#include "trace/picture.hpp"
#include "trace/words.hpp"

namespace course::grader {
namespace {

using page::Html;
using page::text;

// The source lines around the step. Lines that stored and lines that waited at a barrier are marked.
Html source_beside(const TraceStep& step, const SourceLine& source_line) {
  std::set<std::uint32_t> hot;
  for (const TraceStore& store : step.stores)
    if (store.line != 0) hot.insert(store.line);
  std::set<std::uint32_t> shown;
  const auto show = [&](std::uint32_t line, std::uint32_t around) {
    for (std::uint32_t l = line > around ? line - around : 1; l <= line + around; ++l) shown.insert(l);
  };
  for (const std::uint32_t line : hot) show(line, 3);
  if (step.line != 0) show(step.line, hot.empty() ? 3 : 0);
  if (shown.empty() || step.path.empty()) return {};
  std::string lines;
  std::uint32_t last = 0;
  for (const std::uint32_t line : shown) {
    const std::string source = tame_line(source_line(step.path, line));
    // A line of the solutions that is a mark for those who make the students' files says nothing here.
    if ((source.empty() || source.find("//@") != std::string::npos) && !hot.contains(line)) continue;
    if (last != 0 && line != last + 1) lines += "<span class=\"line gap\">⋮</span>";
    last = line;
    const bool waits = line == step.line && !hot.contains(line);
    const char* look = hot.contains(line) ? " hot" : waits ? " waits" : "";
    const char* mark = hot.contains(line) ? "▶" : waits ? "‖" : " ";
    lines += fmt::format("<span class=\"line{}\"><span class=\"n\">{:>5} {}</span> {}</span>", look, line,
                         mark, text(source).markup);
  }
  if (lines.empty()) return {};
  return page::raw(fmt::format(
      "<div class=\"beside\"><p class=\"of\">{}</p><pre class=\"source\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Source lines of step {}\">{}</pre></div>\n",
      text(step.file).markup, step.number, lines));
}

// The lanes of a warp as 32 small boxes; those of active lanes are filled. Equal warps share a row.
Html lanes_of(const TraceStep& step) {
  std::string rows;
  constexpr std::size_t kMax = 12;
  const std::vector<TraceLaneRow> all = lane_rows(step);
  for (const TraceLaneRow& row : std::span(all).first(std::min(all.size(), kMax))) {
    const TraceLanes& a = row.each;
    std::string boxes;
    for (int lane = 0; lane < 32; ++lane)
      boxes += fmt::format("<rect class=\"lane {}\" x=\"{}\" y=\"1\" width=\"7\" height=\"12\"/>",
                           (a.lanes >> lane & 1) != 0  ? "busy"
                           : (a.live >> lane & 1) != 0 ? "idle"
                                                       : "gone",
                           1 + 9 * lane);
    std::string words = a.diverged()
                            ? fmt::format("{} of {} lanes", std::popcount(a.lanes), std::popcount(a.live))
                            : "all lanes";
    if (a.passes != 0) words += fmt::format(", bank conflicts: {} passes", a.passes);
    rows += fmt::format(
        "<li><span>{}</span> <svg class=\"lanes\" viewBox=\"0 0 290 14\" "
        "aria-hidden=\"true\">{}</svg> <span class=\"{}\">{}</span></li>\n",
        row.where(), boxes,
        a.passes != 0  ? "bad"
        : a.diverged() ? "fair"
                       : "quiet",
        text(words).markup);
  }
  if (rows.empty()) return {};
  if (all.size() > kMax) rows += fmt::format("<li class=\"quiet\">and {} more</li>\n", all.size() - kMax);
  return page::raw("<p class=\"of\">Who took part</p>\n<ul class=\"warps\">\n" + rows + "</ul>\n");
}

Html stores_of(const TraceTable& table, const TraceStep& step) {
  if (step.stores.empty()) return {};
  page::Table t{
      .caption = fmt::format("Stores of step {}", step.number),
      .columns = {
          {text("Element")}, {text("Value"), true}, {text("By")}, {text("Line"), true}, {text("Made of")}}};
  for (const TraceStore& s : step.stores) {
    std::vector<std::string> from;
    for (const TraceSource& p : s.from) from.push_back(fmt::format("{}[{}]", p.array, p.element));
    const std::uint64_t i = s.element - step.first;
    t.rows.push_back({{text(fmt::format("{}[{}]", step.base, s.element))},
                      {text(i < step.cells.size() ? step.cells[i].text : "")},
                      {text(table.block ? fmt::format("thread {}", s.thread)
                                        : fmt::format("thread {} of block {}", s.thread, s.block))},
                      {text(s.line != 0 ? fmt::format("{}", s.line) : "")},
                      {text(from.empty() ? "–" : fmt::format("{}", fmt::join(from, ", ")))}});
  }
  const std::size_t n = step.stores.size();
  return page::details(text(fmt::format("{} store{}", n, n == 1 ? "" : "s")), page::table(t));
}

// "" if there is no step.
std::string trace_steps(const TraceView& view, const SourceLine& source_line) {
  std::string items;
  int position = 0;
  for (const TraceTable& table : view.tables) {
    for (const TraceStep& step : table.steps) {
      ++position;
      const bool fault = step.after == "fault";
      Html content = step_picture(view, step.number);
      if (fault)
        content = page::paragraph(text("The trace stops here: " + view.fault), page::Tone::bad) + content;
      content = page::raw("<div class=\"pair\"><div>") + content + page::raw("</div>") +
                source_beside(step, source_line) + page::raw("</div>\n") + lanes_of(step) +
                stores_of(table, step);
      items += fmt::format(
          "<li class=\"step\" id=\"step-{0}\"><p class=\"moment\">{4}. {1}: <span "
          "class=\"quiet\">{2}</span></p>\n{3}</li>\n",
          position, text(title_of(table)).markup, text(label_of(step)).markup, content.markup, step.number);
    }
  }
  if (items.empty()) return "";
  return "<ol class=\"steps\">\n" + items + "</ol>\n" + arrow_head().markup;
}

}  // namespace

std::string trace_html(const TraceView& view, const SourceLine& source_line, const std::string& made_by) {
  page::Document document{.title = fmt::format("Trace: {} / {}", view.lab, view.task), .made_by = made_by};
  document.summary = text("Case " + view.case_name + ", run on the simulator.");
  document.script = page::kTrace;
  document.script_hash = page::kTraceHash;

  const std::string steps = trace_steps(view, source_line);
  if (steps.empty()) {
    document.body = page::paragraph(text("No kernel touched an array that has a name."));
  } else {
    document.sections = {"Step by step", "All steps"};
    document.body =
        page::section("Step by step", page::raw(steps)) +
        page::section("All steps", page::paragraph(text("What was written in a step is filled; arrows lead "
                                                        "from the elements that a value was made of."),
                                                   page::Tone::quiet) +
                                       trace_picture(view));
  }
  std::vector<std::string> findings = view.findings;
  if (findings.empty() && !view.fault.empty()) findings.push_back(view.fault);
  if (!findings.empty()) {
    Html list;
    for (const std::string& finding : findings)
      list += page::raw("<li>") + text(finding) + page::raw("</li>\n");
    document.sections.emplace_back("Findings");
    document.body += page::section("Findings", page::raw("<ul>\n") + list + page::raw("</ul>\n"));
  }
  if (view.truncated)
    document.body +=
        page::paragraph(text("The rest was left out: trace fewer items (--n)."), page::Tone::fair);
  return page::document(document);
}

}  // namespace course::grader
