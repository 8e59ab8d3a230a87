// SPDX-License-Identifier: MIT
// A profile as a page: counts beside their closed forms, then for each kernel a table of its lines.
#include <fmt/format.h>

#include <algorithm>

#include "page/page.hpp"
#include "page/table.hpp"
#include "profile/profile.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using page::Cell;
using page::Html;
using page::text;
using page::Tone;

std::vector<Cell> figures_row(const char* what, double measured, double ideal, const char* unit) {
  if (measured == 0) return {{text(what)}, {text("none counted")}, {text("–")}, {text("–")}};
  return {{text(what)},
          {text(fmt::format("{:.0f} {}", measured, unit))},
          {text(fmt::format("{:.0f}", ideal))},
          {text(ideal > 0 ? fmt::format("{:.2f}×", measured / ideal) : "–")}};
}

Cell figure(const std::optional<double>& value, double good) {
  if (!value) return {text("")};
  return {text(fmt::format("{:.1f}", *value)), *value > good * 1.005 ? Tone::fair : Tone::plain};
}

Cell percent(double value, bool striking) {
  return {text(fmt::format("{:.0f}%", 100 * value)), striking ? Tone::fair : Tone::plain};
}

std::string source_of(const ProfiledLine& line, const SourceLine& source_line) {
  const std::string source =
      line.line == 0 ? "(no line information)" : tame_line(source_line(line.file, line.line));
  return source.substr(std::min(source.find_first_not_of(' '), source.size()));
}

Html line_table(const ProfiledKernel& kernel, const SourceLine& source_line) {
  page::Table t{.caption = fmt::format("{}: cost by line", kernel.name),
                .columns = {{text("Line"), true},
                            {text("Share"), true},
                            {text("Lanes"), true},
                            {text("Split"), true},
                            {text("Sectors"), true},
                            {text("Passes"), true},
                            {text("Meet"), true},
                            {text("Source")}}};
  for (const ProfiledLine& line : kernel.lines)
    t.rows.push_back({{text(line.line == 0 ? "–" : fmt::format("{}", line.line))},
                      {page::meter(line.share) + page::raw("<span class=\"share\">") +
                       text(fmt::format("{:.0f}%", 100 * line.share)) + page::raw("</span>")},
                      percent(line.active_lanes, line.active_lanes < 0.5),
                      line.divergent ? percent(*line.divergent, *line.divergent > 0) : Cell{},
                      figure(line.sectors_per_request, 16),
                      figure(line.passes_per_request, 1),
                      figure(line.atomics_at_one_place, 1),
                      {page::raw("<code>") + text(source_of(line, source_line)) + page::raw("</code>")}});
  return page::table(t);
}

constexpr const char* kLegend =
    "Share: of what holds the kernel back. Lanes: active ones of 32. Split: branches whose lanes part. "
    "Sectors: 32-byte sectors a request (ideal: 4 for items of 4 bytes, 8 for 8 bytes, 16 for 16 bytes as in "
    "a uint4). Passes: of the shared memory a request (1: no bank conflict). Meet: lanes on one address in "
    "an atomic. Occupancy: of a multiprocessor's threads, those that fit at once; registers are estimated "
    "from PTX.";

}  // namespace

std::string profile_html(const Profile& profile, const SourceLine& source_line, const std::string& made_by) {
  page::Document document{.title = fmt::format("Profile: {} / {}", profile.lab, profile.task),
                          .made_by = made_by};
  document.summary = text(fmt::format("Case {}; modelled on {}: {:.1f} µs.", profile.case_name,
                                      profile.device, profile.modelled_us));
  page::Table whole{
      .caption = "The task as a whole, beside its closed form",
      .columns = {{text("")}, {text("Counted"), true}, {text("Closed form"), true}, {text("Ratio"), true}}};
  whole.rows = {figures_row("Work", profile.work, profile.ideal.work, "operations"),
                figures_row("Steps", profile.steps, profile.ideal.steps, "deep"),
                figures_row("Bytes", profile.bytes, profile.ideal.bytes, "moved")};
  document.sections.emplace_back("The whole");
  const Html intensity =
      profile.work > 0
          ? page::paragraph(text(fmt::format("Intensity: {:.3f} operations a byte.", profile.intensity())))
          : Html{};
  document.body = page::section("The whole", page::table(whole) + intensity);
  for (const ProfiledKernel& kernel : profile.kernels) {
    document.sections.push_back(kernel.name);
    const std::string how = fmt::format("{} launch{}, {:.1f} µs; limiter: {} ({}). ", kernel.launches,
                                        kernel.launches == 1 ? "" : "es", kernel.modelled_us, kernel.bound_by,
                                        meaning_of(kernel.bound_by));
    std::string occupancy = occupancy_of(kernel);
    occupancy[0] = 'O';
    document.body += page::section(
        kernel.name, page::paragraph(text(how + occupancy + ".")) + line_table(kernel, source_line));
  }
  document.body += page::paragraph(text(kLegend), Tone::quiet);
  return page::document(document);
}

}  // namespace course::grader
