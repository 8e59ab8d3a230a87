// SPDX-License-Identifier: MIT
#include "bench/model_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace course::grader {
namespace {

constexpr double kDiffers = 1.2;  // times with a smaller ratio have no order

std::string us_text(double us) {
  return us < 1000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string quality_row(const std::string& name, const ModelQuality& q) {
  const std::string pairs = q.n_pairs == 0 ? "–" : fmt::format("{} of {}", q.n_right, q.n_pairs);
  return fmt::format("| {} | {} | {:.0f} % | {} |\n", name, q.n_rungs, 100 * q.median_error, pairs);
}

}  // namespace

ModelQuality quality_of(const std::vector<ModelPoint>& points) {
  ModelQuality q;
  std::vector<double> errors;
  for (const ModelPoint& p : points)
    errors.push_back(std::exp(std::abs(std::log(p.modelled_us / p.measured_us))) - 1);
  q.n_rungs = static_cast<int>(errors.size());
  if (!errors.empty()) {
    std::nth_element(errors.begin(), errors.begin() + q.n_rungs / 2, errors.end());
    q.median_error = errors[errors.size() / 2];
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = i + 1; k < points.size(); ++k) {
      const ModelPoint &a = points[i], &b = points[k];
      if (a.lab != b.lab || a.work != b.work || a.n != b.n) continue;
      const double ratio = a.measured_us / b.measured_us;
      if (ratio < kDiffers && ratio > 1 / kDiffers) continue;
      ++q.n_pairs;
      q.n_right += (ratio < 1) == (a.modelled_us < b.modelled_us);
    }
  }
  return q;
}

std::string model_markdown(const std::vector<ModelPoint>& points, const std::string& measured_on) {
  std::string out = fmt::format("Measured on {}; modelled for the same chip.\n\n", measured_on);
  out += "| lab | rungs | median error | pairs in the right order |\n|---|---|---|---|\n";
  std::vector<std::string> labs;
  for (const ModelPoint& p : points)
    if (std::ranges::find(labs, p.lab) == labs.end()) labs.push_back(p.lab);
  for (const std::string& lab : labs) {
    std::vector<ModelPoint> own;
    std::copy_if(points.begin(), points.end(), std::back_inserter(own),
                 [&](const ModelPoint& p) { return p.lab == lab; });
    out += quality_row(lab, quality_of(own));
  }
  out += quality_row("**all**", quality_of(points));
  out +=
      "\n| lab, work | rung | items | measured, µs | modelled, µs | ratio | limiter "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const ModelPoint& p : points)
    out += fmt::format("| {} {} | {} | {} | {} | {} | {:.2f} | {} |\n", p.lab, p.work, p.rung, p.n,
                       us_text(p.measured_us), us_text(p.modelled_us), p.modelled_us / p.measured_us,
                       p.bound_by);
  return out;
}

}  // namespace course::grader
