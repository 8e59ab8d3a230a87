// SPDX-License-Identifier: MIT
// The trusted side of the summed area table lab: its cases, their inputs, and the right answers. Never linked
// into a runner.
// Reading order: table_cases() and box_cases() list what is tried and why, fill() makes the images, check()
// decides what is accepted. Integers must be exact. Floats are compared with the exact sum: entry (r, c),
// counted from the corner, may have passed through r + c additions, or through the trees of as many items.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "sat/baseline.hpp"
#include "sat/lab.hpp"
#include "sat/points.hpp"

namespace course::sat {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

struct Size {
  std::size_t width = 0, height = 0;
};
Size size_of(const Case& c) {
  return {static_cast<std::size_t>(c.params[kWidth]), static_cast<std::size_t>(c.params[kHeight])};
}
Corner corner_of(const Case& c) {
  return static_cast<Corner>(c.op);
}
bool is_box(const Task& task) {
  return task.id == "box";
}
bool has_radii(const Case& c) {
  return c.params[kHasRadii] != 0;
}

// --- Images.

// The two images of the handout; other sizes repeat 3 1 7 0 4 1 6 3.
template <typename T>
T example_item(Size size, std::size_t i) {
  constexpr int kLowerLeft[] = {2, 1, 0, 0, 0, 1, 2, 0, 1, 2, 1, 0, 1, 1, 0, 2};
  if (size.width == 3 && size.height == 3) return static_cast<T>(i + 1);
  if (size.width == 4 && size.height == 4) return static_cast<T>(kLowerLeft[i]);
  return lab::example_item<T>(i);
}

// Of a long image, one item in about 512 is 1, and the others are 0: sums of 2^31 such floats must be exact.
// The error bound of as many random items would hide a wrong tile.
template <typename T>
void fill_image(std::span<T> items, Size size, Pattern pattern, std::uint64_t seed) {
  const bool is_long = items.size() > std::size_t{1} << 28;
  if (pattern != Pattern::example && !is_long) return lab::fill_items(items, pattern, seed);
  Rng rng(seed);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = is_long ? static_cast<T>(rng.below(512) == 0) : example_item<T>(size, i);
}

// The table that a box filter gets. high_bits: items so large that the table's entries wrap around, but the
// sum of 3 x 3 of them does not. Otherwise bytes, or 32-bit integers in an i64 table.
template <typename Sum>
void fill_table(std::span<Sum> table, Size size, Corner corner, Pattern pattern, std::uint64_t seed) {
  std::vector<Sum> items(table.size());
  if constexpr (std::is_floating_point_v<Sum>) {
    fill_image(std::span(items), size, pattern, seed);
  } else {
    Rng rng(seed);
    constexpr unsigned kShift = sizeof(Sum) == 4 ? 28 : 59;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (pattern == Pattern::high_bits) {
        items[i] = static_cast<Sum>((Sum{1} << kShift) - static_cast<Sum>(rng.below(1000)));
      } else if (pattern == Pattern::example) {
        items[i] = example_item<Sum>(size, i);
      } else if constexpr (std::is_unsigned_v<Sum>) {
        items[i] = static_cast<Sum>(rng.below(256));
      } else {
        items[i] = static_cast<std::int32_t>(rng());
      }
    }
  }
  table_one_thread<Sum, Sum>(items, size.width, size.height, corner, table);
}

void fill_radii(std::span<std::uint32_t> radii, std::uint64_t seed) {
  Rng rng(seed_for(seed, "radii"));
  for (auto& radius : radii) {
    const auto kind = rng.below(32);
    radius = kind == 0 ? 0xffffffffu : kind < 4 ? 0 : static_cast<std::uint32_t>(rng.below(24));
  }
}

// --- The right answers: tables.

// A sum in a type that is exact, and the same sum of the magnitudes.
struct Exact {
  long double sum = 0, magnitude = 0;
  void add(const Exact& other) {
    sum += other.sum;
    magnitude += other.magnitude;
  }
};

