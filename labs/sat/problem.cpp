// SPDX-License-Identifier: MIT
// The trusted side of the summed area table lab: its cases, their inputs, and what is right. Never linked into a runner.
// Reading order: table_cases() and box_cases() say what is tried and why, fill() what the images look like, check() what is
// accepted. Integers must be exact. Floats are compared with the exact sum: entry (r, c), counted from the corner, may have
// gone through r + c additions, or through the trees of as many items.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/items.hpp"
#include "lab/problem.hpp"
#include "sat/baseline.hpp"
#include "sat/lab.hpp"

namespace course::sat {
namespace {

using lab::Case;
using lab::DType;
using lab::HostBuffer;
using lab::Mismatch;
using lab::Pattern;
using lab::Task;
using lab::view;

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

// Calls f(Item{}) with the type of a table's items, or f(Sum{}) with that of a box filter's table.
template <typename F>
decltype(auto) with_item(DType dtype, F f) {
  switch (dtype) {
    case DType::u8: return f(std::uint8_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::f64: return f(double{});
    default: return f(float{});
  }
}
template <typename F>
decltype(auto) with_sum(DType dtype, F f) {
  switch (dtype) {
    case DType::u32: return f(std::uint32_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::f64: return f(double{});
    default: return f(float{});
  }
}

// --- Images.

// The two that the handout works through; a longer one repeats 3 1 7 0 4 1 6 3.
template <typename T>
T example_item(Size size, std::size_t i) {
  constexpr int kLowerLeft[] = {2, 1, 0, 0, 0, 1, 2, 0, 1, 2, 1, 0, 1, 1, 0, 2};
  if (size.width == 3 && size.height == 3) return static_cast<T>(i + 1);
  if (size.width == 4 && size.height == 4) return static_cast<T>(kLowerLeft[i]);
  return lab::example_item<T>(i);
}

template <typename T>
void fill_image(std::span<T> items, Size size, Pattern pattern, std::uint64_t seed) {
  if (pattern != Pattern::example) return lab::fill_items(items, pattern, seed);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = example_item<T>(size, i);
}

// The table that a box filter is given. high_bits: items so large that the table's entries wrap, while the sum of 3 x 3 of
// them does not. Otherwise bytes, or 32-bit integers in an i64 table.
template <typename Sum>
void fill_table(std::span<Sum> table, Size size, Corner corner, Pattern pattern, std::uint64_t seed) {
  if constexpr (std::is_floating_point_v<Sum>) {
    std::vector<Sum> items(table.size());
    fill_image(std::span(items), size, pattern, seed);
    table_one_thread<Sum, Sum>(items, size.width, size.height, corner, table);
  } else {
    std::vector<Sum> items(table.size());
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
    table_one_thread<Sum, Sum>(items, size.width, size.height, corner, table);
  }
}

void fill_radii(std::span<std::uint32_t> radii, std::uint64_t seed) {
  Rng rng(seed_for(seed, "radii"));
  for (auto& radius : radii) {
    const auto kind = rng.below(32);
    radius = kind == 0 ? 0xffffffffu : kind < 4 ? 0 : static_cast<std::uint32_t>(rng.below(24));
  }
}

// --- What is right: tables.

// What an additive table looks like in a type that loses nothing, and the same of the magnitudes.
struct Exact {
  std::vector<long double> sum, magnitude;
  bool whole = true;  // every item is an integer
};
template <typename T>
Exact exact_table(std::span<const T> items, Size size, Corner corner) {
  Exact exact;
  std::vector<long double> magnitudes(items.size()), values(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    values[i] = static_cast<long double>(items[i]);
    magnitudes[i] = std::abs(values[i]);
    exact.whole = exact.whole && values[i] == std::floor(values[i]);
  }
  exact.sum.resize(items.size());
  exact.magnitude.resize(items.size());
  table_one_thread<long double, long double>(values, size.width, size.height, corner, exact.sum);
  table_one_thread<long double, long double>(magnitudes, size.width, size.height, corner, exact.magnitude);
  return exact;
}

template <typename T>
std::vector<lab::Expected> expected_table(const Case& c, std::span<const T> items) {
  const Size size = size_of(c);
  const Exact exact = exact_table(items, size, corner_of(c));
  const double trees = 2 * std::log2(static_cast<double>(size.width) + 2) +
                       2 * std::log2(static_cast<double>(size.height) + 2);
  std::vector<lab::Expected> expected(items.size());
  for (std::size_t k = 0; k < size.height; ++k) {
    for (std::size_t column = 0; column < size.width; ++column) {
      const std::size_t i = row_from(corner_of(c), k, size.height) * size.width + column;
      const double depth = static_cast<double>(k + column) + trees + 10;
      expected[i] = {exact.sum[i], lab::sum_error_bound(
                                       c.dtype, depth, static_cast<double>(exact.magnitude[i]), exact.whole)};
    }
  }
  return expected;
}

// Whether all of `got` is what `wanted(r, c)` says: exactly, or nearly where they are floats.
template <typename Sum, typename Wanted>
bool is_all(std::span<const Sum> got, Size size, Wanted wanted) {
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

// What a wrong table may be instead.
template <typename T>
std::string table_hint(const Case& c, std::span<const T> items,
                       std::span<const typename SumOf<T>::Type> got) {
  using Sum = typename SumOf<T>::Type;
  const Size size = size_of(c);
  const auto [width, height] = size;
  const Corner corner = corner_of(c),
               other = corner == Corner::top_left ? Corner::lower_left : Corner::top_left;
  std::vector<Sum> right(items.size()), table(items.size());
  table_one_thread<T>(items, width, height, corner, right);
  table_one_thread<T>(items, width, height, other, table);
  const auto in = [&](const std::vector<Sum>& t) {
    return [&t, w = width](std::size_t r, std::size_t col) { return t[r * w + col]; };
  };
  if (height > 1 && is_all(got, size, in(table))) {
    return fmt::format("this is the table from the other corner: these rectangles must start at the {}",
                       corner == Corner::top_left ? "top left" : "lower left");
  }
  std::vector<Sum> rows(items.size()), columns(items.size());
  for (std::size_t r = 0; r < height; ++r)
    table_one_thread<T>(items.subspan(r * width, width), width, 1, corner,
                        std::span(rows).subspan(r * width, width));
  if (height > 1 && is_all(got, size, in(rows))) return "the rows are scanned, the columns are not";
  for (std::size_t k = 0; k < height; ++k) {
    for (std::size_t col = 0; col < width; ++col) {
      const std::size_t i = row_from(corner, k, height) * width + col;
      const Sum before = k == 0 ? Sum{0} : columns[row_from(corner, k - 1, height) * width + col];
      columns[i] = wrapping_add(before, static_cast<Sum>(items[i]));
    }
  }
  if (width > 1 && is_all(got, size, in(columns))) return "the columns are scanned, the rows are not";
  const auto exclusive = [&](std::size_t r, std::size_t col) {
    const std::size_t k = corner == Corner::top_left ? r : height - 1 - r;
    return k == 0 || col == 0 ? Sum{0} : right[row_from(corner, k - 1, height) * width + col - 1];
  };
  if (is_all(got, size, exclusive)) {
    return "this is the exclusive table: every rectangle must include the entry's own row and column";
  }
  if (width == height &&
      is_all(got, size, [&](std::size_t r, std::size_t col) { return right[col * width + r]; })) {
    return "rows and columns are swapped: this is the transposed table";
  }
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const auto wrapped = [&](std::size_t r, std::size_t col) {
      return static_cast<Sum>(static_cast<std::int32_t>(right[r * width + col]));
    };
    if (is_all(got, size, wrapped)) return "the sums overflowed 32 bits: keep them in TableJob::Sum";
  }
  return "";
}

// --- What is right: boxes.

template <typename Sum>
std::vector<lab::Expected> expected_means(const Case& c, std::span<const Sum> table,
                                          std::span<const std::uint32_t> radii) {
  const auto [width, height] = size_of(c);
  const DType mean = mean_type(c.dtype);
  std::vector<lab::Expected> expected(table.size());
  bool whole = true;
  if constexpr (std::is_floating_point_v<Sum>) {
    for (const Sum entry : table) whole = whole && entry == std::floor(entry);
  }
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t col = 0; col < width; ++col) {
      const std::size_t i = r * width + col;
      const auto radius = radii.empty() ? static_cast<std::size_t>(c.params[kRadius]) : radii[i];
      const Box box = box_around(r, col, radius, width, height);
      const Edges edges = edges_of(box, corner_of(c), height);
      long double sum = 0;
      double lost = 0;
      if constexpr (std::is_floating_point_v<Sum>) {
        long double magnitude = 0;
        const auto take = [&](bool exists, int sign, std::size_t row, std::size_t column) {
          if (!exists) return;
          const auto entry = static_cast<long double>(table[row * width + column]);
          sum += sign * entry;
          magnitude += std::abs(entry);
        };
        take(true, 1, edges.far, edges.right);
        take(edges.cut_columns, -1, edges.far, edges.left);
        take(edges.cut_rows, -1, edges.near, edges.right);
        take(edges.cut_rows && edges.cut_columns, 1, edges.near, edges.left);
        lost = lab::sum_error_bound(c.dtype, 3, static_cast<double>(magnitude), whole);
      } else {
        sum = static_cast<long double>(box_sum(table, width, edges));
      }
      // Converting sum and area, and dividing, round once each.
      const auto area = static_cast<double>(box.area());
      expected[i] = {sum / static_cast<long double>(area),
                     (lost + lab::gamma(mean, 3) * static_cast<double>(std::abs(sum))) / area};
    }
  }
  return expected;
}

template <typename Sum>
std::string box_hint(const Case& c, std::span<const Sum> table, std::span<const std::uint32_t> radii,
                     std::span<const MeanOf<Sum>> got) {
  using Mean = MeanOf<Sum>;
  const Size size = size_of(c);
  const auto [width, height] = size;
  const Corner corner = corner_of(c),
               other = corner == Corner::top_left ? Corner::lower_left : Corner::top_left;
  const auto box_at = [&](std::size_t r, std::size_t col) {
    return box_around(r, col,
                      radii.empty() ? static_cast<std::size_t>(c.params[kRadius]) : radii[r * width + col],
                      width, height);
  };
  const auto sum_of = [&](const Box& box) {
    return static_cast<Mean>(box_sum(table, width, edges_of(box, corner, height)));
  };
  const auto undivided = [&](std::size_t r, std::size_t col) { return sum_of(box_at(r, col)); };
  if (is_all(got, size, undivided))
    return "these are the sums of the boxes: divide by how many items each has";
  const auto full_window = [&](std::size_t r, std::size_t col) {
    const auto side = 2 * static_cast<Mean>(radii.empty() ? static_cast<std::size_t>(c.params[kRadius])
                                                          : radii[r * width + col]) +
                      1;
    return sum_of(box_at(r, col)) / (side * side);
  };
  if (is_all(got, size, full_window)) {
    return "divided by the size of the whole box everywhere: at the border only the part inside the image "
           "counts";
  }
  const auto other_corner = [&](std::size_t r, std::size_t col) {
    const Box box = box_at(r, col);
    return static_cast<Mean>(box_sum(table, width, edges_of(box, other, height))) /
           static_cast<Mean>(box.area());
  };
  if (height > 1 && is_all(got, size, other_corner)) return "the table was read as one from the other corner";
  const auto look_up = [&](std::size_t r, std::size_t col) {
    return static_cast<Mean>(table[r * width + col]);
  };
  const auto not_given_back = [&](std::size_t r, std::size_t col) {
    const Box box = box_at(r, col);
    const Edges edges = edges_of(box, corner, height);
    Sum sum = box_sum(table, width, edges);
    if (edges.cut_rows && edges.cut_columns)
      sum = wrapping_subtract(sum, table[edges.near * width + edges.left]);
    return static_cast<Mean>(sum) / static_cast<Mean>(box.area());
  };
  if (is_all(got, size, not_given_back)) {
    return "the rectangle that is taken away twice, with the rows and with the columns, must be given back "
           "once";
  }
  if constexpr (std::is_integral_v<Sum>) {
    const auto in_floats = [&](std::size_t r, std::size_t col) {
      const Box box = box_at(r, col);
      const Edges edges = edges_of(box, corner, height);
      Mean sum = look_up(edges.far, edges.right);
      if (edges.cut_columns) sum -= look_up(edges.far, edges.left);
      if (edges.cut_rows) sum -= look_up(edges.near, edges.right);
      if (edges.cut_rows && edges.cut_columns) sum += look_up(edges.near, edges.left);
      return sum / static_cast<Mean>(box.area());
    };
    if (is_all(got, size, in_floats))
      return "the look-ups were made into floats before they were subtracted: as integers they lose no digit";
  }
  if (radii.empty() && c.params[kRadius] > 0) {
    // The near edges looked up inside the box instead of one before it.
    const auto one_short = [&](std::size_t r, std::size_t col) {
      const Box box = box_at(r, col);
      Box inner = box;
      if (box.first_column > 0 && box.first_column < box.last_column) ++inner.first_column;
      if (corner == Corner::top_left && box.first_row > 0 && box.first_row < box.last_row) ++inner.first_row;
      if (corner == Corner::lower_left && box.last_row + 1 < height && box.first_row < box.last_row)
        --inner.last_row;
      return sum_of(inner) / static_cast<Mean>(box.area());
    };
    if (is_all(got, size, one_short)) {
      return "each box lacks the row and column next to the corner: what is taken away ends one *before* the "
             "box";
    }
  }
  return "";
}

class SatProblem : public lab::Problem {
 public:
  const lab::Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override;

