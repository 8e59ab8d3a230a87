// SPDX-License-Identifier: MIT
// Reading order: trace_svg and step_picture at the end; strips.hpp (what is drawn); draw (where); boxes and
// arrows_into.
#include "trace/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "page/markup.hpp"
#include "text.hpp"
#include "trace/strips.hpp"
#include "trace/words.hpp"

namespace course::grader {
namespace {

constexpr double kMargin = 14, kGap = 14, kArrowGap = 34, kSide = 12;
constexpr double kCharacter = 8.2;  // width of a character of the values, at 13 px

// The position of the labels: beside the strips, or above them on narrow screens. Grids always have theirs
// above.
enum class Labels { beside, above };

bool exchange(const TraceStep& step) {
  return step.after == "shuffle" || step.after == "vote";
}

// A short title of a table for the labels: "k03_blelloch, block 0".
std::string short_title(const TraceTable& table) {
  const std::string whose = table.block ? fmt::format(", block {}", *table.block) : "";
  constexpr std::size_t kMax = 31;
  return fit_left(table.kernel, std::min(display_width(table.kernel), kMax - whose.size())) + whose;
}

std::string arrow(const char* look, double x1, double y1, double x2, double y2) {
  // The line ends before its target; the head covers the rest.
  return fmt::format("<path class=\"arrow {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", look, x1, y1, x2, y2);
}

// The arrows into a strip: from other strips, or with `inside` from elements that the same step wrote before.
std::string arrows_into(const std::vector<Strip>& strips, std::size_t at, bool inside) {
  const Strip& to = strips[at];
  std::string out;
  // An element with many uses has many arrows. They are drawn faintly, so that they do not cover the others.
  constexpr std::size_t kMany = 4;
  std::map<std::pair<std::string, std::uint64_t>, std::set<std::uint64_t>> uses;
  for (const TraceStore& store : to.step->stores)
    for (const TraceSource& source : store.from) uses[{source.array, source.element}].insert(store.element);
  std::set<std::pair<std::size_t, std::pair<int, std::size_t>>> drawn;
  for (std::size_t k = 0; k < to.step->stores.size() && !to.again; ++k) {
    const TraceStore& store = to.step->stores[k];
    const std::size_t i = store.element - to.step->first;
    for (const TraceSource& source : store.from) {
      if (source.inside != inside) continue;
      if (inside) {
        const std::size_t j = source.element - to.step->first;
        if (j >= to.step->cells.size() || i == j || !drawn.insert({i, {-2, j}}).second) continue;
        if (to.grid()) {  // an arrow between two cells
          const double dx = to.left(i) - to.left(j), dy = to.top(i) - to.top(j);
          const double cx = to.left(j) + to.cell / 2, cy = to.top(j) + kCellHeight / 2;
          out += arrow("own", cx + 0.34 * dx, cy + 0.34 * dy, cx + 0.62 * dx, cy + 0.62 * dy);
        } else {
          const double y = to.y + kCellHeight, x1 = to.left(j) + to.cell * 0.6,
                       x2 = to.left(i) + to.cell * 0.4;
          out += fmt::format("<path class=\"arrow own\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
                             x1, y + 1, (x1 + x2) / 2, y + 14, x2, y + 3);
        }
        continue;
      }
      const int from = source_strip(strips, at, source, store);
      if (from < 0) continue;
      const Strip& f = strips[static_cast<std::size_t>(from)];
      if (f.grid() || to.grid()) continue;  // grids stand beside each other and have no arrows between them
      const std::size_t j = source.element - f.step->first;
      if (!drawn.insert({i, {from, j}}).second) continue;
      const double x1 = f.left(j) + f.cell / 2, x2 = to.left(i) + to.cell / 2;
      // Arrows from the left and from the right end beside each other.
      const double end = x2 + std::clamp((x1 - x2) / 6, -to.cell / 4, to.cell / 4);
      const bool many = uses[{source.array, source.element}].size() > kMany;
      out += arrow(many       ? "faint"
                   : x1 == x2 ? "straight"
                              : "slant",
                   x1, std::max(f.y + kCellHeight, to.below), end, to.y - 4);
    }
  }
  return out;
}

std::string text_at(double x, double y, std::string_view look, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, look,
                     escape_markup(words));
}

std::string boxes(const Strip& strip) {
  const TraceStep& step = *strip.step;
  std::string out;
  for (std::size_t i = 0; i < step.cells.size(); ++i) {
    const TraceCell& c = step.cells[i];
    const bool written = c.written && !strip.again && step.after != "start" && !exchange(step);
    const char* look = strip.again                        ? "again"
                       : step.after == "fault" && written ? "faulty"
                       : written                          ? "written"
                       : c.text.empty()                   ? "empty"
                                                          : "kept";
    out +=
        fmt::format("<rect class=\"box {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n",
                    look, strip.left(i), strip.top(i), strip.cell, kCellHeight);
    if (!c.text.empty())
      out += text_at(strip.left(i) + strip.cell / 2, strip.top(i) + 19,
                     strip.again ? "value quiet"
                     : written   ? "value new"
                                 : "value",
                     c.text);
  }
  return out;
}

bool conflicts(const TraceStep& step) {
  return std::ranges::any_of(step.lanes, [](const TraceLanes& a) { return a.passes != 0; });
}

// The labels of a strip: the kernel and block, the array, the time, the threads.
struct Label {
  const char* look;
  std::string words;
};

std::vector<Label> labels_of(const Strip& strip, bool new_table, bool with_line) {
  const TraceStep& step = *strip.step;
  std::vector<Label> all;
  if (new_table && !strip.again && !strip.table->kernel.empty())
    all.push_back({"heading", short_title(*strip.table)});
  all.push_back({strip.again ? "name quiet" : "name", step.array});
  std::string when = strip.again ? strip.again_as : moment_of(step, with_line);
  if (strip.times > 1) when += fmt::format(", {} times", strip.times);
  all.push_back({step.after == "fault" ? "note alarm" : "note", when});
  const std::string threads = strip.again || exchange(step) || strip.grid() ? "" : threads_of(step);
  if (!threads.empty() && step.after != "start" && step.after != "publish")
    all.push_back({"note", (threads.find(' ') == std::string::npos ? "thread " : "threads ") + threads});
  if (conflicts(step) && !strip.again) all.push_back({"note alarm", "bank conflicts"});
  return all;
}

// The width of the widest label, in a wide sans-serif font.
double label_width(const std::vector<Label>& labels) {
  double width = 0;
  for (const Label& label : labels) {
    const std::string_view look = label.look;
    const double character = look == "heading" ? 9.1 : look.starts_with("name") ? 7.9 : 7.2;
    width = std::max(width, character * static_cast<double>(display_width(label.words)));
  }
  return width;
}

double label_height(const std::vector<Label>& labels) {
  return 14.0 * static_cast<double>(labels.size()) + 2;
}

struct Drawing {
  double width = 0, height = 0;
  std::string body;
};

// `all`: the strips of all pictures that take turns in one place, where values keep their column.
Drawing draw(std::vector<Strip> strips, std::span<const Strip> all, bool with_line,
             Labels where = Labels::beside) {
  std::size_t longest = 1;
  for (const Strip& s : all)
    for (const TraceCell& c : s.step->cells) longest = std::max(longest, display_width(c.text));
  // The cells of a grid are wider, because arrows may run between their values.
  const bool grids = std::ranges::any_of(strips, &Strip::grid);
  const double cell =
      std::max(30.0, std::ceil((grids ? 26 : 12) + kCharacter * static_cast<double>(longest)));

  const TraceTable* table = nullptr;
  std::vector<std::vector<Label>> all_labels;
  for (const Strip& s : strips) {
    all_labels.push_back(labels_of(s, s.table != table, with_line));
    if (!s.again) table = s.table;
  }
  double beside = 0;  // the width of the labels' column
  for (const Strip& s : all)
    if (!s.grid() && where == Labels::beside)
      beside = std::max(beside, 12 + label_width(labels_of(s, true, with_line)));

  Drawing d;
  double y = kMargin, x = 0, label_end = 0;
  const Strip* before = nullptr;
  std::string words;
  for (std::size_t k = 0; k < strips.size(); ++k) {
    Strip& s = strips[k];
    s.cell = cell;
    const std::vector<Label>& labels = all_labels[k];
    const double wide = label_width(labels);
    double label_x = kMargin, label_y = 0;
    if (s.grid()) {
      // Grids stand side by side as long as they fit.
      const bool same_row = before != nullptr && before->grid() && x + s.width() + kMargin < 760;
      if (!same_row) {
        y = before != nullptr ? y + kArrowGap : y;
        x = kMargin;
      }
      s.x = label_x = x;
      s.y = same_row ? before->y : y + 3 * 14.0 + 12;
      label_y = s.y - label_height(labels) - 6;
      x += std::max(s.width(), wide) + 34;
    } else {
      const bool arrows = before != nullptr && !s.again && !arrows_into(strips, k, false).empty();
      // The labels of the last strip stand below it, so that the arrows into it come from cells.
      const bool below = where == Labels::above && arrows && k + 1 == strips.size();
      const bool above = where == Labels::above && !below;
      if (before != nullptr) y = std::max(y + (arrows && !above ? kArrowGap : kGap), label_end + 8);
      s.x = kMargin + beside;
      label_y = y;
      label_end = y + label_height(labels);
      if (above) s.below = label_end + 4;
      s.y = !above ? y : arrows ? label_end + kArrowGap : label_end + 4;
      if (below) {
        label_y = s.y + s.height() + (arrows_into(strips, k, true).empty() ? 2 : 16);
        label_end = label_y + label_height(labels);
      }
    }
    d.width = std::max({d.width, s.x + s.width(), label_x + wide});
    y = std::max(y, s.y + s.height());
    for (const Label& label : labels)
      words += text_at(label_x, label_y += 14,
                       where == Labels::above ? fmt::format("{} over", label.look) : label.look, label.words);
    before = &s;
  }
  d.width += kMargin;
  d.height = std::max(y, label_end) + kSide;
  // Arrows between strips are drawn first, so that boxes cover them.
  for (std::size_t k = 0; k < strips.size(); ++k) d.body += arrows_into(strips, k, false);
  for (const Strip& s : strips) d.body += boxes(s);
  for (std::size_t k = 0; k < strips.size(); ++k) d.body += arrows_into(strips, k, true);
  d.body += words;
  return d;
}

// The arrow head at the end of paths.
constexpr const char* kHead =
    "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" "
    "orient=\"auto-start-reverse\"><path class=\"head\" d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n";

// Light and dark as on the pages (page/style.css). The card under the picture follows the same setting, so
// texts are readable on any background.
constexpr const char* kOwnStyle =
    "text { font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 13px; fill: #1b1b1f; }\n"
    ".card { fill: #ffffff; stroke: #c9ccd4; } .box { stroke: #767a86; fill: #ffffff; }\n"
    ".written { fill: #fff0b8; } .faulty { fill: #ffd9d6; }\n"
    ".again, .empty { fill: #ffffff; stroke: #c9ccd4; stroke-dasharray: 3 3; }\n"
    ".value, .name { font-family: ui-monospace, 'DejaVu Sans Mono', Consolas, monospace; }\n"
    ".value { text-anchor: middle; } .new { font-weight: 700; } .name, .heading { font-weight: 600; }\n"
    ".note { font-size: 12px; fill: #545863; } .quiet { fill: #545863; } .alarm { fill: #a11616; }\n"
    ".arrow { fill: none; stroke: #0b57a4; stroke-width: 1.3; marker-end: url(#head); }\n"
    ".straight { stroke: #767a86; } .faint { stroke: #b9c6d8; stroke-width: 1; } .own { stroke: #11682f; }\n"
    ".head { fill: #545863; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6e7ea; } .card, .box, .again, .empty { fill: #16171b; } .card, .again, .empty { stroke: "
    "#43464f; }\n"
    ".box { stroke: #8b8f9c; } .box.written { fill: #4d4210; } .box.faulty { fill: #5a1f1f; }\n"
    ".note, .quiet { fill: #b4b8c4; } .alarm { fill: #ff8f8f; }\n"
    ".arrow { stroke: #8ab8ff; } .straight { stroke: #8b8f9c; } .faint { stroke: #43464f; } .own { stroke: "
    "#6fd08c; }\n"
    ".head { fill: #b4b8c4; }\n"
    "}\n";

page::Html inline_picture(const Drawing& d, const std::string& what, const char* look) {
  return page::raw(
      fmt::format("<div class=\"wide {4}\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><svg "
                  "class=\"trace\" role=\"img\" aria-label=\"{0}\" width=\"{1:.0f}\" "
                  "height=\"{2:.0f}\" viewBox=\"0 0 {1:.0f} {2:.0f}\">\n{3}</svg></div>\n",
                  escape_markup(what), d.width, d.height, d.body, look));
}

// Strips are drawn twice, for wide and for narrow screens; the style sheet shows one of them.
page::Html inline_pictures(const std::vector<Strip>& strips, std::span<const Strip> all, bool with_line,
                           const std::string& what) {
  if (std::ranges::all_of(strips, &Strip::grid))
    return inline_picture(draw(strips, all, with_line), what, "");
  return inline_picture(draw(strips, all, with_line), what, "roomy") +
         inline_picture(draw(strips, all, with_line, Labels::above), what, "narrow");
}

}  // namespace

