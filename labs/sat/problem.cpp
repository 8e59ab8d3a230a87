// SPDX-License-Identifier: MIT
// The trusted side of the summed area table lab: its cases, their inputs, and the right answers. Never linked
// into a runner.
// Reading order: the tables list what is tried and why, fill() makes the images, check() decides what is
// accepted. Integers must be exact. Floats are compared with the exact sum: entry (r, c), counted from the
// corner, may have passed through r + c additions, or through as many as in any reasonable order (sum_depth).
// A mean may have the roundings of its four look-ups and of the division. causes.hpp lists the mistakes that
// may explain a wrong output.
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/rng.hpp"
#include "lab/all_cores.hpp"
#include "lab/items.hpp"
#include "sat/baseline.hpp"
#include "sat/causes.hpp"
#include "sat/lab.hpp"
#include "sat/points.hpp"

namespace course::sat {
namespace {

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
    const std::uint64_t most = kind == 4 ? 100'000 : 24;
    radius = kind == 0 ? 0xffffffffu : kind < 4 ? 0 : static_cast<std::uint32_t>(rng.below(most));
  }
}

// --- The right answers: tables.

// A sum in long double, and the same sum of the magnitudes.
struct Exact {
  long double sum = 0, magnitude = 0;
  void add(const Exact& other) {
    sum += other.sum;
    magnitude += other.magnitude;
  }
};

constexpr std::size_t kWorthAThread = 1 << 16;  // items; starting a thread costs about as much

// Calls use(r, expected) with each row of the right table, on all cores, each with a band of rows. A core
// needs memory for two rows; a table of all expected values takes eight times as much as the image.
template <typename T, typename Use>
void each_expected_row(const Case& c, std::span<const T> items, const Use& use) {
  const Size size = size_of(c);
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
        if (whole && item != std::floor(item)) whole = false;
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
        // Also first along the rows, one after another, then along the columns.
        const auto along = static_cast<double>(k + i), n = static_cast<double>((k + 1) * (i + 1));
        const double depth = std::max(along, lab::sum_depth(n));
        expected[i] = {entry.sum,
                       sum_error_bound(c.dtype, depth, static_cast<double>(entry.magnitude), whole)};
      }
      use(r, std::span<const Expected>(expected));
    });
  });
}

// Compares an output of floats with the rows that each_row(use) gives. The rules of causes.hpp need all
// expected values; if the output is wrong, `expected` is filled with them unless it has more than 2^24
// elements.
template <typename EachRow>
std::optional<Mismatch> compare_rows(const HostBuffer& out, std::size_t width, const EachRow& each_row,
                                     std::vector<Expected>& expected) {
  lab::BufferSpec spec = out.spec;
  const std::size_t row_bytes = width * bytes_of(spec.dtype);
  std::mutex one_at_a_time;
  std::optional<Mismatch> first;
  std::uint64_t n_wrong = 0;
  spec.count = width;
  each_row([&](std::size_t r, std::span<const Expected> row) {
    auto wrong = compare_floats(spec, row, std::span(out.bytes).subspan(r * row_bytes, row_bytes));
    if (!wrong) return;
    const std::scoped_lock lock(one_at_a_time);
    n_wrong += wrong->n_wrong;
    wrong->index += r * width;
    if (!first || wrong->index < first->index) first = std::move(wrong);
  });
  if (!first) return std::nullopt;
  if (out.spec.count > 1 << 24)
    return Mismatch{spec.name, first->index, first->expected, first->got, n_wrong, out.spec.count, ""};
  expected.resize(out.spec.count);
  each_row([&](std::size_t r, auto row) { std::ranges::copy(row, expected.data() + r * width); });
  return compare_floats(out.spec, expected, out.bytes);
}

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
  const std::size_t least = kWorthAThread / (size.width + 1) + 1;
  lab::on_shares(size.height, least, [&](std::size_t, std::size_t first, std::size_t last) {
    std::vector<Expected> expected(size.width);
    for (std::size_t r = first; r < last; ++r) {
      for (std::size_t col = 0; col < size.width; ++col) expected[col] = expected_at(r, col);
      use(r, std::span<const Expected>(expected));
    }
  });
}