// Calls use(r, expected) with each row of the right table, on all cores, each with a band of rows. A core
// needs memory for two rows; a table of all expected values takes eight times as much as the image.
template <typename T, typename Use>
void each_expected_row(const Case& c, std::span<const T> items, const Use& use) {
  const Size size = size_of(c);
  const double trees = 2 * std::log2(static_cast<double>((size.width + 2) * (size.height + 2)));
  const std::size_t n_bands = lab::n_shares_of(size.height, kWorthAThread / (size.width + 1) + 1);
  // The sums of the columns before each band, counted from the corner.
  std::vector<std::vector<Exact>> before(n_bands + 1, std::vector<Exact>(size.width));
  std::atomic<bool> whole = true;  // every item is an integer
  const auto add_rows = [&](std::size_t band, std::vector<Exact>& columns, auto after_row) {
    for (std::size_t k = size.height * band / n_bands; k < size.height * (band + 1) / n_bands; ++k) {
      const std::size_t r = row_from(corner_of(c), k, size.height);
      for (std::size_t i = 0; i < size.width; ++i) {
        const T item = items[r * size.width + i];
        columns[i].add({item, std::abs(item)});
        if (item != std::floor(item)) whole = false;
      }
      after_row(k, r);
    }
  };
  lab::on_all_cores(n_bands, [&](std::size_t band) { add_rows(band, before[band + 1], [](auto, auto) {}); });
  for (std::size_t band = 1; band < n_bands; ++band)
    for (std::size_t i = 0; i < size.width; ++i) before[band][i].add(before[band - 1][i]);
  lab::on_all_cores(n_bands, [&](std::size_t band) {
    std::vector<Expected> expected(size.width);
    add_rows(band, before[band], [&](std::size_t k, std::size_t r) {
      Exact entry;
      for (std::size_t i = 0; i < size.width; ++i) {
        entry.add(before[band][i]);
        const double depth = static_cast<double>(k + i) + trees + 10;
        expected[i] = {entry.sum,
                       sum_error_bound(c.dtype, depth, static_cast<double>(entry.magnitude), whole)};
      }
      use(r, std::span<const Expected>(expected));
    });
  });
}

// Compares an output of floats with the rows that each_row(use) gives. The rules below need all expected
// values; `expected` is filled with them unless the output is too long for this.
template <typename EachRow>
std::optional<Mismatch> compare_rows(const HostBuffer& out, std::size_t width, const EachRow& each_row,
                                     std::vector<Expected>& expected) {
  constexpr std::uint64_t kMostExplained = std::uint64_t{1} << 24;
  lab::BufferSpec spec = out.spec;
  const std::size_t row_bytes = width * bytes_of(spec.dtype);
  if (spec.count <= kMostExplained) expected.resize(spec.count);
  std::mutex one_at_a_time;
  std::optional<Mismatch> first;
  std::uint64_t n_wrong = 0;
  spec.count = width;
  each_row([&](std::size_t r, std::span<const Expected> row) {
    if (!expected.empty()) std::ranges::copy(row, expected.data() + r * width);
    auto wrong = compare_floats(spec, row, std::span(out.bytes).subspan(r * row_bytes, row_bytes));
    if (!wrong) return;
    const std::scoped_lock lock(one_at_a_time);
    n_wrong += wrong->n_wrong;
    wrong->index += r * width;
    if (!first || wrong->index < first->index) first = std::move(wrong);
  });
  if (!first) return std::nullopt;
  if (!expected.empty()) return compare_floats(out.spec, expected, out.bytes);
  return Mismatch{spec.name, first->index, first->expected, first->got, n_wrong, out.spec.count, ""};
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
  std::vector<Sum> rows(std::size_t piece = SIZE_MAX) const {
    std::vector<Sum> result(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
      result[i] =
          wrapping_add(i % size().width % piece == 0 ? Sum{0} : result[i - 1], static_cast<Sum>(items[i]));
    return result;
  }
};

std::string other_corner(const auto& f) {
  const Corner corner = corner_of(f.c);
  const Corner other = corner == Corner::top_left ? Corner::lower_left : Corner::top_left;
  if (!f.out.is_table(f.table(f.size(), other))) return "";
  return fmt::format("this is the table from the other corner: these rectangles must start at the {}",
                     corner == Corner::top_left ? "top left" : "lower left");
}

std::string sides_swapped(const auto& f) {
  const auto [width, height] = f.size();
  if (!(f.out.is_table(f.table({height, width}, corner_of(f.c))))) return "";
  return fmt::format(
      "width and height are swapped: this is the table of an image {} wide and {} high, and "
      "this one is {} wide and {} high",
      height, width, width, height);
}

std::string columns_forgotten(const auto& f) {
  return f.out.is_table(f.rows()) ? "the rows are scanned, the columns are not" : "";
}

// The rows are scanned, and so are the columns, except in the rows after the last whole group of them.
std::vector<Cause> column_tails(const auto& f) {
  const auto [width, height] = f.size();
  const auto right = f.table(f.size(), corner_of(f.c)), rows = f.rows();
  std::vector<Cause> causes;
  const auto tail = [&, w = width, h = height](std::string rule, std::size_t n_whole, std::string text) {
    if (n_whole >= h) return;
    const bool fits = f.out.is_all(
        [&](std::size_t r, std::size_t col) { return (f.row(r) < n_whole ? right : rows)[r * w + col]; });
    if (fits) causes.push_back({std::move(rule), std::move(text)});
  };
  // Of which length the groups are, an image does not show: 3 rows are left over from groups of 4 and of 16.
  for (std::size_t group = 2; group <= 32; group *= 2) {
    const std::size_t n_left = height % group;
    tail(fmt::format("column_tail {}", group), height - n_left,
         fmt::format(
             "the last {} of {} rows, counted from the corner, are not added to the columns: those after "
             "the last whole group of rows",
             n_left, height));
  }
  if (height > 1) tail("last_row_alone", height - 1, "the last row is not added to the columns");
  return causes;
}

// The rows are scanned, but only the first columns, or the columns only in the first rows: a grid or a loop of
// the wrong length.
std::vector<Cause> part_of_the_columns(const auto& f) {
  const auto [width, height] = f.size();
  const auto right = f.table(f.size(), corner_of(f.c)), rows = f.rows();
  std::size_t column = width, row = height;  // the first of the wrong entries, counted from the corner
  for (std::size_t i = 0; i < f.out.got.size(); ++i) {
    if (f.out.is_right(i)) continue;
    column = std::min(column, i % width);
    row = std::min(row, f.row(i / width));
  }
  const char* swapped = "; were width and height swapped?";
  std::vector<Cause> causes;
  if (column > 0 && f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
        return (col < column ? right : rows)[r * w + col];
      }))
    causes.push_back(
        {"columns_not_scanned",
         fmt::format("the columns from {} on are not scanned, only their rows are{}", column,
                     column == height ? fmt::format(": {} is the height{}", height, swapped) : "")});
  if (row > 1 && f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
        return (f.row(r) < row ? right : rows)[r * w + col];
      }))
    causes.push_back(
        {"rows_not_added",
         fmt::format("the rows from {} on, counted from the corner, are not added to the columns{}", row,
                     row == width ? fmt::format(": {} is the width{}", width, swapped) : "")});
  return causes;
}

