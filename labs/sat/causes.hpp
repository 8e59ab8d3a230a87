// SPDX-License-Identifier: MIT
// Likely causes of wrong tables and means, for problem.cpp: one rule for each mistake that explains an output
// (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "sat/baseline.hpp"
#include "sat/lab.hpp"

namespace course::sat {

using namespace lab;  // NOLINT: this file is written in that library's terms

struct Size {
  std::size_t width = 0, height = 0;
};
inline Size size_of(const Case& c) {
  return {static_cast<std::size_t>(c.params[kWidth]), static_cast<std::size_t>(c.params[kHeight])};
}
inline Corner corner_of(const Case& c) {
  return static_cast<Corner>(c.op);
}

// --- Likely causes of a wrong table: one rule for each mistake. Each computes the table that the mistake
// gives.

// The data of the rules, for tables and boxes: `got` and the right answer.
template <typename Sum>
struct Output {
  Size size;
  std::span<const Sum> got;
  std::span<const Expected> expected;
  std::size_t first_wrong;

  // Whether all of `got` equals wanted(r, c), exactly or, for floats, approximately, and differs from the
  // right answer: in an image of one row or column, for example, many mistakes change nothing. `fine`: the
  // mistake is one of rounding.
  template <typename Wanted>
  bool is_all(Wanted wanted, bool fine = false) const {
    const auto here = static_cast<long double>(wanted(first_wrong / size.width, first_wrong % size.width));
    const Expected& right = expected[first_wrong];
    const long double least = fine || std::is_integral_v<Sum> ? 0 : 1e-4L * (1 + std::abs(right.value));
    if (!(std::abs(here - right.value) > static_cast<long double>(right.bound) + least)) return false;
    for (std::size_t r = 0; r < size.height; ++r) {
      for (std::size_t c = 0; c < size.width; ++c) {
        const Sum a = got[r * size.width + c];
        const Sum b = wanted(r, c);
        if constexpr (std::is_integral_v<Sum>) {
          if (a != b) return false;
        } else {
          if (!(std::abs(a - b) <= static_cast<Sum>(1e-4) * (1 + std::abs(b)))) return false;
        }
      }
    }
    return true;
  }
  bool is_right(std::size_t i) const {
    const auto difference = std::abs(static_cast<long double>(got[i]) - expected[i].value);
    return difference <= static_cast<long double>(expected[i].bound);
  }
  bool is_table(const std::vector<Sum>& table) const {
    return is_all([&](std::size_t r, std::size_t c) { return table[r * size.width + c]; });
  }
};

// From what a piece of a row goes on: from nothing, from the total of the piece before it alone, from the
// right sum without that total or with its own; or each of its items from the result at the same place of the
// piece before it.
enum class Carry { none, total, late, with_own, of_place };

template <typename T>
struct TableFacts {
  using Sum = typename SumOf<T>::Type;
  const Case& c;
  std::span<const T> items;
  Output<Sum> out;

  Size size() const { return size_of(c); }
  // The number of row r, counted from the corner, and the reverse.
  std::size_t row(std::size_t r) const { return row_from(corner_of(c), r, size().height); }
  std::vector<Sum> table(Size as, Corner corner) const {
    std::vector<Sum> result(items.size());
    table_one_thread<T>(items, as.width, as.height, corner, result);
    return result;
  }
  // The columns of value(i) are scanned.
  template <typename Value>
  std::vector<Sum> columns_of(Value value) const {
    std::vector<Sum> result(items.size());
    const std::size_t width = size().width;
    for (std::size_t k = 0; k < size().height; ++k)
      for (std::size_t col = 0; col < width; ++col)
        result[row(k) * width + col] =
            wrapping_add(k == 0 ? Sum{0} : result[row(k - 1) * width + col], value(row(k) * width + col));
    return result;
  }
  // The rows are scanned, in pieces; the columns are not.
  std::vector<Sum> rows(std::size_t piece = SIZE_MAX, Carry carry = Carry::none) const {
    std::vector<Sum> result(items.size());
    Sum own{0}, before{0}, all{0};
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t column = i % size().width;
      if (column == 0) own = all = Sum{0};
      if (column % piece == 0) {
        before = carry == Carry::total ? own : carry == Carry::late ? all : Sum{0};
        all = wrapping_add(all, own);
        own = Sum{0};
        if (carry == Carry::with_own && column > 0) {
          before = all;
          for (std::size_t k = i; k < i + std::min(piece, size().width - column); ++k)
            before = wrapping_add(before, static_cast<Sum>(items[k]));
        }
      }
      own = wrapping_add(own, static_cast<Sum>(items[i]));
      result[i] = wrapping_add(carry == Carry::of_place && column >= piece ? result[i - piece] : before, own);
    }
    return result;
  }
};

