// SPDX-License-Identifier: MIT
// Tables of a report: a caption, column heads, and per row a head of its own, so that a screen reader can say
// where a figure stands. A table that is too wide for the window scrolls by itself, with the keyboard, too.
#pragma once

#include <string>
#include <vector>

#include "page/page.hpp"

namespace course::grader::page {

struct Column {
  Html title;
  bool number = false;  // right-aligned, digits of one width, never broken
};

struct Cell {
  Html content;
  Tone tone = Tone::plain;
};

struct Table {
  std::string caption;               // what it shows: read aloud, and shown when `shows_caption`
  std::vector<Column> columns = {};  // the first one holds the rows' heads
  std::vector<std::vector<Cell>> rows = {}, foot = {};
  bool shows_caption = false;
};

Html table(const Table& t);

}  // namespace course::grader::page