// The rows are scanned in pieces; a new piece begins in the first column with a wrong entry.
std::string pieces_of_rows(const auto& f) {
  const std::size_t width = f.size().width;
  std::size_t piece = width;
  for (std::size_t i = 0; i < f.out.got.size(); ++i)
    if (!f.out.is_right(i)) piece = std::min(piece, i % width);
  if (piece < 2) return "";
  const auto rows = f.rows(piece), other = f.columns_of([&](std::size_t i) { return rows[i]; });
  return f.out.is_table(other) ? fmt::format(
                                     "the sums of the rows begin anew at column {}: the sum of the items "
                                     "before it is not carried on",
                                     piece)
                               : "";
}

// The scan of the transposed rows got the sizes of the image. If its rows overlapped, the result would be a race.
template <typename T>
std::string second_scan_swapped(const TableFacts<T>& f) {
  using Sum = typename TableFacts<T>::Sum;
  const auto [width, height] = f.size();
  if (width == height || (width > height && height > 1)) return "";
  const auto rows = f.rows();
  std::vector<Sum> turned(std::max(width * height, (height - 1) * height + width));
  for (std::size_t i = 0; i < rows.size(); ++i) turned[i % width * height + f.row(i / width)] = rows[i];
  for (std::size_t r = 0; r < height; ++r)
    for (std::size_t c = 1; c < width; ++c)
      turned[r * height + c] = wrapping_add(turned[r * height + c - 1], turned[r * height + c]);
  const bool fits =
      f.out.is_all([&, h = height](std::size_t r, std::size_t col) { return turned[col * h + f.row(r)]; });
  return fits ? fmt::format(
                    "width and height are swapped in the second scan: the transposed table has {} rows of {}",
                    width, height)
              : "";
}

template <typename T>
std::string rows_forgotten(const TableFacts<T>& f) {
  const auto columns =
      f.columns_of([&](std::size_t i) { return static_cast<typename TableFacts<T>::Sum>(f.items[i]); });
  return f.out.is_table(columns) ? "the columns are scanned, the rows are not" : "";
}

template <typename T>
std::string exclusive_table(const TableFacts<T>& f) {
  const auto right = f.table(f.size(), corner_of(f.c));
  const bool exclusive = f.out.is_all([&](std::size_t r, std::size_t col) {
    const std::size_t k = f.row(r);
    return k == 0 || col == 0 ? typename TableFacts<T>::Sum{0}
                              : right[f.row(k - 1) * f.size().width + col - 1];
  });
  if (!exclusive) return "";
  return "this is the exclusive table: every rectangle must include the entry's own row and column";
}

std::string transposed(const auto& f) {
  const auto [width, height] = f.size();
  const auto right = f.table(f.size(), corner_of(f.c));
  const bool turned = width == height && f.out.is_all([&, w = width](std::size_t r, std::size_t col) {
    return right[col * w + r];
  });
  return turned ? "rows and columns are swapped: this is the transposed table" : "";
}

template <typename T>
std::string integers_in_floats(const TableFacts<T>& f) {
  using Sum = typename TableFacts<T>::Sum;
  if constexpr (std::is_integral_v<Sum>) {
    // Every wrong sum has more than a float's 24 significant bits, and the error is no larger than that of
    // many roundings.
    bool rounded = true, short_ones = false;
    for (std::size_t i = 0; i < f.out.got.size() && rounded; ++i) {
      const auto got = static_cast<long double>(f.out.got[i]), right = f.out.expected[i].value;
      const bool is_float = static_cast<long double>(static_cast<float>(f.out.got[i])) == got;
      rounded = is_float && std::abs(got - right) <= 1e-3L * std::abs(right);
      short_ones = short_ones || std::abs(right) > 0x1p24L;
    }
    if (rounded && short_ones)
      return "the sums have the digits of a float only: integers were added as floats. Keep them in "
             "TableJob::Sum";
  }
  return "";
}