std::string other_corner(const auto& f) {
  const Corner corner = corner_of(f.c);
  const Corner other = corner == Corner::top_left ? Corner::lower_left : Corner::top_left;
  return text_if(f.out.is_table(f.table(f.size(), other)),
                 "this is the table from the other corner: these rectangles must start at the {}",
                 corner == Corner::top_left ? "top left" : "lower left");
}

std::string sides_swapped(const auto& f) {
  const auto [width, height] = f.size();
  return text_if(f.out.is_table(f.table({height, width}, corner_of(f.c))),
                 "width and height are swapped: this is the table of an image {} wide and {} high, and "
                 "this one is {} wide and {} high",
                 height, width, width, height);
}

// The rows of the image are read at a wrong distance from each other.
template <typename T>
std::string wrong_pitch(TableFacts<T> f) {
  const auto [width, height] = f.size();
  const std::span<const T> items = f.items;
  for (const std::size_t pitch : {std::size_t{0}, height, width - 1, width + 1}) {
    if (pitch == width || height < 2 || (height - 1) * pitch + width > items.size()) continue;
    const auto row = [&, w = width, h = height](std::size_t k) {
      return items.subspan(f.row(0) == 0 ? k * pitch : (h - 1) * w - k * pitch, w);
    };
    using Sum = typename TableFacts<T>::Sum;
    const Sum second = wrapping_add(static_cast<Sum>(row(0)[0]), static_cast<Sum>(row(1)[0]));
    if (f.out.got[f.row(1) * width] != second) continue;  // most do not fit, and an image may be long
    std::vector<T> read(items.size());
    for (std::size_t k = 0; k < height; ++k) std::ranges::copy(row(k), read.data() + f.row(k) * width);
    f.items = read;
    if (f.out.is_table(f.table(f.size(), corner_of(f.c))))
      return pitch == 0 ? "every row was read from the image's first row: the start of the row is missing in "
                          "the index"
                        : fmt::format(
                              "the image was read as if its rows began {} items apart: that is "
                              "the width, {}",
                              pitch, width);
  }
  return "";
}

std::string columns_forgotten(const auto& f) {
  return text_if(f.out.is_table(f.rows()), "the rows are scanned, the columns are not");
}

// The rows are scanned, but only the first columns, or the columns only in the first rows: a grid or a loop
// of the wrong length. To those causes that are known already, only a loop over groups of rows is added.
void part_of_the_columns(const auto& f, std::vector<Cause>& causes) {
  const auto [width, height] = f.size();
  const auto right = f.table(f.size(), corner_of(f.c)), rows = f.rows();
  std::size_t column = width, row = height;  // the first of the wrong entries, counted from the corner
  for (std::size_t i = 0; i < f.out.got.size(); ++i) {
    if (f.out.is_right(i)) continue;
    column = std::min(column, i % width);
    row = std::min(row, f.row(i / width));
  }
  const bool is_known = !causes.empty();
  // Where whole blocks of threads for the other side end, the grid was made for that side.
  const auto add = [&](const char* rule, std::size_t first, std::size_t side, const char* name,
                       const char* text) {
    const std::size_t block = std::min<std::size_t>(std::size_t{1} << std::countr_zero(first), 1024);
    const bool of_side = first == side || (block >= 32 && first > side && first - side < block);
    const std::string what = fmt::format(fmt::runtime(text), first);
    if (of_side)
      causes.push_back(
          {fmt::format("{} {}", rule, name),
           fmt::format("{}: as far as {} for the {}, {}, reaches. Was the grid, or a bound, made "
                       "from the wrong side of the image?",
                       what, first == side ? "a bound" : "a grid of blocks", name, side)});
    causes.push_back({rule, what});
  };
  if (!is_known && column > 0 && f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
        return (col < column ? right : rows)[r * w + col];
      }))
    add("columns_not_scanned", column, height, "height",
        "the columns from {} on are not scanned, only their rows are");
  if (!f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
        return (f.row(r) < row ? right : rows)[r * w + col];
      }))
    return;
  const std::size_t n_before = causes.size();
  // Of which length the groups are, an image does not show: 3 rows are left over from groups of 4 and of 16.
  for (std::size_t group = 2; group <= 32; group *= 2)
    if (const std::size_t n_left = height % group;
        row == std::max<std::size_t>(height - n_left, 1) && n_left > 0)
      causes.push_back(
          {fmt::format("column_tail {}", group),
           fmt::format("the last {} of {} rows, counted from the corner, are not added to the columns: those "
                       "after the last whole group of rows",
                       n_left, height)});
  if (row + 1 == height) causes.push_back({"last_row_alone", "the last row is not added to the columns"});
  if (!is_known && causes.size() == n_before && row > 1)
    add("rows_not_added", row, width, "width",
        "the rows from {} on, counted from the corner, are not added to the columns");
}

