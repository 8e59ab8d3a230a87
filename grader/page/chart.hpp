// SPDX-License-Identifier: MIT
// Charts of a report, as inline SVG in the page's colours. Series differ in colour, dash and mark. Every mark
// has its value as a title. A table beside the chart should contain the numbers as well.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "page/page.hpp"

namespace course::grader::page {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
  bool reference = false;                         // a ceiling or a baseline: drawn thin and grey
};

struct Axis {
  std::string title;                              // "items", "GB/s"
  bool logarithmic = false;                       // if so, values that are not positive are left out
  std::function<std::string(double)> label = {};  // of ticks and titles; default: four significant digits
};

struct LineChart {
  std::string title;        // below the chart
  std::string description;  // one sentence for screen readers
  Axis x = {}, y = {};
  std::vector<Series> series = {};
};

// The ticks of x are at the points' own values. At most 32 series look different (and 12 references); further
// ones repeat these looks.
Html line_chart(const LineChart& chart);

struct Bar {
  std::string label;
  double value = 0;
  std::string value_text;  // "3.2 TB/s"
  bool reference = false;
};

struct BarChart {
  std::string title, description;
  std::vector<Bar> bars = {};
  double full = 0;  // the value of a bar of full length; 0: the greatest value
};

// Horizontal bars, one below the other.
Html bar_chart(const BarChart& chart);

// A share from 0 to 1 as a small bar for a table cell, to be shown beside the number.
Html meter(double share);

}  // namespace course::grader::page
