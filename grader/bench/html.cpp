// SPDX-License-Identifier: MIT
#include "bench/html.hpp"

#include <fmt/format.h>

#include "page/page.hpp"
#include "page/table.hpp"

namespace course::grader {
namespace {

using page::Cell;
using page::Html;
using page::text;
using page::Tone;

Cell cell_of(const BenchRow& row, const BenchCell& c) {
  if (!c.right) return {text("WRONG"), Tone::bad};
  std::string words = time_text(c.median_us);
  if (row.kind != "cpu") words += fmt::format(", {:.0f} GB/s, {:.0f} %", c.gb_per_s, 100 * c.of_ceiling);
  if (c.over_peer && row.kind != "peer") words += fmt::format(", {:.2f}×", *c.over_peer);
  const Html bar = row.kind == "cpu" ? Html{} : page::meter(c.of_ceiling) + page::raw(" ");
  return {text(words) + page::raw("<br>") + bar +
          page::toned(Tone::quiet, text(fmt::format("{} … {}", time_text(c.min_us), time_text(c.max_us))))};
}

Html figures(const BenchLab& lab, const BenchTable& table) {
  page::Table t{.caption = lab.title + ", " + table.work + ": times"};
  t.columns.push_back({text("Who")});
  for (const std::uint64_t n : lab.sizes) t.columns.push_back({text(size_text(n)), true});
  for (const BenchRow& row : table.rows) {
    std::vector<Cell> cells{{text(name_of(row))}};
    for (const std::uint64_t n : lab.sizes) {
      const auto found = row.cells.find(n);
      cells.push_back(found == row.cells.end() ? Cell{text("–"), Tone::quiet} : cell_of(row, found->second));
    }
    t.rows.push_back(std::move(cells));
  }
  return page::table(t);
}

Html explanation(const BenchResults& results) {
  const std::string how = results.modelled
                              ? "Modelled figures: no GPU was there, and the simulator estimated every time "
                                "from what it counted. Only ratios mean something."
                              : "Medians; below them the fastest and the slowest run. GB/s are of the bytes "
                                "that the work must move; the share, also shown as a bar, is of the memory's "
                                "rate in the same run (of plain reads if almost nothing is written, else of "
                                "plain copies); × is against the fastest library.";
  return page::paragraph(text(how), results.modelled ? Tone::fair : Tone::plain);
}

}  // namespace

std::string bench_html(const BenchResults& results) {
  Html body = explanation(results);
  std::vector<std::string> sections;
  for (const BenchLab& lab : results.labs) {
    Html content;
    for (const BenchTable& table : lab.tables)
      content += page::subsection(lab.title + ": " + table.work, figures(lab, table));
    body += page::section(lab.title, content);
    sections.push_back(lab.title);
  }
  return page::document({.title = "Bench",
                         .summary = text(bench_where(results)),
                         .body = body,
                         .sections = sections.size() > 1 ? sections : std::vector<std::string>{},
                         .made_by = "./lab bench --html"});
}

}  // namespace course::grader