// The first column with a wrong entry.
std::size_t first_wrong_column(const auto& f) {
  std::size_t first = f.size().width;
  for (std::size_t i = 0; i < f.out.got.size(); ++i)
    if (!f.out.is_right(i)) first = std::min(first, i % f.size().width);
  return first;
}

bool are_columns_of(const auto& f, const auto& rows) {
  return f.out.is_table(f.columns_of([&](std::size_t i) { return rows[i]; }));
}

// Each tile of a row has the carry of the one before it. Two tiles look like pieces_of_rows.
std::string carry_too_late(const auto& f) {
  const std::size_t tile = first_wrong_column(f);
  const bool has_third = tile >= 2 && 2 * tile < f.size().width;
  return text_if(has_third && are_columns_of(f, f.rows(tile, Carry::late)),
                 "the carries in the rows are one tile late: the tile at column {} has none, and each one "
                 "after it has that of the tile before it",
                 tile);
}

// The rows are scanned in pieces; a new piece begins in the first column with a wrong entry.
std::string pieces_of_rows(const auto& f) {
  const std::size_t piece = first_wrong_column(f);
  if (piece < 2) return "";
  const struct {
    std::size_t parts;  // of the columns up to there
    Carry carry;
    const char* text;
  } kPieces[] = {
      {1, Carry::none,
       "the sums of the rows start again from 0 at column {0}: the sum of the items before it is missing"},
      {2, Carry::total,
       "from column {0} on, the sums of the rows hold only the {1} items before each tile: the carry is "
       "replaced by a tile's total, which must be added to it"},
      {1, Carry::with_own,
       "from column {0} on, the sums of the rows also hold the total of their own {0} items: they must get "
       "that of the items before these alone"},
      {1, Carry::of_place,
       "from column {0} on, each sum of a row goes on from the sum {0} columns before it: the carry must be "
       "the total of the whole tile, the same for all of its threads"},
  };
  for (const auto& [parts, carry, text] : kPieces)
    if (piece % parts == 0 && are_columns_of(f, f.rows(piece / parts, carry)))
      return fmt::format(fmt::runtime(text), piece, piece / parts);
  return "";
}

template <typename T>
std::string rows_forgotten(const TableFacts<T>& f) {
  const auto columns =
      f.columns_of([&](std::size_t i) { return static_cast<typename TableFacts<T>::Sum>(f.items[i]); });
  return text_if(f.out.is_table(columns), "the columns are scanned, the rows are not");
}

template <typename T>
std::string exclusive_table(const TableFacts<T>& f) {
  const auto right = f.table(f.size(), corner_of(f.c));
  const bool exclusive = f.out.is_all([&](std::size_t r, std::size_t col) {
    const std::size_t k = f.row(r);
    return k == 0 || col == 0 ? typename TableFacts<T>::Sum{0}
                              : right[f.row(k - 1) * f.size().width + col - 1];
  });
  return text_if(exclusive,
                 "this is the exclusive table: every rectangle must include the entry's own row and column");
}

std::string transposed(const auto& f) {
  const auto [width, height] = f.size();
  const auto right = f.table(f.size(), corner_of(f.c));
  const bool turned = width == height && f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
    return right[col * w + r];
  });
  return text_if(turned, "rows and columns are swapped: this is the transposed table");
}