  lab::Shape shape(const Task& task, const Case& c) const override {
    const auto [width, height] = size_of(c);
    if (is_box(task)) {
      lab::Shape shape{{{"d_table", c.dtype, c.n}}, {{"d_out", mean_type(c.dtype), c.n}}, 0};
      if (has_radii(c)) shape.inputs.push_back({"d_radii", DType::u32, c.n});
      return shape;
    }
    return {{{"d_in", c.dtype, c.n}},
            {{"d_out", sum_type(c.dtype), c.n}},
            workspace_bytes(c.dtype, width, height)};
  }

  void fill(const Task& task, const Case& c, std::uint64_t seed,
            std::span<HostBuffer> inputs) const override {
    if (is_box(task)) {
      with_sum(c.dtype, [&]<typename Sum>(Sum) {
        fill_table(view<Sum>(std::span(inputs[0].bytes)), size_of(c), corner_of(c), c.pattern, seed);
      });
      if (has_radii(c)) fill_radii(view<std::uint32_t>(std::span(inputs[1].bytes)), seed);
      return;
    }
    with_item(c.dtype, [&]<typename T>(T) {
      fill_image(view<T>(std::span(inputs[0].bytes)), size_of(c), c.pattern, seed);
    });
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    const auto& out = outputs[0];
    std::optional<Mismatch> mismatch;
    if (is_box(task)) {
      with_sum(c.dtype, [&]<typename Sum>(Sum) {
        const auto table = view<Sum>(std::span<const std::byte>(inputs[0].bytes));
        std::span<const std::uint32_t> radii;
        if (has_radii(c)) radii = view<std::uint32_t>(std::span<const std::byte>(inputs[1].bytes));
        mismatch = lab::compare_floats(out.spec, expected_means(c, table, radii), out.bytes);
        if (mismatch) {
          mismatch->hint =
              box_hint(c, table, radii, view<MeanOf<Sum>>(std::span<const std::byte>(out.bytes)));
        }
      });
    } else {
      with_item(c.dtype, [&]<typename T>(T) {
        using Sum = typename SumOf<T>::Type;
        const auto items = view<T>(std::span<const std::byte>(inputs[0].bytes));
        if constexpr (std::is_integral_v<T>) {
          std::vector<Sum> right(items.size());
          table_one_thread<T>(items, size_of(c).width, size_of(c).height, corner_of(c), right);
          mismatch = lab::compare_integers(out.spec, std::as_bytes(std::span(right)), out.bytes);
        } else {
          mismatch = lab::compare_floats(out.spec, expected_table(c, items), out.bytes);
        }
        if (mismatch) {
          mismatch->hint = table_hint(c, items, view<Sum>(std::span<const std::byte>(out.bytes)));
        }
      });
    }
    if (mismatch) {
      const std::size_t width = size_of(c).width;
      if (!mismatch->hint.empty()) mismatch->hint += "; ";
      mismatch->hint +=
          fmt::format("the first wrong entry is row {}, column {} of {} rows of {}", mismatch->index / width,
                      mismatch->index % width, size_of(c).height, width);
    }
    return mismatch;
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs, lab::Baseline which) const override {
    const auto [width, height] = size_of(c);
    const bool one = which == lab::Baseline::one_thread;
    if (is_box(task)) {
      with_sum(c.dtype, [&, w = width, h = height]<typename Sum>(Sum) {
        const auto table = view<Sum>(std::span<const std::byte>(inputs[0].bytes));
        std::span<const std::uint32_t> radii;
        if (has_radii(c)) radii = view<std::uint32_t>(std::span<const std::byte>(inputs[1].bytes));
        const auto means = view<MeanOf<Sum>>(std::span(outputs[0].bytes));
        const auto rows = [&](std::size_t first, std::size_t last) {
          box_filter_rows(table, w, h, corner_of(c), static_cast<std::size_t>(c.params[kRadius]), radii,
                          means, first, last);
        };
        if (one) {
          rows(0, h);
        } else {
          on_all_cores(h, kWorthAThread / (w + 1) + 1, rows);
        }
      });
      return;
    }
    with_item(c.dtype, [&, w = width, h = height]<typename T>(T) {
      const auto items = view<T>(std::span<const std::byte>(inputs[0].bytes));
      const auto table = view<typename SumOf<T>::Type>(std::span(outputs[0].bytes));
      if (one) {
        table_one_thread<T>(items, w, h, corner_of(c), table);
      } else {
        table_all_cores<T>(items, w, h, corner_of(c), table);
      }
    });
  }

