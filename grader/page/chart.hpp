// SPDX-License-Identifier: MIT
// Charts of a report, as inline SVG in the page's colours. Series differ in colour, in dash and in mark;
// every value can be read as text (a title at each mark), and the numbers belong in a table beside the chart,
// too.
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
  bool logarithmic = false;                       // values must be positive then; others are left out
  std::function<std::string(double)> label = {};  // of a tick and in titles; default: up to four digits
};

struct LineChart {
  std::string title;        // below the chart
  std::string description;  // what it shows, in a sentence: read aloud
  Axis x = {}, y = {};
  std::vector<Series> series = {};
};

// Ticks of x stand at the points' own values. At most eight series can be told apart; more are drawn, and
// look alike by turns.
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
  double full = 0;  // the value of a bar as long as can be; 0: the greatest value
};

// Horizontal bars, one below the other.
Html bar_chart(const BarChart& chart);

// A share from 0 to 1 as a little bar for a table's cell; the figure itself stands beside it.
Html meter(double share);

}  // namespace course::grader::page