template <typename T>
constexpr Rule<TableFacts<T>> kTableRules[] = {
    {"other_corner", other_corner<TableFacts<T>>},
    {"sides_swapped", sides_swapped<TableFacts<T>>},
    {"wrong_pitch", [](const TableFacts<T>& f) { return wrong_pitch(f); }},
    {"columns_forgotten", columns_forgotten<TableFacts<T>>},
    {"rows_forgotten", rows_forgotten<T>},
    {"pieces_of_rows", pieces_of_rows<TableFacts<T>>},
    {"carry_too_late", carry_too_late<TableFacts<T>>},
    {"exclusive_table", exclusive_table<T>},
    {"transposed", transposed<TableFacts<T>>},
};

// --- Likely causes of wrong means: one rule for each mistake.

template <typename Sum>
struct BoxFacts {
  using Mean = MeanOf<Sum>;
  const Case& c;
  std::span<const Sum> table;
  std::span<const std::uint32_t> radii;
  Output<Mean> out;

  Corner corner() const { return corner_of(c); }
  std::size_t width() const { return size_of(c).width; }
  std::size_t height() const { return size_of(c).height; }
  std::size_t radius(std::size_t r, std::size_t col) const {
    return radii.empty() ? static_cast<std::size_t>(c.params[kRadius]) : radii[r * width() + col];
  }
  Box box(std::size_t r, std::size_t col) const {
    return box_around(r, col, radius(r, col), width(), height());
  }
  Mean sum(const Box& box) const {
    return static_cast<Mean>(box_sum(table, width(), edges_of(box, corner(), height())));
  }
  Sum entry(std::size_t r, std::size_t col) const { return table[r * width() + col]; }
  // Whether the means are those that such sums of the boxes give.
  template <typename SumOfBox>
  bool divides(SumOfBox sum_of, bool fine = false) const {
    const auto mean = [&](std::size_t r, std::size_t col) {
      const Box around = box(r, col);
      const auto sum = static_cast<Mean>(sum_of(around, edges_of(around, corner(), height())));
      return sum / static_cast<Mean>(around.area());
    };
    return out.is_all(mean, fine);
  }
};

std::string not_divided(const auto& f) {
  return text_if(f.out.is_all([&](std::size_t r, std::size_t col) { return f.sum(f.box(r, col)); }),
                 "these are the sums of the boxes: divide by how many items each has");
}

template <typename F>
std::string whole_window(const F& f) {
  const bool whole = f.out.is_all([&](std::size_t r, std::size_t col) {
    const auto side = 2 * static_cast<typename F::Mean>(f.radius(r, col)) + 1;
    return f.sum(f.box(r, col)) / (side * side);
  });
  return text_if(whole,
                 "divided by the size of the whole box everywhere: at the border only the part inside the "
                 "image counts");
}

template <typename F>
std::string rounded_down(const F& f) {
  using Mean = typename F::Mean;
  bool any = false;
  const bool whole = f.out.is_all(
      [&](std::size_t r, std::size_t col) {
        const Mean mean = f.sum(f.box(r, col)) / static_cast<Mean>(f.box(r, col).area());
        any = any || mean != std::trunc(mean);
        return std::trunc(mean);
      },
      true);
  const auto is_whole = [](Mean mean) { return mean == std::trunc(mean); };
  return text_if(whole && any && std::ranges::all_of(f.out.got, is_whole),
                 "the means are whole numbers, rounded towards 0: divide floats, not integers");
}

std::string table_of_other_corner(const auto& f) {
  const Corner other = f.corner() == Corner::top_left ? Corner::lower_left : Corner::top_left;
  const bool turned = f.divides([&](const Box& box, const Edges&) {
    return box_sum(f.table, f.width(), edges_of(box, other, f.height()));
  });
  return text_if(turned, "the table was read as one from the other corner");
}

std::string overlap_not_added_back(const auto& f) {
  const bool lacks = f.divides([&](const Box&, const Edges& edges) {
    const auto sum = box_sum(f.table, f.width(), edges);
    const bool overlap = edges.cut_rows && edges.cut_columns;
    return overlap ? wrapping_subtract(sum, f.entry(edges.near, edges.left)) : sum;
  });
  return text_if(lacks,
                 "the rectangle that is subtracted twice, with the rows and with the columns, must be added "
                 "back once");
}

