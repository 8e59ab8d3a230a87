// SPDX-License-Identifier: MIT
#include "page/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "page/markup.hpp"
#include "text.hpp"

namespace course::grader::page {
namespace {

constexpr int kLooks = 8;
constexpr double kWidth = 720, kHeight = 400, kLeft = 76, kRight = 20, kTop = 14, kBottom = 56;

std::string label_of(const Axis& axis, double value) {
  return axis.label ? axis.label(value) : fmt::format("{:.4g}", value);
}

bool usable(const Axis& axis, double v) {
  return std::isfinite(v) && (!axis.logarithmic || v > 0);
}

// Maps the range from `low` to `high` to 0 … 1.
struct Scale {
  bool logarithmic = false;
  double low = 0, high = 1;

  double at(double v) const {
    const double a = f(low), b = f(high);
    return b > a ? (f(v) - a) / (b - a) : 0.5;
  }

 private:
  double f(double v) const { return logarithmic ? std::log(v) : v; }
};

// A step of 1, 2 or 5 times a power of ten, so that about `n` steps reach `high`.
double nice_step(double high, int n) {
  const double rough = high / n, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= rough) return m * power;
  return 10 * power;
}

std::vector<double> y_ticks(const Axis& axis, double& low, double& high) {
  std::vector<double> ticks;
  if (!axis.logarithmic) {
    const double step = high > 0 ? nice_step(high, 5) : 1;
    low = 0;
    high = std::max(step, std::ceil(high / step - 1e-9) * step);
    for (int k = 0; k * step <= high * (1 + 1e-9); ++k) ticks.push_back(k * step);
    return ticks;
  }
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const bool few = last - first <= 3;
  for (double e = first; e <= last; e += 1)
    for (const double m : few ? std::vector{1.0, 2.0, 5.0} : std::vector{1.0})
      if (const double t = m * std::pow(10.0, e); t >= low * 0.5 && t <= high * 2) ticks.push_back(t);
  if (!ticks.empty()) {
    low = std::min(low, ticks.front());
    high = std::max(high, ticks.back());
  }
  return ticks;
}

// A mark at (x, y); there are four shapes.
std::string mark(int look, double x, double y, const std::string& title) {
  const std::string inside = title.empty() ? "" : "<title>" + title + "</title>";
  const auto path = [&](const char* d) {
    return fmt::format("<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\">{}</path>", x, y, d, inside);
  };
  switch (look % 4) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\">{}</circle>", x, y, inside);
    case 1: return path("M-4-4H4V4H-4Z");
    case 2: return path("M0-5L5 4H-5Z");
    default: return path("M0-5L5 0L0 5L-5 0Z");
  }
}

// Colour, dash and mark of a series. There are 32 combinations, and 12 for references, which share one
// colour.
struct Look {
  std::string classes;
  int mark = 0;
};

Look look_of(const Series& s, int& next, int& next_reference) {
  if (s.reference) {
    const int k = next_reference++;
    return {fmt::format("ref r{}", k % 3 + 1), k % 4};
  }
  const int k = next++;
  return {fmt::format("s{}", k % kLooks + 1), (k + k / kLooks) % 4};
}

Html figure(const std::string& title, const std::string& description, double width, double height,
            const std::string& drawing, const std::string& below) {
  return {fmt::format(
      "<figure><div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">"
      "<svg class=\"chart\" role=\"img\" aria-label=\"{0}: {1}\" viewBox=\"0 0 {2:.0f} "
      "{3:.0f}\">\n{4}</svg></div>\n"
      "<figcaption>{5}</figcaption>\n{6}</figure>\n",
      escape_markup(title), escape_markup(description), width, height, drawing, escape_markup(title), below)};
}

}  // namespace