template <typename T>
constexpr Rule<TableFacts<T>> kTableRules[] = {
    {"other_corner", other_corner<TableFacts<T>>},   {"sides_swapped", sides_swapped<TableFacts<T>>},
    {"second_scan_swapped", second_scan_swapped<T>}, {"columns_forgotten", columns_forgotten<TableFacts<T>>},
    {"rows_forgotten", rows_forgotten<T>},           {"pieces_of_rows", pieces_of_rows<TableFacts<T>>},
    {"exclusive_table", exclusive_table<T>},         {"transposed", transposed<TableFacts<T>>},
    {"integers_in_floats", integers_in_floats<T>},
};

// --- The right answers: boxes.

// As each_expected_row, for the means of boxes.
template <typename Sum, typename Use>
void each_expected_row_of_means(const Case& c, std::span<const Sum> table,
                                std::span<const std::uint32_t> radii, const Use& use) {
  const Size size = size_of(c);
  bool whole = true;
  if constexpr (std::is_floating_point_v<Sum>) {
    for (const Sum entry : table) whole = whole && entry == std::floor(entry);
  }
  const auto expected_at = [&](std::size_t r, std::size_t col) -> Expected {
    const auto radius =
        radii.empty() ? static_cast<std::size_t>(c.params[kRadius]) : radii[r * size.width + col];
    const Box box = box_around(r, col, radius, size.width, size.height);
    const Edges edges = edges_of(box, corner_of(c), size.height);
    Exact exact;
    double lost = 0;
    if constexpr (std::is_floating_point_v<Sum>) {
      const auto take = [&](bool exists, Sum sign, std::size_t row, std::size_t column) {
        const Sum entry = exists ? table[row * size.width + column] : Sum{0};
        exact.add({static_cast<long double>(sign * entry), static_cast<long double>(std::abs(entry))});
      };
      take(true, 1, edges.far, edges.right);
      take(edges.cut_columns, -1, edges.far, edges.left);
      take(edges.cut_rows, -1, edges.near, edges.right);
      take(edges.cut_rows && edges.cut_columns, 1, edges.near, edges.left);
      lost = sum_error_bound(c.dtype, 3, static_cast<double>(exact.magnitude), whole);
    } else {
      exact.sum = static_cast<long double>(box_sum(table, size.width, edges));
    }
    // Converting sum and area, and dividing, are rounded once each.
    const auto area = static_cast<double>(box.area());
    return {exact.sum / static_cast<long double>(area),
            (lost + lab::gamma(mean_type(c.dtype), 3) * static_cast<double>(std::abs(exact.sum))) / area};
  };
  on_all_cores(size.height, kWorthAThread / (size.width + 1) + 1, [&](std::size_t first, std::size_t last) {
    std::vector<Expected> expected(size.width);
    for (std::size_t r = first; r < last; ++r) {
      for (std::size_t col = 0; col < size.width; ++col) expected[col] = expected_at(r, col);
      use(r, std::span<const Expected>(expected));
    }
  });
}

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
  Mean entry(std::size_t r, std::size_t col) const { return static_cast<Mean>(table[r * width() + col]); }
};

std::string not_divided(const auto& f) {
  if (!(f.out.is_all([&](std::size_t r, std::size_t col) { return f.sum(f.box(r, col)); }))) return "";
  return "these are the sums of the boxes: divide by how many items each has";
}

template <typename F>
std::string whole_window(const F& f) {
  const bool whole = f.out.is_all([&](std::size_t r, std::size_t col) {
    const auto side = 2 * static_cast<typename F::Mean>(f.radius(r, col)) + 1;
    return f.sum(f.box(r, col)) / (side * side);
  });
  return whole ? "divided by the size of the whole box everywhere: at the border only the part inside the "
                 "image counts"
               : "";
}

template <typename F>
std::string table_of_other_corner(const F& f) {
  const Corner other = f.corner() == Corner::top_left ? Corner::lower_left : Corner::top_left;
  const bool turned = f.out.is_all([&](std::size_t r, std::size_t col) {
    const Box box = f.box(r, col);
    return static_cast<typename F::Mean>(box_sum(f.table, f.width(), edges_of(box, other, f.height()))) /
           static_cast<typename F::Mean>(box.area());
  });
  return turned ? "the table was read as one from the other corner" : "";
}

template <typename F>
std::string overlap_not_added_back(const F& f) {
  const bool lacks = f.out.is_all([&](std::size_t r, std::size_t col) {
    const Box box = f.box(r, col);
    const Edges edges = edges_of(box, f.corner(), f.height());
    auto sum = box_sum(f.table, f.width(), edges);
    if (edges.cut_rows && edges.cut_columns)
      sum = wrapping_subtract(sum, f.table[edges.near * f.width() + edges.left]);
    return static_cast<typename F::Mean>(sum) / static_cast<typename F::Mean>(box.area());
  });
  return lacks ? "the rectangle that is subtracted twice, with the rows and with the columns, must be added "
                 "back once"
               : "";
}