  // A table: every row and every column is scanned, by trees; each item is read once, each sum written once.
  // A box filter: three additions and four look-ups an item, one mean.
  lab::Ideal ideal(const Task& task, const Case& c) const override {
    const auto w = static_cast<double>(size_of(c).width), h = static_cast<double>(size_of(c).height);
    const double n = w * h;
    if (n == 0) return {};
    const auto bytes = [](DType dtype) { return static_cast<double>(lab::bytes_of(dtype)); };
    if (is_box(task)) {
      const double radii = has_radii(c) ? 4 : 0;
      return {3 * n, 2, n * (4 * bytes(c.dtype) + bytes(mean_type(c.dtype)) + radii)};
    }
    return {2 * n - w - h, std::ceil(std::log2(w)) + std::ceil(std::log2(h)),
            n * (bytes(c.dtype) + bytes(sum_type(c.dtype)))};
  }

  Case example(const Task& task, std::uint64_t n) const override;
  std::uint64_t row_length(const Task&, const Case& c) const override { return size_of(c).width; }

  // Square images of about n pixels.
  std::vector<Case> bench_cases(const Task& task, std::uint64_t n) const override {
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    std::vector<Case> all = Problem::bench_cases(task, std::uint64_t{side} * side);
    for (Case& c : all) c.params[kWidth] = c.params[kHeight] = static_cast<std::int64_t>(side);
    return all;
  }
};

Case make_case(Corner corner, DType dtype, Size size, Pattern pattern, std::uint32_t purpose,
               std::uint32_t misalign) {
  Case c;
  c.name = fmt::format("{}_{}_{}x{}_{}", name_of(corner), lab::name_of(dtype), size.width, size.height,
                       lab::name_of(pattern));
  if (misalign != 0) c.name += fmt::format("_off{}", misalign);
  c.op = static_cast<std::uint32_t>(corner);
  c.dtype = dtype;
  c.n = size.width * size.height;
  c.params[kWidth] = static_cast<std::int64_t>(size.width);
  c.params[kHeight] = static_cast<std::int64_t>(size.height);
  c.pattern = pattern;
  c.purpose = purpose;
  c.misalign = misalign;
  return c;
}

// The handout's two images for up to 9 and up to 16 items; else rows of 8.
Case SatProblem::example(const Task& task, std::uint64_t n) const {
  const Size size = n <= 9 ? Size{3, 3} : n <= 16 ? Size{4, 4} : Size{8, (n + 7) / 8};
  const Corner corner = size.width == 4 ? Corner::lower_left : Corner::top_left;
  Case c =
      make_case(corner, is_box(task) ? DType::i64 : DType::i32, size, Pattern::example, lab::kCorrectness, 0);
  c.params[kRadius] = 1;
  return c;
}

constexpr auto kBoth = lab::kCorrectness | lab::kChecks;
constexpr Corner kTop = Corner::top_left, kLow = Corner::lower_left;

std::vector<Case> table_cases() {
  std::vector<Case> all;
  const auto add = [&all](Corner corner, DType dtype, Size size, Pattern pattern = Pattern::random,
                          std::uint32_t purpose = lab::kCorrectness, std::uint32_t misalign = 0) {
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
  // Nothing, one item; one row or one column around a warp, a block, a block of four items a thread, and many blocks.
  add(kTop, i32, {0, 0});
  add(kLow, i32, {7, 0});
  add(kLow, i32, {0, 7});
  add(kLow, i32, {1, 1});
  for (const std::size_t n : {2u, 31u, 32u, 33u, 255u, 256u, 257u, 1025u, 5000u}) {
    add(kTop, i32, {n, 1});
    add(kLow, i32, {1, n});
  }
  add(kTop, f32, {100003, 1});
  add(kTop, i32, {1, 65537});  // more rows than a grid's y has places
  // Non-square; around tiles of 32, 64 and 128; widths that are a multiple of nothing.
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
  // The other types; sums that need more digits than an item has.
  add(kTop, u8, {640, 480});
  add(kLow, u8, {301, 203}, Pattern::high_bits);
  add(kTop, i32, {301, 203}, Pattern::high_bits);
  add(kLow, i32, {100, 100}, Pattern::extremes);
  add(kTop, i32, {300, 90}, Pattern::all_equal);
  add(kLow, f32, {640, 480});
  add(kTop, f32, {200, 210}, Pattern::alternating);  // small whole numbers: must come out exact
  add(kLow, f32, {512, 512}, Pattern::all_equal);
  add(kTop, f32, {257, 300}, Pattern::skewed);
  add(kLow, f64, {301, 203});
  add(kTop, f64, {64, 200}, Pattern::alternating);
  // Addresses that allow no wide load at the start of a row.
  add(kTop, u8, {129, 70}, Pattern::random, lab::kCorrectness, 1);
  add(kLow, u8, {256, 64}, Pattern::random, lab::kCorrectness, 3);
  add(kTop, i32, {256, 64}, Pattern::random, lab::kCorrectness, 4);
  add(kLow, f32, {256, 64}, Pattern::random, lab::kCorrectness, 12);
  add(kTop, f64, {128, 66}, Pattern::random, lab::kCorrectness, 8);
  // With every checker on: a few tiles and more, all of them cut at both edges.
  add(kTop, i32, {300, 7}, Pattern::random, kBoth);
  add(kLow, f32, {70, 100}, Pattern::random, kBoth);
  add(kTop, u8, {150, 133}, Pattern::random, kBoth, 1);

  // What is measured: 2^18 items keep the counting of work and steps quick, 2^22 are what a camera delivers. Both are
  // correctness cases, too, with another seed: an answer that was kept from there is wrong when it is measured.
  add(kTop, f32, {1024, 256}, Pattern::random, lab::kEfficiency | lab::kCorrectness);
  add(kLow, f32, {2048, 2048}, Pattern::random, lab::kSpeedup | lab::kCorrectness);
  return all;
}

constexpr std::int64_t kOwnRadii = -1;

std::vector<Case> box_cases() {
  std::vector<Case> all;
  const auto add = [&all](Corner corner, DType dtype, Size size, std::int64_t radius,
                          Pattern pattern = Pattern::random, std::uint32_t purpose = lab::kCorrectness,
                          std::uint32_t misalign = 0) {
    Case c = make_case(corner, dtype, size, pattern, purpose, misalign);
    c.params[kHasRadii] = radius == kOwnRadii;
    c.params[kRadius] = radius == kOwnRadii ? 0 : radius;
    c.name += radius == kOwnRadii ? "_radii" : fmt::format("_radius{}", radius);
    all.push_back(std::move(c));
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
  // Nothing, one item, one row, one column.
  for (const Corner corner : {kTop, kLow}) {
    add(corner, u32, {0, 0}, 1);
    add(corner, u32, {5, 0}, 1);
    add(corner, u32, {1, 1}, 0);
    add(corner, u32, {1, 1}, 3);
    add(corner, u32, {1000, 1}, 3);
    add(corner, u32, {1, 1000}, 3);
  }
  add(kTop, u32, {1, 65537 * 9}, 4);  // more blocks than a grid's y has places, however rows are shared out
  // The item alone; the box reaches one border, both, all of them; a radius near 2^32 must not wrap.
  for (const std::int64_t radius : {std::int64_t{0}, std::int64_t{1}, std::int64_t{20}, std::int64_t{60},
                                    std::int64_t{119}, std::int64_t{120}, std::int64_t{0xffffffff}}) {
    add(kTop, u32, {121, 87}, radius);
    add(kLow, u32, {87, 121}, radius);
  }
  // Entries that wrapped: the difference of four is right all the same, as long as it is taken as integers.
  add(kTop, u32, {300, 200}, 1, Pattern::high_bits);
  add(kLow, i64, {300, 200}, 1, Pattern::high_bits);
  add(kLow, f32, {640, 480}, 5, Pattern::alternating);
  add(kTop, f32, {301, 203}, 7);
  add(kLow, f64, {301, 203}, kOwnRadii);
  add(kTop, u32, {640, 480}, kOwnRadii);
  add(kTop, u32, {129, 70}, 3, Pattern::random, lab::kCorrectness, 4);
  add(kLow, i64, {129, 70}, 3, Pattern::random, lab::kCorrectness, 8);
  // With every checker on.
  add(kTop, u32, {70, 45}, 3, Pattern::random, kBoth);
  add(kLow, f32, {100, 33}, kOwnRadii, Pattern::random, kBoth);

  add(kTop, u32, {1024, 256}, 8, Pattern::random, lab::kEfficiency | lab::kCorrectness);
  add(kLow, u32, {2048, 2048}, 50, Pattern::random, lab::kSpeedup | lab::kCorrectness);
  return all;
}

std::vector<Case> SatProblem::cases(const Task& task) const {
  return is_box(task) ? box_cases() : table_cases();
}

}  // namespace

const lab::Problem& problem() {
  static const SatProblem kProblem;
  return kProblem;
}

}  // namespace course::sat