std::string trace_svg(const TraceView& view, const std::string& title) {
  const std::vector<Strip> strips = strips_of(view, false);
  const Drawing d = draw(strips, strips, false);
  std::string end;
  double height = d.height;
  if (!view.fault.empty()) {
    const std::string words = wrap("The trace stops here: " + view.fault,
                                   std::max<std::size_t>(40, static_cast<std::size_t>(d.width / 7.2)));
    for (const std::string_view line : lines_of(words)) {
      end += text_at(kMargin, height, "alarm", std::string(line));
      height += 18;
    }
    height += 6;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n<title id=\"title\">{2}</title>\n<style>\n{3}</style>\n{4}<rect class=\"card\" x=\"0.5\" "
      "y=\"0.5\" width=\"{5:.0f}\" "
      "height=\"{6:.0f}\" rx=\"8\"/>\n{7}{8}</svg>\n",
      d.width, height, escape_markup(title), kOwnStyle, kHead, d.width - 1, height - 1, d.body, end);
}

page::Html arrow_head() {
  return page::raw(fmt::format("<svg class=\"unseen\" aria-hidden=\"true\">{}</svg>\n", kHead));
}

page::Html trace_picture(const TraceView& view) {
  const std::vector<Strip> strips = strips_of(view, false);
  return inline_pictures(strips, strips, true, fmt::format("All steps of {} / {}", view.lab, view.task));
}

page::Html step_picture(const TraceView& view, int number) {
  const std::vector<Strip> all = strips_of(view, true);
  std::size_t at = 0;
  while (at < all.size() && (all[at].again || all[at].step->number != number)) ++at;
  if (at == all.size()) return {};
  // The step, and above it the strips that its values come from.
  const TraceStep& step = *all[at].step;
  std::vector<Strip> shown;
  for (const int k : source_strips(all, at, step)) {
    const Strip& from = all[static_cast<std::size_t>(k)];
    shown.push_back({from.table, from.step, true, 1, "before"});
  }
  shown.push_back(all[at]);
  return inline_pictures(shown, all, false, fmt::format("Step {}: {}", number, step.array));
}

}  // namespace course::grader