template <typename Sum>
std::string floats_too_early(const BoxFacts<Sum>& f) {
  using Mean = typename BoxFacts<Sum>::Mean;
  const auto in_floats = [&](const Box&, const Edges& edges) {
    auto sum = static_cast<Mean>(f.entry(edges.far, edges.right));
    if (edges.cut_columns) sum -= static_cast<Mean>(f.entry(edges.far, edges.left));
    if (edges.cut_rows) sum -= static_cast<Mean>(f.entry(edges.near, edges.right));
    if (edges.cut_rows && edges.cut_columns) sum += static_cast<Mean>(f.entry(edges.near, edges.left));
    return sum;
  };
  return text_if(
      std::is_integral_v<Sum> && f.divides(in_floats, true),
      "the look-ups were converted to floats before they were subtracted: as integers they lose no "
      "digit");
}

// Near edges were looked up inside the box instead of one position before it: in some of the three look-ups
// that are subtracted or added back.
std::string near_edge_inside(const auto& f) {
  enum Inside : unsigned { row = 1, column = 2, row_of_corner = 4, column_of_corner = 8 };
  // Those with the fewest mistakes first: in an image of one column, a mistake of columns changes nothing.
  for (const unsigned inside : {1u, 2u, 4u, 8u, 3u, 5u, 6u, 9u, 10u, 12u, 7u, 11u, 13u, 14u, 15u}) {
    const auto near = [&](std::size_t at, unsigned moved) {
      if ((inside & moved) == 0) return at;
      return f.corner() == Corner::lower_left ? at - 1 : at + 1;
    };
    const auto left = [&](std::size_t at, unsigned moved) { return (inside & moved) != 0 ? at + 1 : at; };
    const bool fits = f.divides([&](const Box&, const Edges& edges) {
      auto sum = f.entry(edges.far, edges.right);
      if (edges.cut_columns) sum = wrapping_subtract(sum, f.entry(edges.far, left(edges.left, column)));
      if (edges.cut_rows) sum = wrapping_subtract(sum, f.entry(near(edges.near, row), edges.right));
      if (edges.cut_rows && edges.cut_columns)
        sum = wrapping_add(sum, f.entry(near(edges.near, row_of_corner), left(edges.left, column_of_corner)));
      return sum;
    });
    if (!fits) continue;
    const bool rows = (inside & (row | row_of_corner)) != 0;
    const bool columns = (inside & (column | column_of_corner)) != 0;
    return fmt::format(
        "each box lacks the {} next to the corner: what is subtracted ends one *before* the box",
        rows && columns ? "row and column"
        : rows          ? "row"
                        : "column");
  }
  return "";
}

// All wrong entries have a radius that exceeds the range of int, or of 64 bits, when it is added to a row or
// column.
std::string radius_overflows(const auto& f) {
  constexpr std::size_t kIntMax = 0x7fffffff;
  const auto is_right = [&](std::size_t i) {
    const Expected& right = f.out.expected[i];
    return std::abs(static_cast<long double>(f.out.got[i]) - right.value) <=
           static_cast<long double>(right.bound) + 1e-6L * std::abs(right.value);
  };
  bool some_right = false;
  for (std::size_t i = 0; i < f.out.got.size(); ++i) {
    const std::size_t r = i / f.width(), col = i % f.width();
    const bool leaves = f.radius(r, col) > kIntMax - std::max(r, col);
    if (!leaves && !is_right(i)) return "";
    some_right = some_right || !leaves;
  }
  if (!(some_right || f.radii.empty())) return "";
  const std::size_t radius = f.radius(f.out.first_wrong / f.width(), f.out.first_wrong % f.width());
  return fmt::format(
      "only entries with a radius as large as {} are wrong: a row or column plus the radius leaves the range "
      "of {} bits; cut the radius first",
      radius, radius >> 62 != 0 ? 64 : 32);
}

template <typename Sum>
constexpr Rule<BoxFacts<Sum>> kBoxRules[] = {
    {"not_divided", not_divided<BoxFacts<Sum>>},
    {"whole_window", whole_window<BoxFacts<Sum>>},
    {"rounded_down", rounded_down<BoxFacts<Sum>>},
    {"table_of_other_corner", table_of_other_corner<BoxFacts<Sum>>},
    {"overlap_not_added_back", overlap_not_added_back<BoxFacts<Sum>>},
    {"floats_too_early", floats_too_early<Sum>},
    {"near_edge_inside", near_edge_inside<BoxFacts<Sum>>},
    {"radius_overflows", radius_overflows<BoxFacts<Sum>>, false,
     "only entries with a very large radius are wrong: a row or column plus the radius leaves the range of "
     "its type; cut the radius first"},
};

}  // namespace course::sat
