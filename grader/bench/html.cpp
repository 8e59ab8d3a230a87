// SPDX-License-Identifier: MIT
#include "bench/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "page/chart.hpp"
#include "page/page.hpp"
#include "page/table.hpp"

namespace course::grader {
namespace {

using page::Cell;
using page::Html;
using page::text;
using page::Tone;

const char* ceiling_name(const BenchTable& table) {
  return table.reads_only ? "plain reads" : "plain copies";
}

Cell cell_of(const BenchRow& row, const BenchCell& c) {
  if (!c.right) return {text("WRONG"), Tone::bad};
  std::string words = time_text(c.median_us);
  if (row.kind != "cpu") words += fmt::format(", {:.0f} GB/s, {:.0f} %", c.gb_per_s, 100 * c.of_ceiling);
  if (c.over_peer && row.kind != "peer") words += fmt::format(", {:.2f}×", *c.over_peer);
  return {text(words) + page::raw("<br>") +
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

// The rates as a chart over the sizes.
Html sweep(const BenchLab& lab, const BenchTable& table) {
  page::LineChart chart{
      .title = fmt::format("{}, {}: rate by size", lab.title, table.work),
      .description = "Bytes that must move, divided by the time, for every rung, library and the CPU",
      .x = {"items", true, [](double n) { return size_text(static_cast<std::uint64_t>(n)); }},
      .y = {"GB/s", true, [](double rate) { return fmt::format("{:.4g}", rate); }}};
  for (const BenchRow& row : table.rows) {
    page::Series series{name_of(row), {}, row.kind == "cpu"};
    for (const auto& [n, c] : row.cells)
      if (c.right) series.points.emplace_back(static_cast<double>(n), c.gb_per_s);
    chart.series.push_back(std::move(series));
  }
  page::Series ceiling{ceiling_name(table), {}, true};
  for (const auto& [n, rate] : table.ceiling) ceiling.points.emplace_back(static_cast<double>(n), rate);
  chart.series.push_back(std::move(ceiling));
  return page::line_chart(chart);
}

// A row's point in the roofline chart: warp instructions per byte moved, and warp instructions per
// nanosecond.
struct Standing {
  std::string name;
  double per_byte = 0, per_ns = 0;
};

std::vector<Standing> standings(const BenchTable& table, std::uint64_t n) {
  std::vector<Standing> all;
  for (const BenchRow& row : table.rows) {
    const auto cell = row.cells.find(n);
    if (!row.counted || row.counted->bytes <= 0 || row.counted->n <= 0 || cell == row.cells.end()) continue;
    if (!cell->second.right || cell->second.median_us <= 0) continue;
    const double instructions = row.counted->warp_instructions * static_cast<double>(n) / row.counted->n;
    all.push_back({name_of(row), row.counted->warp_instructions / row.counted->bytes,
                   1e-3 * instructions / cell->second.median_us});
  }
  return all;
}

Html roofline(const BenchLab& lab, const BenchTable& table) {
  if (lab.sizes.empty() || lab.copy_gb_per_s <= 0 || lab.issue_per_ns <= 0) return {};
  const std::uint64_t n = lab.sizes.back();
  const std::vector<Standing> rows = standings(table, n);
  if (rows.empty()) return {};
  const double knee = lab.issue_per_ns / lab.copy_gb_per_s;
  double low = knee / 4, high = knee * 4;
  for (const Standing& s : rows) {
    low = std::min(low, s.per_byte / 2);
    high = std::max(high, s.per_byte * 2);
  }
  page::LineChart chart{
      .title = fmt::format("{}, {}: roofline at {}", lab.title, table.work, size_text(n)),
      .description =
          "Instructions a nanosecond against instructions a byte. Nothing can stand above the roof: on its "
          "slope the memory holds a kernel, where it is flat the multiprocessors do",
      .x = {"warp instructions a byte moved", true, [](double x) { return fmt::format("{:.2g}", x); }},
      .y = {"warp instructions a ns", true, [](double y) { return fmt::format("{:.3g}", y); }}};
  for (const Standing& s : rows) chart.series.push_back({s.name, {{s.per_byte, s.per_ns}}, false});
  chart.series.push_back(
      {"roof: memory, then multiprocessors",
       {{low, low * lab.copy_gb_per_s}, {knee, lab.issue_per_ns}, {high, lab.issue_per_ns}},
       true});
  return page::line_chart(chart);
}

Html explanation(const BenchResults& results) {
  const std::string how = results.modelled
                              ? "Modelled figures: no GPU was there, and the simulator estimated every time "
                                "from what it counted. Only ratios mean something."
                              : "Medians; below them the fastest and the slowest run. GB/s are of the bytes "
                                "that the work must move, the share is of "
                                "the memory's rate in the same run, × is against the fastest library.";
  return page::paragraph(text(how), results.modelled ? Tone::fair : Tone::plain) +
         page::paragraph(text("Rooflines: instructions and bytes were counted on the simulator (PTX "
                              "instructions, whole sectors) and scaled to the size; a point above the slope "
                              "is one whose bytes come from a cache."),
                         Tone::quiet);
}

}  // namespace

std::string bench_html(const BenchResults& results) {
  Html body = explanation(results);
  std::vector<std::string> sections;
  for (const BenchLab& lab : results.labs) {
    Html content;
    for (const BenchTable& table : lab.tables)
      content += page::subsection(lab.title + ": " + table.work,
                                  figures(lab, table) + sweep(lab, table) + roofline(lab, table));
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
