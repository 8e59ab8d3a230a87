// SPDX-License-Identifier: MIT
// Tables of a report: a caption, column headers and row headers, so that a screen reader can announce the
// position of a cell. A table that is wider than the window scrolls by itself, also by keyboard.
#pragma once

#include <string>
#include <vector>

#include "page/page.hpp"

namespace course::grader::page {

struct Column {
  Html title;
  bool number = false;  // right-aligned, digits of equal width, no line breaks
};

struct Cell {
  Html content;
  Tone tone = Tone::plain;
};

struct Table {
  std::string caption;               // for screen readers; visible if `shows_caption`
  std::vector<Column> columns = {};  // the first column holds the row headers
  std::vector<std::vector<Cell>> rows = {}, foot = {};
  bool shows_caption = false;
};

Html table(const Table& t);

// A share from 0 to 1 as a small bar for a cell, to be shown beside the number.
Html meter(double share);

}  // namespace course::grader::page