// The first sum of task transpose that a tile moves to another sum's place, or to none.
std::optional<WrongStore> wrong_turn(const Case& c, const TracedRun& run) {
  const auto turned = [size = size_of(c), corner = corner_of(c)](const TracedStore& in_tile) {
    const auto& [table, i] = in_tile.from[0];
    const bool is_image = table == "d_out";
    const auto [w, h] = is_image ? size : Size{size.height, size.width};
    const std::size_t row = is_image ? row_from(corner, i / w, h) : i / w, column = i % w;
    return std::pair((is_image ? column : row_from(corner, column, w)) * h + row,
                     fmt::format("it is {}[{}], from row {} and column {}; transposed, that is row {} and "
                                 "column {}, in rows of {}",
                                 table, i, row, column, column, row, h));
  };
  const auto target = [](const std::string& table) {
    return table == "d_out" ? "d_scratch" : table == "d_scratch" ? "d_out" : "";
  };
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::string, std::uint64_t>, const TracedStore*> tiles;
  std::set<const TracedStore*> moved;
  for (const TracedStore& store : run.stores) {
    if (store.from.size() != 1) continue;
    if (!store.array.starts_with("d_"))
      tiles[{store.launch, store.block, store.array, store.element}] = &store;
    const auto tile = tiles.find({store.launch, store.block, store.from[0].first, store.from[0].second});
    if (tile == tiles.end() || store.array != target(tile->second->from[0].first)) continue;
    moved.insert(tile->second);
    if (auto [to, why] = turned(*tile->second); to != store.element) return WrongStore{&store, to, why, true};
  }
  for (const auto& [place, store] : tiles)
    if (store->launch + (run.fault.empty() ? 0 : 1) < run.n_launches && !moved.contains(store) &&
        run.reaches(target(store->from[0].first), store->launch)) {
      const auto [to, why] = turned(*store);
      return WrongStore{store, store->value,
                        fmt::format("{}: no thread stores {}[{}]", why, target(store->from[0].first), to)};
    }
  return {};
}

class SatProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override;

  Shape shape(const Task& task, const Case& c) const override {
    const auto [width, height] = size_of(c);
    Shape shape{.inputs = {{is_box(task) ? "d_table" : "d_in", c.dtype, c.n}},
                .outputs = {{"d_out", is_box(task) ? mean_type(c.dtype) : sum_type(c.dtype), c.n}},
                .misaligned_outputs = true};
    if (has_radii(c)) shape.inputs.push_back({"d_radii", DType::u32, c.n});
    if (!is_box(task)) shape.workspace = workspace_of(c.dtype, width, height);
    return shape;
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
          if (is_explained(*mismatch)) return;
          std::vector<Cause> causes = causes_of<TableFacts<T>>(kTableRules<T>, facts);
          part_of_the_columns(facts, causes);
          add_causes(*mismatch, std::move(causes));
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

  std::optional<WrongStore> wrong_store(const Task& task, const Case& c, std::span<const HostBuffer>,
                                        const TracedRun& run) const override {
    return task.id == "transpose" ? wrong_turn(c, run) : std::nullopt;
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    const auto [width, height] = size_of(c);
    if (is_box(task)) {
      with_sum(c.dtype, [&, w = width, h = height]<typename Sum>(Sum) {
        const auto table = inputs[0].as<Sum>();
        std::span<const std::uint32_t> radii;
        if (has_radii(c)) radii = inputs[1].as<std::uint32_t>();
        const auto means = outputs[0].as<MeanOf<Sum>>();
        box_filter(table, w, h, corner_of(c), static_cast<std::size_t>(c.params[kRadius]), radii, means);
      });
      return;
    }
    with_item(c.dtype, [&, w = width, h = height]<typename T>(T) {
      const auto items = inputs[0].as<T>();
      const auto table = outputs[0].as<typename SumOf<T>::Type>();
      table_one_thread<T>(items, w, h, corner_of(c), table);
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
      const double others = bytes(mean_type(c.dtype)) + (has_radii(c) ? 4 : 0);
      return {.items = n,
              .work = 3 * n,
              .steps = 2,
              .bytes = n * (4 * bytes(c.dtype) + others),
              // Neighbours share entries in shared memory.
              .least_bytes = n * (bytes(c.dtype) + others)};
    }
    return {.items = n,
            .units = n / 1024,
            .work = 2 * n - w - h,
            .steps = std::ceil(std::log2(w)) + std::ceil(std::log2(h)),
            .bytes = n * (bytes(c.dtype) + bytes(sum_type(c.dtype)))};
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
  return with_name(std::move(c));
}

// --- The cases.

namespace table {
using enum DType;
using enum Pattern;
constexpr Corner kTop = Corner::top_left, kLow = Corner::lower_left;
constexpr ShortList<Corner> kEither{kTop, kLow};
using Sizes = ShortList<Size>;

// Images in which a grid for one or two multiprocessors has several turns: over rows, over columns, over
// tiles.
constexpr Size of_turns(std::uint64_t width, unsigned n) {
  return {width, n * kThreeTurns / width};
}
constexpr Sizes kTurnsOfRows{of_turns(17, 1), of_turns(8191, 1)}, kTurnsOfTiles{of_turns(331, 1)};
constexpr Sizes kTurnsOfTwo{of_turns(17, 2), of_turns(331, 2), of_turns(8191, 2)};
// One row or one column around a warp, a block, a block of four items per thread, and many blocks.
constexpr Sizes kRows{{2, 1}, {31, 1}, {32, 1}, {33, 1}, {255, 1}, {256, 1}, {257, 1}, {1025, 1}, {5000, 1}};
constexpr Sizes kColumns{{1, 2},   {1, 31},  {1, 32},   {1, 33},  {1, 255},
                         {1, 256}, {1, 257}, {1, 1025}, {1, 5000}};

constexpr CaseRow<Corner, Size> kTables[] = {
    // The handout's images from both corners, in every type.
    {kEither, {i32, u8, f32, f64}, {{3, 3}, {4, 4}}, example},
    // Empty images, one item, one row, one column.
    {kTop, i32, {{0, 0}}},
    {kLow, i32, {{7, 0}, {0, 7}, {1, 1}}},
    {kTop, i32, kRows},
    {kLow, i32, kColumns},
    {kTop, f32, {{33001, 1}}},
    {kTop, i32, {{1, 65537}}},  // more rows than gridDim.y can be
    // Non-square images; sizes around tiles of 32, 64 and 128, and other widths.
    {kLow, i32, {{31, 33}, {32, 32}, {65, 63}, {129, 127}, {1000, 37}, {3, 20011}, {641, 479}}},
    {kTop, i32, {{33, 31}, {64, 64}, {127, 129}, {256, 128}, {37, 1000}, {20011, 3}}},
    {kTop, i32, kTurnsOfRows, random, kCorrectness, 0, 1},
    {kTop, i32, kTurnsOfTiles, random, kBoth, 0, 1},
    {kTop, i32, kTurnsOfTwo, random, kCorrectness, 0, 2},
    // The other types; sums that need more bits than an item has, and more than 24 bits in one row.
    {kTop, u8, {{640, 480}}},
    {kLow, u8, {{301, 203}}, high_bits},
    {kTop, u8, {{100003, 1}}, high_bits},
    {kTop, i32, {{301, 203}}, high_bits},
    {kLow, i32, {{100, 100}}, extremes},
    {kTop, i32, {{300, 90}}, all_equal},
    {kLow, f32, {{640, 480}}},
    {kTop, f32, {{200, 210}}, alternating},  // small integers: the sums must be exact
    {kLow, f32, {{512, 512}}, all_equal},
    {kTop, f32, {{257, 300}}, skewed},
    {kLow, f64, {{301, 203}}},
    {kTop, f64, {{64, 200}}, alternating},
    // Rows that do not start at a multiple of 16 bytes.
    {kTop, u8, {{129, 70}}, random, kCorrectness, 1},
    {kLow, u8, {{256, 64}}, random, kCorrectness, 3},
    {kTop, i32, {{256, 64}}, random, kCorrectness, 4},
    {kLow, f32, {{256, 64}}, random, kCorrectness, 12},
    {kTop, f64, {{128, 66}}, random, kCorrectness, 8},
    // All checkers are on: a few tiles and more, with incomplete tiles at both edges.
    {kTop, i32, {{300, 7}}, random, kBoth},
    {kLow, f32, {{70, 100}}, random, kBoth},
    {kTop, u8, {{150, 133}}, random, kBoth, 1},
    // The measured cases: with 2^18 items, counting work and steps is quick; 2^22 are an image of a camera.
    // Both are also correctness cases, with another seed, so an answer that was stored in one is wrong in the
    // other.
    {kTop, f32, {{1024, 256}}, random, kCounted},
    {kLow, f32, {{2048, 2048}}, random, kTimed},
};

// The box of a filter: a radius for all items, or one for each.
struct Box {
  Corner corner;
  std::uint64_t radius = 0;
  bool has_radii = false;
};
constexpr Box top(std::uint64_t radius) {
  return {kTop, radius};
}
constexpr Box low(std::uint64_t radius) {
  return {kLow, radius};
}
constexpr Box kTopRadii{kTop, 0, true}, kLowRadii{kLow, 0, true};
// The item alone; a box that reaches one border, both, all of them; a radius near 2^32 or 2^64 must not wrap
// around, nor one of more bits lose them.
constexpr ShortList<Box> each_radius(Box of(std::uint64_t)) {
  constexpr std::uint64_t k32 = std::uint64_t{1} << 32, k63 = std::uint64_t{1} << 63;
  return {of(0),   of(1),       of(20),  of(60),  of(119),
          of(120), of(k32 - 1), of(k32), of(k63), of(~std::uint64_t{0})};
}

constexpr CaseRow<Box, Size> kBoxes[] = {
    {{top(1), low(1)}, {u32, i64, f32, f64}, {{3, 3}, {4, 4}}, example},
    {{top(2), low(2)}, {u32, i64, f32, f64}, {{45, 70}}},
    {{kTopRadii, kLowRadii}, {u32, i64, f32, f64}, {{67, 35}}},
    // Empty images, one item, one row, one column.
    {{top(1), low(1)}, u32, {{0, 0}, {5, 0}}},
    {{top(0), low(0)}, u32, {{1, 1}}},
    {{top(3), low(3)}, u32, {{1, 1}, {1000, 1}, {1, 1000}}},
    {top(4), u32, {{1, 65537 * 9}}},  // more blocks of up to 9 rows than gridDim.y can be
    {each_radius(top), u32, {{121, 87}}},
    {each_radius(low), u32, {{87, 121}}},
    {top(70001), u32, {{150001, 1}}},  // more than 16 bits, and not the whole row
    {kLowRadii, u32, {{1, 150001}}},
    // Entries that wrapped around: the combination of four is right if it is computed in integers.
    {top(1), u32, {{300, 200}}, high_bits},
    {low(1), i64, {{300, 200}}, high_bits},
    {low(5), f32, {{640, 480}}, alternating},
    {top(7), f32, {{301, 203}}},
    {kLowRadii, f64, {{301, 203}}},
    {kTopRadii, u32, {{640, 480}}},
    {top(3), u32, kTurnsOfRows, random, kCorrectness, 0, 1},
    {top(3), u32, kTurnsOfTiles, random, kBoth, 0, 1},
    {top(3), u32, kTurnsOfTwo, random, kCorrectness, 0, 2},
    {top(3), u32, {{129, 70}}, random, kCorrectness, 4},
    {low(3), i64, {{129, 70}}, random, kCorrectness, 8},
    {top(3), f32, {{129, 70}}, random, kCorrectness, 12},
    {low(3), f64, {{129, 70}}, random, kCorrectness, 8},
    // All checkers are on.
    {top(3), u32, {{70, 45}}, random, kBoth},
    {kLowRadii, f32, {{100, 33}}, random, kBoth},
    {top(8), u32, {{1024, 256}}, random, kCounted},
    {low(50), u32, {{2048, 2048}}, random, kTimed},
};

Case make_box(Box box, DType dtype, Size size, Pattern pattern, std::uint32_t purpose,
              std::uint32_t misalign) {
  Case c = make_case(box.corner, dtype, size, pattern, purpose, misalign);
  c.params[kHasRadii] = box.has_radii;
  c.params[kRadius] = static_cast<std::int64_t>(box.radius);
  c.words.more = box.has_radii ? "_radii" : fmt::format("_radius{}", box.radius);
  return with_name(std::move(c));
}
}  // namespace table

std::vector<Case> SatProblem::cases(const Task& task) const {
  std::vector<Case> all;
  if (is_box(task)) {
    add_cases(all, table::kBoxes, table::make_box);
  } else {
    add_cases(all, table::kTables, [](auto... row) { return make_case(row...); });
  }
  return all;
}

}  // namespace

const Problem& problem() {
  static const SatProblem kProblem;
  return kProblem;
}

}  // namespace course::sat
