// SPDX-License-Identifier: MIT
// Compares modelled with measured times: the relative error, and whether the variants of a lab are in the
// right order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace course::grader {

struct ModelPoint {
  std::string lab, work, rung;
  std::uint64_t n = 0;
  double measured_us = 0, modelled_us = 0;
  std::string bound_by;  // the limiter of the longest launch, by the model
};

struct ModelQuality {
  int n_rungs = 0;
  double median_error = 0;       // max(modelled ÷ measured, measured ÷ modelled) − 1
  int n_pairs = 0, n_right = 0;  // of variants of the same work that differ by more than 20 %
};
ModelQuality quality_of(const std::vector<ModelPoint>& points);

// The tables of handouts/model.md: one row per lab with its quality, then one row per rung.
std::string model_markdown(const std::vector<ModelPoint>& points, const std::string& measured_on);

}  // namespace course::grader