Html line_chart(const LineChart& chart) {
  std::set<double> xs;
  double low = 0, high = 0;
  bool any = false;
  for (const Series& s : chart.series) {
    for (const auto& [x, y] : s.points) {
      if (!usable(chart.x, x) || !usable(chart.y, y)) continue;
      xs.insert(x);
      low = any ? std::min(low, y) : y;
      high = any ? std::max(high, y) : y;
      any = true;
    }
  }
  if (!any) return paragraph(text(chart.title + ": nothing was measured."), Tone::quiet);
  const std::vector<double> ticks = y_ticks(chart.y, low, high);
  const Scale sx{chart.x.logarithmic, *xs.begin(), *xs.rbegin()}, sy{chart.y.logarithmic, low, high};
  const auto px = [&](double x) { return kLeft + 16 + sx.at(x) * (kWidth - kLeft - kRight - 32); };
  const auto py = [&](double y) { return kHeight - kBottom - sy.at(y) * (kHeight - kTop - kBottom); };

  std::string d = "<g class=\"grid\">\n";
  for (const double t : ticks)
    d += fmt::format(
        "<path d=\"M{:.1f} {:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        kLeft, py(t), kWidth - kRight, kLeft - 8, py(t) + 4, escape_markup(label_of(chart.y, t)));
  double last = -1e9;
  for (const double x : xs) {
    const std::string label = label_of(chart.x, x);
    const double room = 4 + 7.5 * static_cast<double>(display_width(label));
    if (px(x) - last < room && x != *xs.rbegin()) continue;
    last = px(x);
    d += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}v5\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>\n",
        px(x), kHeight - kBottom, kHeight - kBottom + 20, escape_markup(label));
  }
  d += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                   (kLeft + kWidth - kRight) / 2, kHeight - 10, escape_markup(chart.x.title));
  d += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</g>\n",
      (kTop + kHeight - kBottom) / 2, escape_markup(chart.y.title));

  std::string legend = "<ul class=\"legend\">\n";
  int next = 0, next_reference = 0;
  for (const Series& s : chart.series) {
    const auto [look, shape] = look_of(s, next, next_reference);
    std::string line, marks;
    for (const auto& [x, y] : s.points) {
      if (!usable(chart.x, x) || !usable(chart.y, y)) continue;
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", px(x), py(y));
      marks += mark(shape, px(x), py(y),
                    escape_markup(fmt::format("{}: {} {} at {} {}", s.name, label_of(chart.y, y),
                                              chart.y.title, label_of(chart.x, x), chart.x.title)));
    }
    if (line.empty()) continue;
    d += fmt::format("<g class=\"series {}\"><path class=\"line\" d=\"{}\"/>{}</g>\n", look, line, marks);
    legend += fmt::format(
        "<li><svg class=\"swatch\" viewBox=\"0 0 36 14\" aria-hidden=\"true\"><g class=\"series {}\">"
        "<path class=\"line\" d=\"M1 7H35\"/>{}</g></svg> {}</li>\n",
        look, mark(shape, 18, 7, ""), escape_markup(s.name));
  }
  return figure(chart.title, chart.description, kWidth, kHeight, d, legend + "</ul>\n");
}

Html bar_chart(const BarChart& chart) {
  double full = chart.full;
  std::size_t widest = 1, widest_value = 1;
  for (const Bar& b : chart.bars) {
    if (chart.full <= 0 && std::isfinite(b.value)) full = std::max(full, b.value);
    widest = std::max(widest, display_width(b.label));
    widest_value = std::max(widest_value, display_width(b.value_text));
  }
  if (chart.bars.empty()) return paragraph(text(chart.title + ": nothing was measured."), Tone::quiet);
  const double left = std::min(280.0, 12 + 7.4 * static_cast<double>(widest));
  const double right = 18 + 8.4 * static_cast<double>(widest_value);
  const double room = std::max(60.0, kWidth - left - right);
  std::string d;
  double y = 4;
  for (const Bar& b : chart.bars) {
    const double share = full > 0 && std::isfinite(b.value) ? std::clamp(b.value / full, 0.0, 1.0) : 0;
    d += fmt::format(
        "<g class=\"bar {}\"><title>{}: {}</title><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text></g>\n",
        b.reference ? "ref" : "s1", escape_markup(b.label), escape_markup(b.value_text), left - 8, y + 14,
        escape_markup(fit_left(b.label, std::min<std::size_t>(display_width(b.label), 36))), left, y,
        std::max(1.0, share * room), left + share * room + 8, y + 14, escape_markup(b.value_text));
    y += 28;
  }
  return figure(chart.title, chart.description, kWidth, y, d, "");
}

Html meter(double share) {
  const double s = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  return {
      fmt::format("<svg class=\"meter\" viewBox=\"0 0 60 10\" aria-hidden=\"true\"><rect class=\"whole\" "
                  "width=\"60\" height=\"10\"/>"
                  "<rect width=\"{:.1f}\" height=\"10\"/></svg>",
                  60 * s)};
}

}  // namespace course::grader::page
