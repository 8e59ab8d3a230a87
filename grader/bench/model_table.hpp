// SPDX-License-Identifier: MIT
// Modelled times beside measured ones: how far off they are, and whether the variants of a lab come in the
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
  std::string bound_by;  // what the model says holds the longest launch
};

struct ModelQuality {
  int n_rungs = 0;
  double median_error = 0;       // |modelled ÷ measured − 1|, as a ratio above 1 either way
  int n_pairs = 0, n_right = 0;  // of variants of the same work that differ by more than 20 %
};
ModelQuality quality_of(const std::vector<ModelPoint>& points);

// The table of handouts/model.md: a row a lab with its quality, then a row a rung.
std::string model_markdown(const std::vector<ModelPoint>& points, const std::string& measured_on);

}  // namespace course::grader