template <typename Sum>
std::string floats_too_early(const BoxFacts<Sum>& f) {
  using Mean = typename BoxFacts<Sum>::Mean;
  if constexpr (std::is_integral_v<Sum>) {
    const auto in_floats = [&](std::size_t r, std::size_t col) {
      const Box box = f.box(r, col);
      const Edges edges = edges_of(box, f.corner(), f.height());
      Mean sum = f.entry(edges.far, edges.right);
      if (edges.cut_columns) sum -= f.entry(edges.far, edges.left);
      if (edges.cut_rows) sum -= f.entry(edges.near, edges.right);
      if (edges.cut_rows && edges.cut_columns) sum += f.entry(edges.near, edges.left);
      return sum / static_cast<Mean>(box.area());
    };
    if (f.out.is_all(in_floats, true))
      return "the look-ups were converted to floats before they were subtracted: as integers they lose no "
             "digit";
  }
  return "";
}

// Near edges were looked up inside the box instead of one position before it: in some of the three look-ups
// that are subtracted or added back.
template <typename F>
std::string near_edge_inside(const F& f) {
  using Mean = typename F::Mean;
  enum Inside : unsigned { row = 1, column = 2, row_of_corner = 4, column_of_corner = 8 };
  // Those with the fewest mistakes first: in an image of one column, a mistake of columns changes nothing.
  for (const unsigned inside : {1u, 2u, 4u, 8u, 3u, 5u, 6u, 9u, 10u, 12u, 7u, 11u, 13u, 14u, 15u}) {
    const bool fits = f.out.is_all([&](std::size_t r, std::size_t col) {
      const Box box = f.box(r, col);
      const Edges edges = edges_of(box, f.corner(), f.height());
      const auto entry = [&](std::size_t at, bool in_row, std::size_t left, bool in_column) {
        const std::size_t moved = f.corner() == Corner::lower_left ? at - 1 : at + 1;
        return f.table[(in_row ? moved : at) * f.width() + left + (in_column ? 1 : 0)];
      };
      auto sum = entry(edges.far, false, edges.right, false);
      if (edges.cut_columns)
        sum = wrapping_subtract(sum, entry(edges.far, false, edges.left, (inside & column) != 0));
      if (edges.cut_rows)
        sum = wrapping_subtract(sum, entry(edges.near, (inside & row) != 0, edges.right, false));
      if (edges.cut_rows && edges.cut_columns)
        sum = wrapping_add(sum, entry(edges.near, (inside & row_of_corner) != 0, edges.left,
                                      (inside & column_of_corner) != 0));
      return static_cast<Mean>(sum) / static_cast<Mean>(box.area());
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

// All wrong entries, and no others, have a radius that exceeds the range of int when it is added to a row or
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
    const bool leaves = f.radius(r, col) + std::max(r, col) > kIntMax;
    if (!leaves && !is_right(i)) return "";
    some_right = some_right || !leaves;
  }
  if (!(some_right || f.radii.empty())) return "";
  return fmt::format(
      "only entries with a radius as large as {} are wrong: a row or column plus the radius "
      "leaves the range of 32 bits. Compute it in 64 bits, or cut the radius first",
      f.radius(f.out.first_wrong / f.width(), f.out.first_wrong % f.width()));
}

template <typename Sum>
constexpr Rule<BoxFacts<Sum>> kBoxRules[] = {
    {"not_divided", not_divided<BoxFacts<Sum>>},
    {"whole_window", whole_window<BoxFacts<Sum>>},
    {"table_of_other_corner", table_of_other_corner<BoxFacts<Sum>>},
    {"overlap_not_added_back", overlap_not_added_back<BoxFacts<Sum>>},
    {"floats_too_early", floats_too_early<Sum>},
    {"near_edge_inside", near_edge_inside<BoxFacts<Sum>>},
    {"radius_overflows", radius_overflows<BoxFacts<Sum>>, false,
     "only entries with a very large radius are wrong: a row or column plus the radius leaves the range of "
     "32 bits. Compute it in 64 bits, or cut the radius first"},
};

class SatProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override;

  Shape shape(const Task& task, const Case& c) const override {
    const auto [width, height] = size_of(c);
    if (is_box(task)) {
      Shape shape{{{"d_table", c.dtype, c.n}}, {{"d_out", mean_type(c.dtype), c.n}}};
      if (has_radii(c)) shape.inputs.push_back({"d_radii", DType::u32, c.n});
      return shape;
    }
    return {
        {{"d_in", c.dtype, c.n}}, {{"d_out", sum_type(c.dtype), c.n}}, workspace_of(c.dtype, width, height)};
  }

  void fill(const Task& task, const Case& c, std::uint64_t seed,
            std::span<HostBuffer> inputs) const override {
    if (is_box(task)) {
      with_sum(c.dtype, [&]<typename Sum>(Sum) {
        fill_table(inputs[0].as<Sum>(), size_of(c), corner_of(c), c.pattern, seed);
      });
      if (has_radii(c)) fill_radii(inputs[1].as<std::uint32_t>(), seed);
      return;
    }
    with_item(c.dtype, [&]<typename T>(T) { fill_image(inputs[0].as<T>(), size_of(c), c.pattern, seed); });
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    const auto& out = outputs[0];
    std::optional<Mismatch> mismatch;
    if (is_box(task)) {
      with_sum(c.dtype, [&]<typename Sum>(Sum) {
        const auto table = inputs[0].as<Sum>();
        std::span<const std::uint32_t> radii;
        if (has_radii(c)) radii = inputs[1].as<std::uint32_t>();
        std::vector<Expected> expected;
        mismatch = compare_rows(
            out, size_of(c).width, [&](const auto& use) { each_expected_row_of_means(c, table, radii, use); },
            expected);
        if (mismatch && !expected.empty()) {
          const auto got = out.as<MeanOf<Sum>>();
          diagnose<BoxFacts<Sum>>(*mismatch, kBoxRules<Sum>,
                                  {c, table, radii, {size_of(c), got, expected, mismatch->index}});
        }
      });
    } else {
      with_item(c.dtype, [&]<typename T>(T) {
        using Sum = typename SumOf<T>::Type;
        const auto items = inputs[0].as<T>();
        std::vector<Expected> expected;
        if constexpr (std::is_integral_v<T>) {
          std::vector<Sum> right(items.size());
          table_one_thread<T>(items, size_of(c).width, size_of(c).height, corner_of(c), right);
          mismatch = compare_integers(out.spec, std::as_bytes(std::span(right)), out.bytes);
          if (mismatch)
            for (const Sum sum : right) expected.push_back({static_cast<long double>(sum), 0});
        } else {
          mismatch = compare_rows(
              out, size_of(c).width, [&](const auto& use) { each_expected_row(c, items, use); }, expected);
        }
        if (mismatch && !expected.empty()) {
          const auto got = out.as<Sum>();
          const TableFacts<T> facts{c, items, {size_of(c), got, expected, mismatch->index}};
          std::vector<Cause> tails = is_explained(*mismatch) ? std::vector<Cause>{} : column_tails(facts);
          diagnose<TableFacts<T>>(*mismatch, kTableRules<T>, facts);
          if (tails.empty() && !is_explained(*mismatch)) tails = part_of_the_columns(facts);
          add_causes(*mismatch, std::move(tails));
        }
      });
    }
    if (mismatch) {
      const std::size_t width = size_of(c).width;
      mismatch->position = fmt::format("row {}, column {} of {} rows of {}", mismatch->index / width,
                                       mismatch->index % width, size_of(c).height, width);
    }
    return mismatch;
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs, Baseline which) const override {
    const auto [width, height] = size_of(c);
    const bool one = which == Baseline::one_thread;
    if (is_box(task)) {
      with_sum(c.dtype, [&, w = width, h = height]<typename Sum>(Sum) {
        const auto table = inputs[0].as<Sum>();
        std::span<const std::uint32_t> radii;
        if (has_radii(c)) radii = inputs[1].as<std::uint32_t>();
        const auto means = outputs[0].as<MeanOf<Sum>>();
        on_all_cores(h, one ? h : kWorthAThread / (w + 1) + 1, [&](std::size_t first, std::size_t last) {
          box_filter_rows(table, w, h, corner_of(c), static_cast<std::size_t>(c.params[kRadius]), radii,
                          means, first, last);
        });
      });
      return;
    }
    with_item(c.dtype, [&, w = width, h = height]<typename T>(T) {
      const auto items = inputs[0].as<T>();
      const auto table = outputs[0].as<typename SumOf<T>::Type>();
      const auto solve = one ? &table_one_thread<T> : &table_all_cores<T>;
      solve(items, w, h, corner_of(c), table);
    });
  }

  // A table: every row and every column is scanned, by trees; each item is read once, each sum is written
  // once.
  // A box filter: three additions, four look-ups and one mean per item.
  Ideal ideal(const Task& task, const Case& c) const override {
    const auto w = static_cast<double>(size_of(c).width), h = static_cast<double>(size_of(c).height);
    const double n = w * h;
    if (n == 0) return {};
    const auto bytes = [](DType dtype) { return static_cast<double>(bytes_of(dtype)); };
    if (is_box(task)) {
      const double radii = has_radii(c) ? 4 : 0;
      return {3 * n, 2, n * (4 * bytes(c.dtype) + bytes(mean_type(c.dtype)) + radii)};
    }
    // The sum of the whole image depends on all items. An operation may combine a word's four small items.
    const double n_words = c.dtype == DType::u8 ? n / 4 : n;
    return depends_on({2 * n - w - h, std::ceil(std::log2(w)) + std::ceil(std::log2(h)),
                       n * (bytes(c.dtype) + bytes(sum_type(c.dtype)))},
                      n_words, 1, n_words);
  }

  Case example(const Task& task, std::uint64_t n) const override;
  std::uint64_t row_length(const Task&, const Case& c) const override { return size_of(c).width; }
  std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override;

  // Square images of about n pixels.
  std::vector<Case> bench_cases(const Task& task, std::uint64_t n) const override {
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    std::vector<Case> all = Problem::bench_cases(task, std::uint64_t{side} * side);
    for (Case& c : all) c.params[kWidth] = c.params[kHeight] = static_cast<std::int64_t>(side);
    return all;
  }
};

std::string shape_word(Size size) {
  return fmt::format("{}x{}", size.width, size.height);
}

Case make_case(Corner corner, DType dtype, Size size, Pattern pattern, std::uint32_t purpose,
               std::uint32_t misalign) {
  Case c = make_case({fmt::format("{}_{}", name_of(corner), lab::name_of(dtype)), shape_word(size)}, corner,
                     dtype, size.width * size.height, pattern, purpose, misalign);
  c.params[kWidth] = static_cast<std::int64_t>(size.width);
  c.params[kHeight] = static_cast<std::int64_t>(size.height);
  return c;
}

// The handout's two images for up to 9 and up to 16 items; otherwise rows of 8.
Case SatProblem::example(const Task& task, std::uint64_t n) const {
  const Size size = n <= 9 ? Size{3, 3} : n <= 16 ? Size{4, 4} : Size{8, (n + 7) / 8};
  const Corner corner = size.width == 4 ? Corner::lower_left : Corner::top_left;
  Case c = make_case(corner, is_box(task) ? DType::i64 : DType::i32, size, Pattern::example, kCorrectness, 0);
  c.params[kRadius] = 1;
  return c;
}

// Images as square as possible; one row or one column stays one.
std::optional<Case> SatProblem::with_items(const Task&, const Case& like, std::uint64_t n,
                                           Pattern pattern) const {
  const Size old_size = size_of(like);
  auto width = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  if (old_size.height <= 1) width = n;
  if (old_size.width <= 1) width = 1;
  width = std::max<std::size_t>(width, 1);
  const Size size{width, n / width};
  Case c = like;
  c.n = size.width * size.height;
  c.params[kWidth] = static_cast<std::int64_t>(size.width);
  c.params[kHeight] = static_cast<std::int64_t>(size.height);
  c.pattern = pattern;
  c.words.shape = shape_word(size);
  c.words.items = lab::name_of(pattern);
  return named(std::move(c));
}

constexpr auto kBoth = kCorrectness | kChecks;
constexpr Corner kTop = Corner::top_left, kLow = Corner::lower_left;

std::vector<Case> table_cases() {
  std::vector<Case> all;
  const auto add = [&all](Corner corner, DType dtype, Size size, Pattern pattern = Pattern::random,
                          std::uint32_t purpose = kCorrectness, std::uint32_t misalign = 0) {
    all.push_back(make_case(corner, dtype, size, pattern, purpose, misalign));
  };
  using enum DType;
  // The handout's images from both corners, in every type.
  for (const DType dtype : {i32, u8, f32, f64}) {
    for (const Corner corner : {kTop, kLow}) {
      add(corner, dtype, {3, 3}, Pattern::example);
      add(corner, dtype, {4, 4}, Pattern::example);
    }
  }
  // Empty images, one item; one row or one column around a warp, a block, a block of four items per thread,
  // and many blocks.
  add(kTop, i32, {0, 0});
  add(kLow, i32, {7, 0});
  add(kLow, i32, {0, 7});
  add(kLow, i32, {1, 1});
  for (const std::size_t n : {2u, 31u, 32u, 33u, 255u, 256u, 257u, 1025u, 5000u}) {
    add(kTop, i32, {n, 1});
    add(kLow, i32, {1, n});
  }
  add(kTop, f32, {100003, 1});
  add(kTop, i32, {1, 65537});  // more rows than gridDim.y can be
  // Non-square images; sizes around tiles of 32, 64 and 128, and other widths.
  add(kLow, i32, {31, 33});
  add(kTop, i32, {33, 31});
  add(kLow, i32, {32, 32});
  add(kTop, i32, {64, 64});
  add(kLow, i32, {65, 63});
  add(kTop, i32, {127, 129});
  add(kLow, i32, {129, 127});
  add(kTop, i32, {256, 128});
  add(kLow, i32, {1000, 37});
  add(kTop, i32, {37, 1000});
  add(kLow, i32, {641, 479});
  // The other types; sums that need more bits than an item has.
  add(kTop, u8, {640, 480});
  add(kLow, u8, {301, 203}, Pattern::high_bits);
  add(kTop, i32, {301, 203}, Pattern::high_bits);
  add(kLow, i32, {100, 100}, Pattern::extremes);
  add(kTop, i32, {300, 90}, Pattern::all_equal);
  add(kLow, f32, {640, 480});
  add(kTop, f32, {200, 210}, Pattern::alternating);  // small integers: the sums must be exact
  add(kLow, f32, {512, 512}, Pattern::all_equal);
  add(kTop, f32, {257, 300}, Pattern::skewed);
  add(kLow, f64, {301, 203});
  add(kTop, f64, {64, 200}, Pattern::alternating);
  // Rows that do not start at a multiple of 16 bytes.
  add(kTop, u8, {129, 70}, Pattern::random, kCorrectness, 1);
  add(kLow, u8, {256, 64}, Pattern::random, kCorrectness, 3);
  add(kTop, i32, {256, 64}, Pattern::random, kCorrectness, 4);
  add(kLow, f32, {256, 64}, Pattern::random, kCorrectness, 12);
  add(kTop, f64, {128, 66}, Pattern::random, kCorrectness, 8);
  // All checkers are on: a few tiles and more, with incomplete tiles at both edges.
  add(kTop, i32, {300, 7}, Pattern::random, kBoth);
  add(kLow, f32, {70, 100}, Pattern::random, kBoth);
  add(kTop, u8, {150, 133}, Pattern::random, kBoth, 1);

  // The measured cases: with 2^18 items, counting work and steps is quick; 2^22 are an image of a camera.
  // Both are also correctness cases, with another seed, so an answer that was stored in one is wrong in the
  // other.
  add(kTop, f32, {1024, 256}, Pattern::random, kEfficiency | kCorrectness);
  add(kLow, f32, {2048, 2048}, Pattern::random, kSpeedup | kCorrectness);
  return all;
}

constexpr std::int64_t kOwnRadii = -1;

std::vector<Case> box_cases() {
  std::vector<Case> all;
  const auto add = [&all](Corner corner, DType dtype, Size size, std::int64_t radius,
                          Pattern pattern = Pattern::random, std::uint32_t purpose = kCorrectness,
                          std::uint32_t misalign = 0) {
    Case c = make_case(corner, dtype, size, pattern, purpose, misalign);
    c.params[kHasRadii] = radius == kOwnRadii;
    c.params[kRadius] = radius == kOwnRadii ? 0 : radius;
    c.words.more = radius == kOwnRadii ? "_radii" : fmt::format("_radius{}", radius);
    all.push_back(named(std::move(c)));
  };
  using enum DType;
  for (const DType dtype : {u32, i64, f32, f64}) {
    for (const Corner corner : {kTop, kLow}) {
      add(corner, dtype, {3, 3}, 1, Pattern::example);
      add(corner, dtype, {4, 4}, 1, Pattern::example);
      add(corner, dtype, {45, 70}, 2);
      add(corner, dtype, {67, 35}, kOwnRadii);
    }
  }
  // Empty images, one item, one row, one column.
  for (const Corner corner : {kTop, kLow}) {
    add(corner, u32, {0, 0}, 1);
    add(corner, u32, {5, 0}, 1);
    add(corner, u32, {1, 1}, 0);
    add(corner, u32, {1, 1}, 3);
    add(corner, u32, {1000, 1}, 3);
    add(corner, u32, {1, 1000}, 3);
  }
  add(kTop, u32, {1, 65537 * 9}, 4);  // more blocks of up to 9 rows than gridDim.y can be
  // The item alone; a box that reaches one border, both, all of them; a radius near 2^32 must not wrap
  // around.
  for (const std::int64_t radius : {std::int64_t{0}, std::int64_t{1}, std::int64_t{20}, std::int64_t{60},
                                    std::int64_t{119}, std::int64_t{120}, std::int64_t{0xffffffff}}) {
    add(kTop, u32, {121, 87}, radius);
    add(kLow, u32, {87, 121}, radius);
  }
  // Entries that wrapped around: the combination of four is right if it is computed in integers.
  add(kTop, u32, {300, 200}, 1, Pattern::high_bits);
  add(kLow, i64, {300, 200}, 1, Pattern::high_bits);
  add(kLow, f32, {640, 480}, 5, Pattern::alternating);
  add(kTop, f32, {301, 203}, 7);
  add(kLow, f64, {301, 203}, kOwnRadii);
  add(kTop, u32, {640, 480}, kOwnRadii);
  add(kTop, u32, {129, 70}, 3, Pattern::random, kCorrectness, 4);
  add(kLow, i64, {129, 70}, 3, Pattern::random, kCorrectness, 8);
  add(kTop, f32, {129, 70}, 3, Pattern::random, kCorrectness, 12);
  add(kLow, f64, {129, 70}, 3, Pattern::random, kCorrectness, 8);
  // All checkers are on.
  add(kTop, u32, {70, 45}, 3, Pattern::random, kBoth);
  add(kLow, f32, {100, 33}, kOwnRadii, Pattern::random, kBoth);

  add(kTop, u32, {1024, 256}, 8, Pattern::random, kEfficiency | kCorrectness);
  add(kLow, u32, {2048, 2048}, 50, Pattern::random, kSpeedup | kCorrectness);
  return all;
}

std::vector<Case> SatProblem::cases(const Task& task) const {
  return is_box(task) ? box_cases() : table_cases();
}

}  // namespace

const Problem& problem() {
  static const SatProblem kProblem;
  return kProblem;
}

}  // namespace course::sat
